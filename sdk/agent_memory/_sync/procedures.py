"""`client.procedures`: workflows, selected by their results (ADR-043 Tier 4)."""

from operator import itemgetter
from typing import Any, Unpack

from agent_memory._sync.pages import Pages
from agent_memory._sync.resource import Resource
from agent_memory.exceptions import MemoryNotFoundError
from agent_memory.model import LearnedStats, SelectedWorkflow, Workflow
from agent_memory.page import Paging
from agent_memory.requests import drop_none, quote_segment
from agent_memory.responses import parse

_PROCEDURES = "/api/v1/procedures"


class Procedures(Resource):
    """The workflows of the caller's tenant and their results.

    Names of agent types, task types and workflows have no slash: they are parts of a path.
    """

    def put(
        self,
        agent_type: str,
        task_type: str,
        workflow_id: str,
        spec: Any,
        *,
        half_life: str | None = None,
        reset: bool = False,
        learned: LearnedStats | None = None,
        version: int | None = None,
    ) -> Workflow:
        """Set a workflow's spec; its results stay. Repeating it changes nothing.

            client.procedures.put("sdr", "outreach", "short-mail", {"steps": ["write", "send"]})

        Args:
            spec: any JSON value, up to `procedures.limits.spec_bytes`.
            half_life: the time after which an outcome counts half, such as `duration:P7D`; by
                default, outcomes keep their weight.
            reset: delete its results.
            learned: the results of a new workflow: `alpha`, `beta` and `outcomes`, such as those of
                another deployment. An existing workflow keeps its own.
            version: change only this version.

        Raises:
            MemoryConflictError: it has another version.
            MemoryNotFoundError: a version is given, and there is no workflow.
            TooLargeError: the spec is too large.
        """
        body = {"spec": spec, "half_life": half_life, "reset": reset, **drop_none(learned=learned)}
        path = _workflow(agent_type, task_type, workflow_id)
        answer = self._call("PUT", path, json=body, version=version)
        return parse(Workflow.from_document, answer)

    def get(self, agent_type: str, task_type: str, workflow_id: str) -> Workflow | None:
        """Return a workflow; None if there is none.

        client.procedures.get("sdr", "outreach", "short-mail").mean
        """
        try:
            found = self._call("GET", _workflow(agent_type, task_type, workflow_id))
        except MemoryNotFoundError:
            return None
        return parse(Workflow.from_document, found)

    def list_task_types(self, agent_type: str, **paging: Unpack[Paging]) -> Pages[str]:
        """Return the types of task for which an agent type has workflows, by name.

            client.procedures.list_task_types("sdr").list()

        Args:
            paging: `limit`, `page_size`, `after`.
        """
        path = f"{_PROCEDURES}/{_part(agent_type)}"
        return self._list(path, "task_types", itemgetter("task_type"), paging)

    def list(
        self, agent_type: str, task_type: str, **paging: Unpack[Paging]
    ) -> Pages[Workflow]:
        """Return the workflows for a type of task, newest first.

            for workflow in client.procedures.list("sdr", "outreach"):
                print(workflow.workflow_id, workflow.mean)

        Args:
            paging: `limit`, `page_size`, `after`.
        """
        path = _procedure(agent_type, task_type)
        return self._list(path, "procedures", Workflow.from_document, paging)

    def select(
        self, agent_type: str, task_type: str, *, seed: int | None = None
    ) -> SelectedWorkflow:
        """Return the workflow to try next, by Thompson sampling; `sampled` is its sample.

            client.procedures.select("sdr", "outreach").workflow_id

        Args:
            seed: makes the sample repeatable for tests, with the same outcomes and the same time.

        Raises:
            MemoryNotFoundError: there is no workflow to select from.
        """
        path = f"{_procedure(agent_type, task_type)}/select"
        answer = self._call("POST", path, json=drop_none(seed=seed))
        return parse(SelectedWorkflow.from_document, answer)

    def record_outcome(
        self, agent_type: str, task_type: str, workflow_id: str, score: float
    ) -> Workflow:
        """Record a result from 0 to 1, exactly once; return the workflow.

            client.procedures.record_outcome("sdr", "outreach", "short-mail", 0.8)

        Raises:
            MemoryNotFoundError: raised when there is no such workflow.
            ValidationError: the score isn't from 0 to 1.
        """
        path = f"{_workflow(agent_type, task_type, workflow_id)}/outcome"
        answer = self._call("POST", path, json={"score": score})
        return parse(Workflow.from_document, answer)

    def delete(
        self, agent_type: str, task_type: str, workflow_id: str, *, version: int | None = None
    ) -> bool:
        """Delete a workflow with its results; return True if it existed.

            client.procedures.delete("sdr", "outreach", "short-mail")

        Raises:
            MemoryConflictError: it has another version.
        """
        return self._delete(_workflow(agent_type, task_type, workflow_id), version)


def _procedure(agent_type: str, task_type: str) -> str:
    return f"{_PROCEDURES}/{_part(agent_type)}/{_part(task_type)}"


def _workflow(agent_type: str, task_type: str, workflow_id: str) -> str:
    return f"{_procedure(agent_type, task_type)}/{_part(workflow_id)}"


def _part(name: str) -> str:
    if "/" in name:
        raise ValueError(
            "the names of agent types, task types and workflows must not contain a slash"
        )
    return quote_segment(name)
