"""One question to all that a caller may read: entries, facts, messages and episodes."""
