"""The logs of intents, agents and namespaces: what happened to memory (RFC-0015 §5)."""
