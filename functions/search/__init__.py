"""Similarity search over memory entries, an extension of RFC-0015 §4.3."""
