"""Writes what agents did and learned: runs, facts, procedures."""

from contextlib import suppress
from typing import Any

from agent_memory.cli.output import note
from agent_memory.cli.tenant.import_context import (
    ORIGIN,
    Document,
    ImportContext,
    select_fields,
    send_once,
)
from agent_memory.exceptions import MemoryNotFoundError, RunClosedError
from agent_memory.requests import quote_segment

_RUNS = "runs.jsonl"
_MADE = ("id", "created_at", "created_by")
_RUN = ("agent_type", "instance_id", "input", "sensitivity", *_MADE)
_END = ("ended_at", "ended_by")
_EPISODE = ("content", "role", "kind", "turn", "metadata", "sensitivity", *_MADE)
_FACT = (
    *("subject", "predicate", "object", "confidence", "fact_id", "agent_type"),
    *("learned_from_run_id", "metadata", "learned_from_run_ids", "learned_count", "learned_by"),
    *("created_at", "updated_at", "first_learned_at", "version"),
)
_RESULTS = {"completed": ("complete", "output"), "failed": ("fail", "error")}
_LEARNED = ("alpha", "beta", "outcomes")


class LearnedWriter:
    """Writes what an export has of learning, each document as often as one likes."""

    def __init__(self, context: ImportContext) -> None:
        self._context = context
        self._client = context.client
        self._done = context.state.read(_RUNS)

    def write_run(self, document: Document) -> None:
        """Write a run with its episodes."""
        id = document["id"]
        if id in self._done or self._context.has_expired(document["expires_at"]):
            return
        try:
            self._start(document)
            for each in document["episodes"]:
                episode = {"content": None, **select_fields(each, _EPISODE)}
                send_once(self._client, "POST", f"/api/v1/runs/{id}/episodes", episode)
            self._end(document)
        except MemoryNotFoundError:
            note(f"the run {id} was deleted since an earlier import, and is left out")
        self._context.state.add(_RUNS, id, "")

    def _start(self, document: Document) -> None:
        with suppress(RunClosedError):  # an earlier run of the import has ended it
            send_once(self._client, "POST", "/api/v1/runs", select_fields(document, _RUN))

    def _end(self, document: Document) -> None:
        if document["status"] not in _RESULTS:
            return
        action, name = _RESULTS[document["status"]]
        result = {name: document.get(name), **select_fields(document, _END)}
        with suppress(RunClosedError):
            send_once(self._client, "POST", f"/api/v1/runs/{document['id']}/{action}", result)

    def write_working_value(self, document: Document) -> None:
        """Put a working value, for an hour from now on, unless there is one."""
        instance, key = document["instance_id"], document["key"]
        if key not in self._client.instances.get_all(instance):
            self._client.instances.put(instance, key, document["value"])

    def write_fact(self, document: Document) -> None:
        """Learn a fact, unless it is known."""
        fields = select_fields(document, _FACT)
        try:
            self._client.request("GET", f"/api/v1/facts/{quote_segment(document['fact_id'])}")
        except MemoryNotFoundError:
            send_once(self._client, "POST", "/api/v1/facts", fields)

    def write_workflow(self, document: Document) -> None:
        """Set a workflow with what was learned of it, unless it is there."""
        name = document["agent_type"], document["task_type"], document["workflow_id"]
        procedures = self._client.procedures
        if procedures.get(*name) is None:
            learned: Any = select_fields(document, _LEARNED)
            spec, half_life = document.get("spec"), document.get("half_life")
            with self._client.keep(**select_fields(document, ORIGIN)):
                procedures.put(*name, spec, half_life=half_life, learned=learned)
