"""`import DIR`: writes what `export DIR` has written, with the same result however often it runs.

Each request has an Idempotency-Key of its content, so that a run that was cut off is started again:
what was written counts as done. What is private is written under its owner's key: principals that
are new here get keys, which `keys.json` in the folder keeps (mode 0600) until you hand them out.
"""

import base64
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from datetime import datetime
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import quote

from agent_memory import Client
from agent_memory.cli.failures import Failure, UsageFailure, render_message, to_exit_code
from agent_memory.cli.importing import Import, Policy
from agent_memory.cli.lines import Line, read_lines
from agent_memory.cli.output import note
from agent_memory.cli.progress import Progress
from agent_memory.cli.tenant_export import FORMAT, MANIFEST
from agent_memory.exceptions import (
    AgentMemoryError,
    MemoryConflictError,
    MemoryNotFoundError,
    RunClosedError,
)
from agent_memory.model import TaskFields

Document = dict[str, Any]
KEYS, _RUNS = "keys.jsonl", "runs.jsonl"
_ENDED = ("completed", "failed", "cancelled")
_PRINCIPAL = ("id", "kind", "permissions", "agent_type", "expires_at")
_CONVERSATION = (
    *("user_id", "messages", "metadata", "agent_participants", "shared_with"),
    *("tags", "version", "sensitivity", "ttl", "expires_at"),
)
_MESSAGE = ("role", "content", "timestamp", "metadata")
_FACT = (
    *("subject", "predicate", "object", "confidence", "fact_id", "agent_type"),
    *("learned_from_run_id", "metadata"),
)
_EPISODE = ("content", "role", "kind", "turn", "metadata", "sensitivity")


class TenantImport:
    """One run of an import.

    Args:
        client: of a principal with all permissions, in the tenant that is written to.
        folder: what `export` wrote.
        policy: what happens where another entry stands.
        now: the server's time; what has expired by then is left out.
    """

    def __init__(self, client: Client, folder: Path, policy: Policy, now: datetime | None) -> None:
        self.counts: Counter[str] = Counter()
        self._client = client
        me = client.principals.me()
        self._me = me.id
        self._folder = folder
        self._policy = policy
        self._now = now
        self._state = ImportState(folder, client.settings.server_url, me.tenant)
        self._keys = self._state.read(KEYS)
        self._owners: dict[str, Client] = {self._me: client}
        self._runs = self._state.read(_RUNS)

    def run(self) -> None:
        """Write everything, in the order of its dependencies.

        Raises:
            UsageFailure: the folder holds no whole export.
            Failure: something is in the way; what comes before it is written.
        """
        files = _read_manifest(self._folder)
        with ExitStack() as stack:
            stack.callback(self._close)
            self._import("principals", self._write_principals)
            self._import("agents", self._write_agents)
            self._import("namespaces", self._open_namespace)
            self._import("tasks", self._write_tasks)
            self._import("acls", self._write_acls)
            for name in sorted(files):
                if name.startswith("entries-"):
                    self._import_entries(name)
            self._import("namespaces", self._write_namespace)
            for name in ("conversations", "states", "runs", "facts", "objects"):
                self._import(name, getattr(self, f"_write_{name}"))

    @property
    def keys_file(self) -> Path | None:
        """The file with the keys of the principals that were made; None if there is none."""
        file = self._state.folder / KEYS
        return file if file.exists() else None

    def _close(self) -> None:
        for id, client in self._owners.items():
            if id != self._me:
                client.close()

    def _import(self, name: str, write: Callable[[Document], None]) -> None:
        with Progress(f"import {name}") as progress:
            for count, document in enumerate(_read(self._folder / f"{name}.jsonl"), 1):
                try:
                    write(document)
                except AgentMemoryError as error:
                    said = f"{name}, line {count}: {render_message(error)}"
                    raise Failure(said, to_exit_code(error)) from error
                self.counts[name] = count
                progress.reached(count, None)

    def _client_of(self, id: str | None) -> Client:
        """Return a client of a principal whose key this import has made; else the importer's."""
        if id is None or (id not in self._owners and id not in self._keys):
            return self._client
        if id not in self._owners:
            settings = self._client.settings
            self._owners[id] = Client(settings.server_url, self._keys[id], timeout=settings.timeout)
        return self._owners[id]

    def _write_principals(self, document: Document) -> None:
        id = document["id"]
        if id == self._me or id in self._keys:
            return
        try:
            made = self._client.principals.create(
                id,
                document["kind"],
                permissions=document["permissions"],
                agent_type=document.get("agent_type"),
                expires_at=document.get("expires_at"),
            )
        except MemoryConflictError:
            note(f"the principal {id} is there already; its private memory needs its own key")
            return
        self._keys[id] = made.api_key
        self._state.add(KEYS, id, made.api_key)

    def _write_agents(self, document: Document) -> None:
        episodic, working = document["episodic"], document["working"]
        self._client.agents.configure(
            document["agent_id"],
            capacity=episodic["capacity"],
            pinned_namespaces=episodic["pinned_namespaces"],
            max_entries=working["max_entries"],
            max_total_size_kb=working["max_total_size_kb"],
        )

    def _open_namespace(self, document: Document) -> None:
        """Let the importer write the namespace's entries, and nobody else more than before."""
        self._client.namespaces.set_permissions(document["namespace"], allow={self._me: "admin"})

    def _write_namespace(self, document: Document) -> None:
        permissions = document["permissions"]
        allow = {each["agent"]: each["access"] for each in permissions["allow"]}
        self._client.namespaces.set_permissions(
            document["namespace"],
            default=permissions["default"],
            allow={self._me: permissions["default"]} | allow,
        )

    def _write_tasks(self, document: Document) -> None:
        """Register a task as its coordinator, else as its assignee; end it if it has ended."""
        is_known = document["coordinator"] in {*self._keys, self._me}
        creator = self._client_of(document["coordinator"] or document["assigned_agent"])
        fields = _select(document, TaskFields.__annotations__)
        status = fields.pop("status")
        if is_known or not document["coordinator"]:
            fields.pop("coordinator", None)
        ended = {name: fields.pop(name, None) for name in ("output", "error")}
        body = {"intent_id": document["intent_id"], **fields}
        try:
            task = _send(creator, "POST", "/api/v1/tasks", body)
        except MemoryConflictError:
            task = dict(creator.tasks.get(document["id"]).raw)
        if task["status"] != status and task["status"] not in _ENDED:
            changes = {"status": status, **({} if status not in _ENDED else ended)}
            changes = {name: each for name, each in changes.items() if each is not None}
            creator.tasks.update(document["id"], version=task["version"], **changes)
        for grant in document["grants"] if status not in _ENDED else ():
            creator.tasks.grant(
                document["id"],
                grant["principal"],
                grant["access"],
                expires_at=grant.get("expires_at"),
            )

    def _write_acls(self, document: Document) -> None:
        access = {each["principal"]: each["access"] for each in document["entries"]}
        owner = self._client_of(document.get("owner"))
        if access:
            owner.intents.set_acl(document["intent_id"], access)

    def _import_entries(self, name: str) -> None:
        """Write entries, what is private under its owner's key."""
        with (self._folder / f"{name}.jsonl").open("rb") as source, Progress(name) as progress:
            for owner, lines in groupby(read_lines(source, note), _owner_of):
                run = Import(self._client_of(owner), self._policy, self._now)
                try:
                    run.run(lines, lambda: progress.reached(self.counts["entries"], None))
                finally:
                    self.counts["entries"] += sum(run.counts.values())
                    self.counts["expired"] += run.counts["expired"]

    def _write_conversations(self, document: Document) -> None:
        session, fields = document["session_id"], _select(document, _CONVERSATION)
        messages = [_select(each, _MESSAGE) for each in fields.pop("messages")]
        writer = self._client_of(document["created_by"])
        present = writer.conversations.get_head(session)
        if present is None:
            user = fields.pop("user_id")
            writer.conversations.put(session, user, messages, revision=0, **fields)
        elif present.message_count != len(messages):
            said = (
                f"the conversation {session} is there already, with other messages; delete it first"
            )
            raise Failure(said, 3)

    def _write_states(self, document: Document) -> None:
        writer = self._client_of(document["agent_id"])
        writer.states.put(
            document["agent_id"], document["owner_id"], document["key"], document["value"]
        )

    def _write_runs(self, document: Document) -> None:
        """Write a run with its episodes, under ids that follow from the run that was exported."""
        fields = _select(document, ("agent_type", "instance_id", "input", "sensitivity"))
        if document["id"] not in self._runs:
            started = _send(self._client, "POST", "/api/v1/runs", fields, document["id"])
            self._runs[document["id"]] = started["id"]
            self._state.add(_RUNS, document["id"], started["id"])
        path = f"/api/v1/runs/{self._runs[document['id']]}"
        for each in document["episodes"]:
            _send(self._client, "POST", f"{path}/episodes", _select(each, _EPISODE), each["id"])
        try:
            if document["status"] == "completed":
                _send(self._client, "POST", f"{path}/complete", {"output": document.get("output")})
            elif document["status"] == "failed":
                _send(self._client, "POST", f"{path}/fail", {"error": document.get("error")})
        except RunClosedError:
            return

    def _write_facts(self, document: Document) -> None:
        fields = _select(document, _FACT)
        run = fields.get("learned_from_run_id")
        if run in self._runs:
            fields["learned_from_run_id"] = self._runs[run]
        try:
            self._client.request("GET", f"/api/v1/facts/{quote(document['fact_id'], safe='')}")
        except MemoryNotFoundError:
            _send(self._client, "POST", "/api/v1/facts", fields)

    def _write_objects(self, document: Document) -> None:
        """Write an object, or the permissions of its space, which come after the objects."""
        owner, space = self._client_of(document["owner"]), document["space"]
        if "key" in document:
            owner.objects.put(
                space,
                document["key"],
                base64.b64decode(document["data"]),
                content_type=document["content_type"],
                metadata=document["metadata"],
                sensitivity=document["sensitivity"],
            )
            return
        permissions = document["permissions"]
        access = {each["agent"]: each["access"] for each in permissions["allow"]}
        try:
            owner.objects.share(space, access, default=permissions["default"])
        except MemoryNotFoundError:
            note(f"the space {space} has no objects; its permissions are left out")


class ImportState:
    """What an import into one tenant of one server has made: pairs of texts, a line each.

    Attributes:
        folder: where it is, in the folder of the export.
    """

    def __init__(self, export: Path, server_url: str, tenant: str) -> None:
        name = sha256(f"{server_url} {tenant}".encode()).hexdigest()[:12]
        self.folder = export / f"imported-{name}"

    def read(self, name: str) -> dict[str, str]:
        """Return the pairs of a file; a line that was cut off is none."""
        try:
            lines = (self.folder / name).read_text("utf-8").split("\n")
        except FileNotFoundError:
            return {}
        return dict(json.loads(line) for line in lines[:-1])

    def add(self, name: str, key: str, text: str) -> None:
        """Append a pair to a file (mode 0600), and wait until it is on disk."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        descriptor = os.open(self.folder / name, flags, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(f"{json.dumps([key, text])}\n")
            file.flush()
            os.fsync(descriptor)


def _read_manifest(folder: Path) -> list[str]:
    try:
        manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UsageFailure(
            f"{folder} holds no whole export; start the same `agent-memory export` again"
        ) from error
    if manifest.get("format") != FORMAT:
        raise UsageFailure(f"{folder} is of a newer version; install that of agent-memory")
    return list(manifest["files"])


def _read(file: Path) -> Iterator[Document]:
    with file.open("rb") as source:
        yield from map(json.loads, source)


def _select(document: Mapping[str, Any], names: Any) -> Document:
    """Return the fields with these names that the document has, but for null."""
    return {name: document[name] for name in names if document.get(name) is not None}


def _send(client: Client, method: str, path: str, body: Document, name: str = "") -> Document:
    """Send a body under an Idempotency-Key of what it is; return the answer."""
    text = json.dumps([name, method, path, body], ensure_ascii=False)
    headers = {"Idempotency-Key": sha256(text.encode()).hexdigest()}
    answer: Document = client.request(method, path, json=body, headers=headers).json()
    return answer


def _owner_of(line: Line) -> str | None:
    """Return whose key writes a line; None: whoever may write what is shared."""
    return line.body["agent_id"] if line.names_owner else None
