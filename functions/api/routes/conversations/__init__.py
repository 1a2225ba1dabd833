"""Conversations (Agent Memory Protocol §3, §4.1; contract §9)."""
