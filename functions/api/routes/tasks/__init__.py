"""Tasks, grants and intents (contract §5)."""
