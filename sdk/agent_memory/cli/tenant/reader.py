"""A tenant's data by subject, as documents in the order of an import.

A subject that a key may not read is omitted, with a note.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from hashlib import sha256
from itertools import chain
from typing import Any
from urllib.parse import quote

from agent_memory import Client, Pages
from agent_memory.cli.output import note
from agent_memory.cli.spool import Spool
from agent_memory.cli.tenant.documents import add_vector, list_unless_deleted
from agent_memory.cli.tenant.private_reader import PrivateReader
from agent_memory.exceptions import MemoryAccessError
from agent_memory.log_filters import EventFilters
from agent_memory.model import Entry, Model
from agent_memory.page import Paging

Document = Mapping[str, Any]
Read = Callable[[], Iterable[Document]]
_ALL: Paging = {"page_size": 1000}
_COORDINATORS = ("coordinator", "user")
_ENDED = ("completed", "failed", "cancelled", "skipped")


class TenantReader:
    """Reads what some keys of a tenant may read.

    Args:
        clients: the first reads shared memory; each reads its private memory.
    """

    def __init__(self, clients: list[Client]) -> None:
        self._clients = clients
        self._first = clients[0]
        self._private = PrivateReader(clients)
        self._namespaces: set[str] = set()  # whose semantic entries were read

    def list_subjects(self) -> Iterator[tuple[str, Read]]:
        """Yield the names of the subjects, with their readers."""
        first, private = self._first, self._private
        yield "principals", partial(_list_oldest_first, "principals", first.principals.list(**_ALL))
        yield "agents", self._read_agents
        yield "guardrails", self._read_guardrails
        yield "namespaces", partial(_list_oldest_first, "namespaces", first.namespaces.list(**_ALL))
        yield "tasks", self._read_tasks
        yield "intents", self._read_intents
        for client in self._clients:
            yield f"entries-{_name_file(client)}", partial(self._read_entries, client)
        yield "entries", self._read_entries_of_others
        yield "archived", private.read_archived
        yield "conversations", private.read_conversations
        yield "states", private.read_states
        yield "runs", self._read_runs
        yield "working", self._read_working_values
        yield "facts", private.read_facts
        yield "procedures", self._read_procedures
        yield "spaces", private.read_spaces
        yield "objects", private.read_objects
        yield "openwop", private.read_openwop
        yield "events", self._read_events
        yield "audit", lambda: _list_allowed("the audit log", first.audit.list(**_ALL))

    def _read_agents(self) -> Iterator[Document]:
        for agent in Spool(each.raw for each in self._first.agents.list(**_ALL)):
            try:
                yield self._first.agents.get_settings(agent["agent_id"]).raw
            except MemoryAccessError:
                continue

    def _read_guardrails(self) -> Iterator[Document]:
        """Yield the guardrails of coordinators that have any."""
        for principal in _list_allowed("guardrails", self._first.principals.list(**_ALL)):
            if principal["kind"] in _COORDINATORS:
                found = self._first.agents.get_guardrails(principal["id"]).raw
                if any(value is not None for value in found["guardrails"].values()):
                    yield found

    def _read_intents(self) -> Iterator[Document]:
        """Yield the intents with their owners and access lists."""
        for intent in Spool(each.raw for each in self._first.intents.list(**_ALL)):
            try:
                yield {**intent, **self._first.intents.get_acl(intent["intent_id"]).raw}
            except MemoryAccessError:
                yield intent

    def _read_entries(self, client: Client) -> Iterator[Document]:
        """Yield the entries of a key, oldest first, and shared ones that only it may read.

        They include clients' vectors, and the owner's last reads of evictable entries.
        """
        id = client.principals.cached_me().id
        evictable = client.agents.list_eviction_order(id, **_ALL)
        accessed = {
            each.id: {"last_accessed_at": each.raw["last_accessed_at"]} for each in evictable
        }
        found = client.memory.query(agent_id=id, touch=False, **_ALL)
        for entry in Spool(each.raw for each in found):
            for whole in add_vector(client, entry):
                yield {**whole, **accessed.get(entry["id"], {})}
        for entry in Spool(self._list_shared(client)):
            yield from add_vector(client, entry)

    def _list_shared(self, client: Client) -> Iterator[Document]:
        """Yield the semantic entries of namespaces that no key before has read."""
        query = partial(client.memory.query, memory_type="semantic", touch=False, **_ALL)
        if client is self._first:
            found: Iterable[Entry] = query()
        else:
            names = {each.namespace for each in client.namespaces.list(**_ALL)} - self._namespaces
            named = sorted(name for name in names if not name.endswith("*"))
            found = chain.from_iterable(query(namespace=name) for name in named)
        for entry in found:
            self._namespaces.add(entry.namespace)
            yield entry.raw

    def _read_entries_of_others(self) -> Iterator[Document]:
        """Yield entries of other principals in open tasks, each once."""
        seen = {client.principals.cached_me().id for client in self._clients}
        found: set[str] = set()
        for client, task in self._list_tasks():
            if task["status"] in _ENDED:
                continue
            for entry in _list_in_task(client, task["id"]):
                if entry["agent_id"] not in seen and entry["id"] not in found:
                    found.add(entry["id"])
                    yield entry

    def _list_tasks(self) -> Iterator[tuple[Client, Document]]:
        """Yield the tasks that each key may read."""
        for client in self._clients:
            for intent in client.intents.list(**_ALL):
                for task in client.tasks.list(intent.intent_id, **_ALL):
                    yield client, task.raw
            yield from ((client, task) for task in _list_without_intent(client))

    def _read_tasks(self) -> Iterator[Document]:
        """Yield each task that one of the keys may read, with its grants; parents first."""
        found: dict[str, Document] = {}
        for client, task in self._list_tasks():
            known = found.setdefault(task["id"], {**task, "grants": []})
            if not known["grants"]:
                found[task["id"]] = {**known, "grants": _read_grants(client, task["id"])}
        yield from sorted(found.values(), key=lambda task: (task["created_at"], task["id"]))

    def _read_runs(self) -> Iterator[Document]:
        """Yield the runs, oldest first, each with its episodes, oldest first."""
        for run in Spool(each.raw for each in self._first.runs.query(values=False, **_ALL)):
            yield from list_unless_deleted(partial(self._read_run, run["id"]))

    def _read_run(self, run_id: str) -> list[Document]:
        episodes = Spool(each.raw for each in self._first.runs.list_episodes(run_id, **_ALL))
        return [{**self._first.runs.get(run_id).raw, "episodes": list(episodes)}]

    def _read_working_values(self) -> Iterator[Document]:
        """Yield the working values of the instances that runs name: none with a slash has some."""
        named = (run.instance_id for run in self._first.runs.query(values=False, **_ALL))
        for instance in dict.fromkeys(id for id in named if id and "/" not in id):
            for key, value in self._first.working_values.get_all(instance).items():
                yield {"instance_id": instance, "key": key, "value": value}

    def _read_procedures(self) -> Iterator[Document]:
        """Yield the workflows of all known agent types, oldest of a task first."""
        procedures = self._first.procedures
        for agent_type in self._list_agent_types():
            for task_type in procedures.list_task_types(agent_type, **_ALL):
                yield from Spool(
                    each.raw for each in procedures.list(agent_type, task_type, **_ALL)
                )

    def _list_agent_types(self) -> list[str]:
        """Return the agent types with workflows, without a slash."""
        found = self._first.runs.list_agent_types(**_ALL)
        return sorted(name for name in found if "/" not in name)

    def _read_events(self) -> Iterator[Document]:
        """Yield the events of all logs, each once, archives with values if one of the keys may.

        The owner of archived memory, or of its intent, reads the values; others don't.
        """
        bare: dict[str, Document] = {}
        seen: set[str] = set()
        for client in self._clients:
            wanted: EventFilters = {"page_size": 1000}
            if client is not self._first:
                wanted["type"] = "memory.archived"
            for event in _list_events(client, wanted):
                if event["id"] not in seen and _lacks_values(event):
                    bare.setdefault(event["id"], event)
                elif event["id"] not in seen:
                    seen.add(event["id"])
                    yield event
        yield from (event for id, event in bare.items() if id not in seen)


def _list_events(client: Client, wanted: EventFilters) -> Iterator[Document]:
    """Yield the events of the logs of intents, agents and namespaces that a key may read."""
    events = client.events
    for read, names in (
        (events.list_for_intent, (each.intent_id for each in client.intents.list(**_ALL))),
        (events.list_for_agent, (each.agent_id for each in client.agents.list(**_ALL))),
        (events.list_for_namespace, (each.namespace for each in client.namespaces.list(**_ALL))),
    ):
        for name in names:
            try:
                yield from (each.raw for each in read(name, **wanted))
            except MemoryAccessError:
                if "type" not in wanted:
                    note(f"the log of {name}: left out, since the key may not read it")


def _lacks_values(event: Document) -> bool:
    return any("value" not in line for line in event["data"].get("snapshot", ()))


def _list_allowed(name: str, pages: Pages[Any]) -> Iterator[Document]:
    """Yield the documents of a list; nothing if the key may not read it, with a note."""
    try:
        for each in pages:
            document: Model = each
            yield document.raw
    except MemoryAccessError:
        note(f"{name}: left out, since the key may not read it")


def _list_oldest_first(name: str, pages: Pages[Any]) -> Iterator[Document]:
    """Yield the same in reverse order."""
    yield from Spool(_list_allowed(name, pages))


def _list_without_intent(client: Client) -> Iterator[Document]:
    """Yield the ended tasks of a key's agent without an intent, from its archives."""
    id = client.principals.cached_me().id
    events = client.events.list_for_agent(id, type="memory.archived", **_ALL)
    for task_id in dict.fromkeys(event.task_id for event in events):
        if task_id is not None:
            yield client.tasks.get(task_id).raw


def _list_in_task(client: Client, task_id: str) -> Iterator[Document]:
    """Yield the working memory of a task, oldest first; nothing if the key may not read it."""
    try:
        found = client.memory.query(task_id=task_id, memory_type="working", **_ALL)
        yield from Spool(each.raw for each in found if not each.inherited)
    except MemoryAccessError:
        return


def _read_grants(client: Client, task_id: str) -> list[Document]:
    try:
        return [each.raw for each in client.tasks.list_grants(task_id, **_ALL)]
    except MemoryAccessError:
        return []


def _name_file(client: Client) -> str:
    """Return a principal's id as a part of a file's name."""
    id = client.principals.cached_me().id
    safe = quote(id, safe="")
    return safe if len(safe) <= 100 else sha256(json.dumps(id).encode()).hexdigest()
