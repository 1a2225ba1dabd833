"""Test what a workflow sets, and where it contradicts itself."""

from typing import Any

import pytest

from functions.tasks.model import Policy, Task
from functions.workflows import rules
from functions.workflows.requests import Workflow
from functions.workflows.rules import Application

SEED = bytes(16)


def build_application(declared: Workflow, seed: bytes = SEED) -> Application:
    return rules.build_application(declared, seed)


def workflow(*steps: dict[str, Any], **fields: Any) -> Workflow:
    return Workflow.model_validate({"name": "w", "plan": list(steps), **fields})


def step(name: str, *depends_on: str, **fields: Any) -> dict[str, Any]:
    return {"task": name, "depends_on": list(depends_on), **fields}


@pytest.mark.parametrize(
    ("steps", "path"),
    [
        ([step("a"), step("a")], ("plan", 1, "task")),
        ([step("a", "b")], ("plan", 0, "depends_on", 0)),
        ([step("a"), step("b", "a", "c")], ("plan", 1, "depends_on", 1)),
        ([step("a", "a")], ("plan", 0, "depends_on")),
        ([step("x"), step("a", "b"), step("b", "c"), step("c", "a")], ("plan", 1, "depends_on")),
        (
            [step("a", memory_policy={"inherit_from_parent": True})],
            ("plan", 0, "memory_policy", "inherit_from_parent"),
        ),
    ],
)
def test_a_contradiction_is_found_at_its_path(
    steps: list[dict[str, Any]], path: tuple[str | int, ...]
) -> None:
    assert [found for found, _ in rules.find_problems(workflow(*steps))] == [path]


def test_a_plan_without_contradictions_has_no_problems() -> None:
    plan = [step("a"), step("b", "a"), step("c", "a", "b")]
    assert rules.find_problems(workflow(*plan)) == []


def test_the_same_file_gives_the_same_ids_and_another_version_others() -> None:
    plan = [step("a"), step("b", "a")]
    first = build_application(workflow(*plan, version=1))
    assert build_application(workflow(*plan, version="1")) == first
    assert [task.depends_on for task in first.tasks] == [[], [first.tasks[0].id]]
    other = build_application(workflow(*plan, version=2))
    assert not {task.id for task in first.tasks} & {task.id for task in other.tasks}
    foreign = build_application(workflow(*plan, version=1), bytes([1] * 16))
    assert not {task.id for task in first.tasks} & {task.id for task in foreign.tasks}
    assert first.intent_id == other.intent_id == foreign.intent_id == "workflow:w"


def test_a_steps_policy_changes_the_workflows_defaults() -> None:
    memory = {"working_memory": {"archive_on_completion": False, "max_entries_per_task": 7}}
    plan = [step("a"), step("b", memory_policy={"max_entries": 9, "max_total_size_kb": 8})]
    policies = [
        task.memory_policy for task in build_application(workflow(*plan, memory=memory)).tasks
    ]
    assert policies == [
        Policy(archive_on_completion=False, max_entries=7),
        Policy(archive_on_completion=False, max_entries=9, max_total_size_kb=8),
    ]


def test_an_agents_own_settings_change_the_workflows_defaults() -> None:
    agents = {
        "own": {"episodic_memory": {"capacity": 5, "pinned_namespaces": ["n"]}},
        "default": {},
    }
    memory = {"episodic_memory": {"capacity_per_agent": 50}}
    declared = workflow(step("a", agent="planned"), agents=agents, memory=memory)
    application = build_application(declared)
    given = {name: each.model_dump(exclude_unset=True) for name, each in application.agents.items()}
    assert given == {
        "own": {"capacity": 5, "pinned_namespaces": ["n"]},
        "default": {"capacity": 50},
        "planned": {"capacity": 50},
    }


def test_an_agent_without_settings_is_left_as_it_is() -> None:
    assert build_application(workflow(step("a", agent="alice"))).agents == {}


def test_files_that_say_the_same_have_the_same_text() -> None:
    assert rules.render_workflow(workflow(step("a"))) == rules.render_workflow(workflow(step("a")))
    assert rules.render_workflow(workflow(step("a"))) != rules.render_workflow(workflow(step("b")))


def stored(declared: Workflow, **changes: Any) -> tuple[bool, Task]:
    """Return whether the plan's one task, stored with these changes, is up to date; the task."""
    application = build_application(declared)
    (plan,) = application.tasks
    fields = plan.fields
    extra = {name: fields[name] for name in ("name", "depends_on", "metadata")}
    if fields["semantic_namespaces"] is not None:
        extra["semantic_namespaces"] = fields["semantic_namespaces"]
    base: dict[str, Any] = {
        "assigned_agent": plan.assigned_agent,
        "memory_policy": plan.memory_policy,
        "extra_fields": extra,
    }
    base |= changes
    task = Task(plan.id, application.intent_id, "running", 1, 1, 1, **base)
    return rules.is_up_to_date(task, plan), task


def test_only_a_task_that_differs_is_changed() -> None:
    declared = workflow(step("a", agent="alice"), memory={"semantic_namespaces": ["facts"]})
    is_current, task = stored(declared)
    assert is_current
    extra = task.extra_fields
    assert stored(declared, extra_fields=extra | {"output": {"sum": 7}})[0]
    assert not stored(declared, assigned_agent="bob")[0]
    assert not stored(declared, memory_policy=Policy(max_entries=1))[0]
    assert not stored(declared, extra_fields=extra | {"name": "other"})[0]
    assert not stored(declared, extra_fields=extra | {"semantic_namespaces": []})[0]
