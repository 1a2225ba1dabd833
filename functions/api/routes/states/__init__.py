"""Agents' states (Agent Memory Protocol §3, §4.2; contract §9)."""
