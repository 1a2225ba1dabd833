"""Tasks and intents, as far as memory depends on them (RFC-0015 §6.5, §8)."""
