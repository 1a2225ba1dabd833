"""Writes what agents did and learned: runs, facts, procedures."""

from typing import Any
from urllib.parse import quote

from agent_memory.cli.tenant.import_context import (
    Document,
    ImportContext,
    select_fields,
    send_once,
)
from agent_memory.exceptions import MemoryNotFoundError, RunClosedError

_RUNS = "runs.jsonl"
_MADE = ("created_at", "created_by")
_RUN = ("agent_type", "instance_id", "input", "sensitivity", *_MADE)
_END = ("ended_at", "ended_by")
_EPISODE = ("content", "role", "kind", "turn", "metadata", "sensitivity", *_MADE)
_FACT = (
    *("subject", "predicate", "object", "confidence", "fact_id", "agent_type"),
    *("learned_from_run_id", "metadata", "learned_from_run_ids", "learned_count", "learned_by"),
    *("created_at", "updated_at", "first_learned_at", "version"),
)
_LEARNED = ("alpha", "beta", "outcomes")


class LearnedWriter:
    """Writes what an export has of learning, each document as often as one likes."""

    def __init__(self, context: ImportContext) -> None:
        self._context = context
        self._client = context.client
        self._runs = context.state.read(_RUNS)

    def write_run(self, document: Document) -> None:
        """Write a run with its episodes, under ids that follow from the run that was exported."""
        if self._context.has_expired(document["expires_at"]):
            return
        if document["id"] not in self._runs:
            fields = select_fields(document, _RUN)
            started = send_once(self._client, "POST", "/api/v1/runs", fields, document["id"])
            self._runs[document["id"]] = started["id"]
            self._context.state.add(_RUNS, document["id"], started["id"])
        path = f"/api/v1/runs/{self._runs[document['id']]}"
        for each in document["episodes"]:
            episode = {"content": None, **select_fields(each, _EPISODE)}
            send_once(self._client, "POST", f"{path}/episodes", episode, each["id"])
        end = select_fields(document, _END)
        try:
            if document["status"] == "completed":
                output = {"output": document.get("output"), **end}
                send_once(self._client, "POST", f"{path}/complete", output)
            elif document["status"] == "failed":
                error = {"error": document.get("error"), **end}
                send_once(self._client, "POST", f"{path}/fail", error)
        except RunClosedError:
            return

    def write_working_value(self, document: Document) -> None:
        """Put a working value, for an hour from now on, unless there is one."""
        instance, key = document["instance_id"], document["key"]
        if key not in self._client.instances.get_all(instance):
            self._client.instances.put(instance, key, document["value"])

    def write_fact(self, document: Document) -> None:
        """Learn a fact, unless it is known."""
        fields = select_fields(document, _FACT)
        run = fields.get("learned_from_run_id")
        if run in self._runs:
            fields["learned_from_run_id"] = self._runs[run]
        runs = fields.get("learned_from_run_ids", ())
        fields["learned_from_run_ids"] = [self._runs.get(each, each) for each in runs]
        try:
            self._client.request("GET", f"/api/v1/facts/{quote(document['fact_id'], safe='')}")
        except MemoryNotFoundError:
            send_once(self._client, "POST", "/api/v1/facts", fields)

    def write_workflow(self, document: Document) -> None:
        """Set a workflow with what was learned of it, unless it is there."""
        name = document["agent_type"], document["task_type"], document["workflow_id"]
        procedures = self._client.procedures
        if procedures.get(*name) is None:
            learned: Any = select_fields(document, _LEARNED)
            spec, half_life = document.get("spec"), document.get("half_life")
            procedures.put(*name, spec, half_life=half_life, learned=learned)
