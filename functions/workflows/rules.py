"""What a workflow comes to; pure (RFC-0015 §7)."""

from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from hashlib import blake2b

from pydantic_core import to_json

from functions.platform import keys
from functions.tasks.model import Policy
from functions.workflows.model import AgentPlan, Application, TaskPlan
from functions.workflows.requests import PlanTask, Workflow

Problems = list[tuple[tuple[str | int, ...], str]]


def problems(workflow: Workflow) -> Problems:
    """Where the parts of a workflow contradict each other: each place, and what is wrong."""
    names = [step.task for step in workflow.plan]
    found: Problems = []
    for index, step in enumerate(workflow.plan):
        if step.task in names[:index]:
            found.append((("plan", index, "task"), "another task has this name"))
        for number, name in enumerate(step.depends_on):
            if name not in names:
                found.append((("plan", index, "depends_on", number), "the plan has no such task"))
        if step.memory_policy is not None and step.memory_policy.inherit_from_parent:
            place = ("plan", index, "memory_policy", "inherit_from_parent")
            found.append((place, "a plan's task has no parent to inherit from"))
    return found or _circles(workflow)


def _circles(workflow: Workflow) -> Problems:
    try:
        TopologicalSorter({step.task: step.depends_on for step in workflow.plan}).prepare()
    except CycleError as error:
        first = next(i for i, step in enumerate(workflow.plan) if step.task in error.args[1])
        return [(("plan", first, "depends_on"), "the task waits for itself, through others")]
    return []


def application(workflow: Workflow) -> Application:
    """All that the workflow sets. The same file gives the same, ids included."""
    version = None if workflow.version is None else str(workflow.version)
    ids = {step.task: _task_id(workflow.name, version, step.task) for step in workflow.plan}
    named = [*workflow.agents, *(step.agent for step in workflow.plan if step.agent is not None)]
    agents = [_agent(workflow, agent) for agent in dict.fromkeys(named)]
    return Application(
        name=workflow.name,
        version=version,
        intent=f"workflow:{workflow.name}",
        namespaces=list(dict.fromkeys(workflow.memory.semantic_namespaces)),
        agents=[each for each in agents if (each.capacity, each.pinned_namespaces) != (None, None)],
        tasks=[_task(workflow, step, ids) for step in workflow.plan],
        declares_memory="semantic_namespaces" in workflow.memory.model_fields_set,
    )


def digest(workflow: Workflow) -> bytes:
    """Tells whether two files say the same."""
    return blake2b(to_json(workflow.model_dump(exclude_unset=True)), digest_size=16).digest()


def _task_id(workflow: str, version: str | None, task: str) -> str:
    seed = to_json([workflow, version, task])
    return keys.build_id("task", blake2b(seed, digest_size=16).digest())


def _agent(workflow: Workflow, agent: str) -> AgentPlan:
    capacity = workflow.memory.episodic_memory.capacity_per_agent
    pinned = None
    if agent in workflow.agents:
        own = workflow.agents[agent].episodic_memory
        capacity = own.capacity if "capacity" in own.model_fields_set else capacity
        pinned = own.pinned_namespaces if "pinned_namespaces" in own.model_fields_set else None
    return AgentPlan(agent, capacity, pinned)


def _task(workflow: Workflow, step: PlanTask, ids: dict[str, str]) -> TaskPlan:
    defaults = workflow.memory.working_memory
    policy = Policy(
        archive_on_completion=defaults.archive_on_completion,
        max_entries=defaults.max_entries_per_task,
    )
    if step.memory_policy is not None:
        policy = replace(policy, **step.memory_policy.model_dump(exclude_unset=True))
    return TaskPlan(
        id=ids[step.task],
        name=step.task,
        agent=step.agent,
        depends_on=[ids[name] for name in dict.fromkeys(step.depends_on)],
        outputs=step.outputs,
        policy=policy,
    )
