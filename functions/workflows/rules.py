"""Define what a workflow sets, and find contradictions in it; pure (RFC-0015 §7)."""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from graphlib import CycleError, TopologicalSorter
from hashlib import blake2b
from typing import Any, NamedTuple

from pydantic_core import to_json

from functions.entries.requests import EpisodicSettings
from functions.platform import keys
from functions.tasks.model import Policy, Task
from functions.tasks.requests import EXTRA_FIELDS, MemoryPolicy, PlannedFields
from functions.workflows.requests import OpenModel, PlanTask, Workflow


class TaskPlan(NamedTuple):
    """A task as a workflow registers it."""

    id: str
    name: str
    assigned_agent: str | None
    depends_on: list[str]  # ids
    memory_policy: Policy
    fields: dict[str, Any]  # all settings, in the form of requests


class Application(NamedTuple):
    """Everything that a workflow sets, derived from the file and the workflow's seed."""

    name: str
    version: str | None
    intent_id: str
    semantic_namespaces: list[str]
    agents: dict[str, EpisodicSettings]  # what is not set is left as it is
    tasks: list[TaskPlan]
    ignored: list[str]  # the paths of ignored keys


Problems = list[tuple[tuple[str | int, ...], str]]

_OF_MEMORY = re.compile("memory|namespace")

_MISSPELT_RATIO = 0.75  # "memroy" has 0.83 of "memory", "verification" 0.63 of "version"


def find_problems(workflow: Workflow) -> Problems:
    """Find misspelt keys in a workflow, and contradictions between its parts.

    Returns:
        Each path, with its problem.
    """
    names = [step.task for step in workflow.plan]
    found: Problems = list(_find_misspelt(workflow))
    for index, step in enumerate(workflow.plan):
        if step.task in names[:index]:
            found.append((("plan", index, "task"), "another task has this name"))
        for number, name in enumerate(step.depends_on):
            if name not in names:
                found.append((("plan", index, "depends_on", number), "the plan has no such task"))
        if step.memory_policy is not None and step.memory_policy.inherit_from_parent:
            path = ("plan", index, "memory_policy", "inherit_from_parent")
            found.append((path, "a task of a plan has no parent to inherit from"))
    return found or _find_cycle(workflow)


def _list_open_parts(workflow: Workflow) -> Iterator[tuple[tuple[str | int, ...], OpenModel]]:
    yield (), workflow
    yield from ((("agents", name), block) for name, block in workflow.agents.items())
    yield from ((("plan", index), step) for index, step in enumerate(workflow.plan))


def _find_misspelt(workflow: Workflow) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Find unknown keys that probably are misspelt keys of memory: they would be ignored."""
    for path, part in _list_open_parts(workflow):
        known = list(type(part).model_fields)
        for key in part.model_extra or ():
            meant = get_close_matches(key, known, 1, _MISSPELT_RATIO)
            if meant or _OF_MEMORY.search(key):
                hint = f"; is it {meant[0]}?" if meant else ""
                yield (*path, key), f"is not a key of a workflow{hint}"


def _find_cycle(workflow: Workflow) -> Problems:
    try:
        TopologicalSorter({step.task: step.depends_on for step in workflow.plan}).prepare()
    except CycleError as error:
        first = next(i for i, step in enumerate(workflow.plan) if step.task in error.args[1])
        return [(("plan", first, "depends_on"), "the task depends on itself through other tasks")]
    return []


def build_intent_id(workflow: Workflow) -> str:
    """Build the id of the intent that has the workflow's tasks."""
    return f"workflow:{workflow.name}"


def build_application(workflow: Workflow, seed: bytes) -> Application:
    """Build all settings of the workflow. The same file and seed give the same result and ids.

    Args:
        seed: makes the ids of tasks unguessable before they are registered.
    """
    version = _get_version(workflow)
    ids = {step.task: _build_task_id(seed, version, step.task) for step in workflow.plan}
    named = [*workflow.agents, *(step.agent for step in workflow.plan if step.agent is not None)]
    agents = {agent: _build_settings(workflow, agent) for agent in named}
    return Application(
        name=workflow.name,
        version=version,
        intent_id=build_intent_id(workflow),
        semantic_namespaces=_list_namespaces(workflow),
        agents={agent: each for agent, each in agents.items() if each.model_fields_set},
        tasks=[_build_task_plan(workflow, step, ids) for step in workflow.plan],
        ignored=[
            ".".join(map(str, (*path, key)))
            for path, part in _list_open_parts(workflow)
            for key in part.model_extra or ()
        ],
    )


def render_workflow(workflow: Workflow) -> bytes:
    """Render a workflow as text; files of the same content have the same text."""
    return to_json(workflow.model_dump(exclude_unset=True))


def _build_task_id(seed: bytes, version: str | None, task: str) -> str:
    hashed = blake2b(to_json([version, task]), digest_size=16, key=seed)
    return keys.build_id("task", hashed.digest())


def _build_settings(workflow: Workflow, agent: str) -> EpisodicSettings:
    own = workflow.agents[agent].episodic_memory if agent in workflow.agents else EpisodicSettings()
    given = own.model_dump(include={"capacity", "pinned_namespaces"}, exclude_unset=True)
    capacity = workflow.memory.episodic_memory.capacity_per_agent
    return EpisodicSettings(**({} if capacity is None else {"capacity": capacity}) | given)


def _build_task_plan(workflow: Workflow, step: PlanTask, ids: dict[str, str]) -> TaskPlan:
    defaults = workflow.memory.working_memory
    policy = Policy(
        archive_on_completion=defaults.archive_on_completion,
        max_entries=defaults.max_entries_per_task,
    )
    if step.memory_policy is not None:
        policy = policy._replace(**step.memory_policy.model_dump(exclude_unset=True))
    declares_memory = "semantic_namespaces" in workflow.memory.model_fields_set
    depends_on = [ids[name] for name in dict.fromkeys(step.depends_on)]
    said_of_workflow = {"workflow": workflow.name, "workflow_version": _get_version(workflow)}
    fields = {
        **step.model_dump(include=set(PlannedFields.model_fields), exclude_unset=True),
        "name": step.task,
        "assigned_agent": step.agent,
        "depends_on": depends_on,
        "memory_policy": MemoryPolicy(**policy._asdict()),
        "semantic_namespaces": _list_namespaces(workflow) if declares_memory else None,
        "metadata": {**step.metadata, **said_of_workflow, "outputs": step.outputs},
    }
    return TaskPlan(ids[step.task], step.task, step.agent, depends_on, policy, fields)


def _get_version(workflow: Workflow) -> str | None:
    return None if workflow.version is None else str(workflow.version)


def _list_namespaces(workflow: Workflow) -> list[str]:
    return list(dict.fromkeys(workflow.memory.semantic_namespaces))


def is_up_to_date(task: Task, plan: TaskPlan) -> bool:
    """Tell whether a task already matches the workflow."""
    extra = {name: value for name, value in plan.fields.items() if name in EXTRA_FIELDS}
    is_same = all(
        task.extra_fields.get(name) == value for name, value in extra.items() if value is not None
    )
    return is_same and (task.assigned_agent, task.memory_policy) == (
        plan.assigned_agent,
        plan.memory_policy,
    )
