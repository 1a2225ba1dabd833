"""Room: conversations that grow without bound, and agents' states (Agent Memory Protocol 1.0)."""
