"""The command line `agent-memory`."""

from agent_memory.cli.program import main

__all__ = ["main"]
