"""Conversations of any length, and agents' states (Agent Memory Protocol 1.0)."""
