"""Tasks, and what governs them."""

from functions.api.services import Services
from functions.entries.agents import Agents
from functions.tasks.governance import Governance
from functions.tasks.service import Tasks
from functions.tasks.store import TaskStore


def task_store(services: Services) -> TaskStore:
    """Reads and single writes."""
    return TaskStore(services.table)


def agents(services: Services) -> Agents:
    """Agents' settings."""
    return Agents(services.table, services.clock)


def governance(services: Services) -> Governance:
    """What keeps tasks and assignees under guardrails."""
    store, limit = services.use(task_store), services.use(agents).limit
    return Governance(services.table, store, limit)


def tasks(services: Services) -> Tasks:
    """Tasks."""
    return Tasks(services.use(task_store), services.use(governance), services.clock)
