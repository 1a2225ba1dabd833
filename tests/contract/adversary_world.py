"""The resources of the adversary's world, mallory's permissions on them, and all names."""

from dataclasses import dataclass, field
from typing import Any

HONEST = ("alice", "bob")
WORKERS = (*HONEST, "mallory")
TASK_IDS = ("t1", "t2", "t3")
INTENTS = ("i1", "i2")
SESSIONS = ("s1", "s2")


@dataclass
class WorkTask:
    """A task that boss coordinates, as the model knows it."""

    intent: str
    assignee: str
    is_open: bool = True
    was_mallorys: bool = False
    grant: str | None = None  # mallory's


@dataclass
class World:
    """The resources, and the permissions that decide what mallory may see."""

    tasks: dict[str, WorkTask] = field(default_factory=dict)
    listed: dict[str, bool] = field(default_factory=dict)  # mallory, on an intent's access list
    access: dict[str, str] = field(default_factory=dict)  # mallory's, to a namespace
    shared: dict[str, bool] = field(default_factory=dict)  # a conversation, with mallory
    entries: dict[str, tuple[str, str | None, Any]] = field(default_factory=dict)
    states: dict[str, str] = field(default_factory=dict)
    objects: dict[str, str] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    said: dict[str, list[str]] = field(default_factory=dict)

    def reads_task(self, task_id: str) -> bool:
        at = self.tasks[task_id]
        return at.assignee == "mallory" or at.grant is not None

    def takes_part(self, intent: str) -> bool:
        """Return whether mallory takes or took part in a task of the intent, or is on its list."""
        parts = (each for each in self.tasks.values() if each.intent == intent)
        return self.listed.get(intent, False) or any(
            each.was_mallorys or each.grant is not None for each in parts
        )


def build_names(run: str, reference: str) -> dict[str, list[str]]:
    """Build the names that mallory knows, by the path parameter or the kind of it.

    Args:
        run, reference: a run of somebody else and its memory's reference; it knows them almost.
    """
    people = [*WORKERS, "boss", "admin"]
    return {
        "task_id": [*TASK_IDS, "mt1", "mt2"],
        "intent_id": [*INTENTS, "mi"],
        "agent_id": people,
        "user_id": [*people, "ada"],
        "owner_id": people,
        "coordinator_id": ["boss", "mallory"],
        "principal": people,
        "after": ["eyJhIjoxfQ.c2lnbmVk"],
        "namespace": [
            "closed",
            "toggled",
            "notes",
            "mine",
            "agents/alice/memory",
            "users/alice/open",
        ],
        "key": ["k0", "k1", "k2"],
        "session_id": [*SESSIONS, "ms"],
        "upload_id": ["up_1"],
        "index": ["0", "1"],
        "reference": [*(f"m.{each}.0" for each in SESSIONS), "e.mem_1", "f.f", "x"],
        "kind": ["agent", "person"],
        "space": ["box", "mine", "langgraph:alice", "agents/alice/box"],
        "episode_id": ["ep_1"],
        "fact_id": ["f", "k0", "k1"],
        "predicate": ["p", "q"],
        "instance_id": ["i"],
        "agent_type": ["a"],
        "task_type": ["b"],
        "workflow_id": ["w"],
        "name": ["notes"],
        "id": ["mem_1"],
        "run_id": ["run_1"],
        "runId": [run[:-1] + "A"],
        "memoryRef": [reference[:-1] + "A"],
    }
