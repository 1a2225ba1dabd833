"""A coordinator with its agents and tasks, for tests of workers."""

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
    """The actions of a coordinator. `admin` is the coordinator's client."""

    def __init__(self, address: str, admin: Client) -> None:
        self.address = address
        self.admin = admin
        self._agents: list[Agent] = []

    def agent(self) -> Agent:
        name = f"agent_{secrets.token_hex(4)}"
        api_key = self.admin.principals.create(name, kind="agent").api_key
        return self._kept(Agent(name, api_key, Client(self.address, api_key)))

    def again(self, agent: Agent) -> Agent:
        """Return the agent with a new client, which has seen nothing yet."""
        return self._kept(replace(agent, client=Client(self.address, agent.api_key)))

    def _kept(self, agent: Agent) -> Agent:
        self._agents.append(agent)
        return agent

    def task(self, agent: Agent, intent: str | None = None, **fields: Any) -> str:
        """Create a task of this or a new intent, assigned to the agent; return its id."""
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
        """Return the working memory that a task's log keeps, once it has `count` entries."""
        intent = str(self.get(task_id).intent_id)

        def kept() -> list[dict[str, Any]]:
            events = self.admin.events.list_for_intent(intent, type="memory.archived")
            return [entry for event in events for entry in event.data["snapshot"]]

        until(lambda: len(kept()) >= count)
        return kept()

    def close(self) -> None:
        for agent in self._agents:
            agent.client.close()
