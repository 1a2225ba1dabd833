"""The event logs of intents, agents and namespaces, and the event bus (RFC-0015 §5)."""
