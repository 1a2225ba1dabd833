"""Recall: search all memory of a caller by one question: entries, facts, messages, episodes."""
