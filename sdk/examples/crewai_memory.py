"""A CrewAI memory that is stored: each run knows the facts of earlier runs.

    python crewai_memory.py "Ada drinks green tea."

The environment has AGENT_MEMORY_URL and AGENT_MEMORY_API_KEY. No language model is needed: the
scope, the categories and the importance are given, and a toy embedder counts letters.
"""

import sys

from agent_memory import Client
from agent_memory.adapters.crewai import AgentMemoryStorageBackend
from crewai.memory.unified_memory import Memory

LETTERS = [chr(code) for code in range(64, 128)]


def embed(texts: list[str]) -> list[list[float]]:
    return [[0.01 + text.count(letter) for letter in LETTERS] for text in texts]


memory = Memory(storage=AgentMemoryStorageBackend(Client()), embedder=embed)
said = " ".join(sys.argv[1:]) or "Ada likes green tea."
memory.remember(said, scope="/people/ada", categories=["fact"], importance=0.5, metadata={})
known = memory.recall("What about Ada?", scope="/people", depth="shallow")
print("knows:", "; ".join(sorted(match.record.content for match in known)))
memory.close()
