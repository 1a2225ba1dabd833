"""A coordinator with agents and tasks of its own, for tests of workers."""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from agent_memory import Client
from agent_memory.model import Task

from tests.contract.local_server import PATIENCE


def until(condition: Callable[[], Any]) -> None:
    """Returns once the condition is true."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.03)  # each look is a request, which costs the server more than waiting


@dataclass(frozen=True)
class Agent:
    """An agent: its id, its key, and a client under it."""

    id: str
    api_key: str
    client: Client


class Crew:
    """What the coordinator does. `admin` is the coordinator's client."""

    def __init__(self, address: str, admin: Client) -> None:
        self.address = address
        self.admin = admin
        self._agents: list[Agent] = []

    def agent(self) -> Agent:
        name = f"agent_{secrets.token_hex(4)}"
        api_key = self.admin.principals.create(name, kind="agent").api_key
        return self._kept(Agent(name, api_key, Client(self.address, api_key)))

    def again(self, agent: Agent) -> Agent:
        """The same agent with a client that has seen nothing yet."""
        return self._kept(replace(agent, client=Client(self.address, agent.api_key)))

    def _kept(self, agent: Agent) -> Agent:
        self._agents.append(agent)
        return agent

    def task(self, agent: Agent, intent: str | None = None, **fields: Any) -> str:
        """A new task, of an intent of its own or this one, assigned to the agent; its id."""
        intent = intent or f"intent_{secrets.token_hex(4)}"
        return self.admin.tasks.create(intent, assigned_agent=agent.id, **fields).id

    def get(self, task_id: str) -> Task:
        return self.admin.tasks.get(task_id)

    def status(self, task_id: str) -> str:
        return self.get(task_id).status

    def hand_over(self, task_id: str, agent: Agent) -> None:
        version = self.get(task_id).version
        self.admin.tasks.update(task_id, version=version, assigned_agent=agent.id)

    def archived(self, task_id: str, count: int = 1) -> list[dict[str, Any]]:
        """What a task's log keeps of its working memory, once so many entries are there."""
        intent = str(self.get(task_id).intent_id)

        def kept() -> list[dict[str, Any]]:
            events = self.admin.events.list_for_intent(intent, type="memory.archived")
            return [entry for event in events for entry in event.data["snapshot"]]

        until(lambda: len(kept()) >= count)
        return kept()

    def close(self) -> None:
        for agent in self._agents:
            agent.client.close()
