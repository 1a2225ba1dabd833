"""`import DIR`: write the memory of an export by the ordinary calls.

Ids, versions and authors are new; `occurred_at`, the timestamps of messages and the statistics of
workflows are kept. Private memory needs its owner's key. Run an interrupted import again: each
request has an Idempotency-Key of its content, and nothing is written twice.
"""

import base64
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from agent_memory import Client
from agent_memory.cli.failures import Failure, UsageFailure, render_message, to_exit_code
from agent_memory.cli.importing import Import, Policy
from agent_memory.cli.lines import Line, read_lines
from agent_memory.cli.output import note
from agent_memory.cli.progress import Progress
from agent_memory.cli.tenant.documents import Document, read_documents, read_manifest
from agent_memory.cli.tenant.uses import Renaming
from agent_memory.exceptions import (
    AgentMemoryError,
    MemoryAccessError,
    MemoryConflictError,
)
from agent_memory.model import NamespaceAccess

_CONVERSATION = (
    *("metadata", "agent_participants", "shared_with"),
    *("tags", "version", "sensitivity", "ttl", "expires_at"),
)
_MESSAGE = ("role", "content", "timestamp", "metadata", "uses")
_FACT = (
    *("subject", "predicate", "object", "confidence", "fact_id", "agent_type", "user_id"),
    *("learned_from_run_id", "metadata", "valid_from", "valid_until"),
)
_LEARNED = ("alpha", "beta", "outcomes")
_PRIVATE = ("states", "facts", "objects")  # some need the key of their owner


class TenantImport:
    """One run of an import.

    Args:
        client: of a principal with all permissions in the target tenant.
        others: of principals whose private memory is written, too.
        folder: of an export.
        policy: what to do if another entry exists.
        now: the server's time; expired memory is omitted.

    Raises:
        UsageFailure: one of `others` is of another server or tenant.

    Attributes:
        counts: the number of written or found documents, by subject.
    """

    def __init__(
        self,
        client: Client,
        others: Sequence[Client],
        folder: Path,
        policy: Policy,
        now: datetime | None,
    ) -> None:
        self.counts: Counter[str] = Counter()
        self._client = client
        self._me = client.principals.cached_me().id
        for each in others:
            _assert_same_tenant(client, each)
        self._owners = {each.principals.cached_me().id: each for each in (*others, client)}
        self._folder = folder
        self._policy: Policy = policy
        self._now = now
        self._left_out: Counter[str] = Counter()
        self._renaming = Renaming(read_documents(folder / "conversations.jsonl"))

    def run(self) -> None:
        """Write everything, in the order of its dependencies.

        Raises:
            UsageFailure: the folder has no complete export.
            Failure: a document can't be written; earlier ones are.
        """
        files = read_manifest(self._folder)
        self._import("agents", self._write_agent)
        self._import("namespaces", self._open_namespace)
        for name in sorted(each for each in files if each.startswith("entries")):
            self._write_entries(self._folder / f"{name}.jsonl")
        self._import("facts", self._write_fact)
        self._import("namespaces", self._write_namespace)
        self._import("conversations", self._write_conversation)
        self._import("states", self._write_state)
        self._import("procedures", self._write_workflow)
        self._import("spaces", self._write_space)
        self._import("objects", self._write_object)
        for what, count in sorted(self._left_out.items()):
            note(f"{count:,} {what}")

    def _import(self, name: str, write: Callable[[Document], None]) -> None:
        with Progress(f"import {name}") as progress:
            for count, document in enumerate(read_documents(self._folder / f"{name}.jsonl"), 1):
                if self._has_expired(document.get("expires_at")):
                    continue
                try:
                    write(document)
                except AgentMemoryError as error:
                    if name in _PRIVATE and isinstance(error, MemoryAccessError):
                        self._left_out[f"{name} were left out: no given key may write them"] += 1
                        continue
                    said = f"{name}, line {count}: {render_message(error)}"
                    raise Failure(said, to_exit_code(error)) from error
                self.counts[name] = count
                progress.reached(count, None)

    def _write_entries(self, file: Path) -> None:
        """Write the entries of a file, private ones by their owners' keys."""
        with file.open("rb") as source, Progress(f"import {file.stem}") as progress:
            wanted = filter(self._can_write, read_lines(source, note))
            for owner, lines in groupby(wanted, _find_owner):
                client = self._get_client(owner)
                run = Import(client, self._policy, self._now, self._renaming.note)
                try:
                    run.run(lines, lambda: progress.reached(self.counts["entries"], None))
                finally:
                    self.counts["entries"] += run.counts.total()

    def _can_write(self, line: Line) -> bool:
        owner = _find_owner(line)
        if line.is_of_task:
            self._left_out["entries of tasks were left out: tasks are not imported"] += 1
        elif owner is not None and owner not in self._owners:
            what = f"private entries of {owner} were left out: import them --with its key"
            self._left_out[what] += 1
        else:
            return True
        return False

    def _write_agent(self, document: Document) -> None:
        episodic, working = document["episodic"], document["working"]
        self._client.agents.configure(
            document["agent_id"],
            capacity=episodic["capacity"],
            pinned_namespaces=episodic["pinned_namespaces"],
            max_entries=working["max_entries"],
            max_total_size_kb=working["max_total_size_kb"],
        )

    def _open_namespace(self, document: Document) -> None:
        """Give the importing principal access, which `_write_namespace` removes."""
        name, owner = document["namespace"], _parse_owner(document["namespace"])
        if not name.endswith("*") and (owner is None or owner in self._owners):
            namespaces = self._get_client(owner).namespaces
            if owner is None:
                namespaces.set_permissions(name, allow={self._me: "admin"})
            if document.get("search_fields"):
                namespaces.set_search_fields(name, document["search_fields"])

    def _write_namespace(self, document: Document) -> None:
        name, permissions = document["namespace"], document["permissions"]
        allow, owner = _list_access(permissions), _parse_owner(name)
        if owner is not None:
            if owner in self._owners:
                own = self._owners[owner].namespaces
                own.set_permissions(name, default=permissions["default"], allow=allow)
            else:
                note(f"the permissions of {name}: left out; give the key of {owner}")
            return
        if self._me not in allow and not name.endswith("*"):
            # `none` excludes a principal if the default gives access, otherwise it removes it from
            # the list. So the default is `none`, too, in this step.
            closed: dict[str, NamespaceAccess] = {self._me: "none"}
            self._client.namespaces.set_permissions(name, default="none", allow=closed)
        self._client.namespaces.set_permissions(name, default=permissions["default"], allow=allow)

    def _write_conversation(self, document: Document) -> None:
        """Write a conversation as its creator if its key is given, unless it exists."""
        fields: Any = _select(document, _CONVERSATION)
        messages = [self._build_message(each) for each in document["messages"]]
        conversations = self._get_client(document["created_by"]).conversations
        session, user = document["session_id"], document["user_id"]
        try:
            conversations.put(session, user, messages, revision=0, **fields)
        except MemoryConflictError:
            note(f"the conversation {session} exists and was not changed")

    def _build_message(self, message: Document) -> Document:
        body = {"content": None, **_select(message, _MESSAGE)}
        if "uses" in body:
            body["uses"] = self._renaming.rename(body["uses"])
        return body

    def _write_state(self, document: Document) -> None:
        states = self._get_client(document["agent_id"]).states
        name = document["agent_id"], document["owner_id"], document["key"]
        if states.get(*name) is None:
            states.put(*name, document["value"], sensitivity=document.get("sensitivity"))

    def _write_fact(self, document: Document) -> None:
        body = _select(document, _FACT)
        key = sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
        headers = {"Idempotency-Key": key}
        clients = [self._get_client(document["learned_by"]), *self._owners.values()]
        for client in clients:
            try:
                client.request("POST", "/api/v1/facts", json=body, headers=headers)
                return
            except MemoryAccessError:
                if client is clients[-1]:
                    raise

    def _write_workflow(self, document: Document) -> None:
        name = document["agent_type"], document["task_type"], document["workflow_id"]
        procedures = self._client.procedures
        if procedures.get(*name) is None:
            learned: Any = _select(document, _LEARNED)
            spec, half_life = document.get("spec"), document.get("half_life")
            procedures.put(*name, spec, half_life=half_life, learned=learned)

    def _write_space(self, document: Document) -> None:
        """Create a space as its owner; without the owner's key, the owner gets `admin` access."""
        owner, permissions = document["owner"], document["permissions"]
        access = _list_access(permissions)
        if self._is_closed(document):
            note(f"the private space {document['space']}: left out; give the key of {owner}")
            return
        if owner not in self._owners:
            access[owner] = "admin"
        objects = self._get_client(owner).objects
        objects.share(document["space"], access, default=permissions["default"])

    def _is_closed(self, document: Document) -> bool:
        """Tell whether a space is another principal's private one, whose key is not given."""
        is_private = document["space"].startswith("agents/")
        return is_private and document["owner"] not in (*self._owners, self._me)

    def _write_object(self, document: Document) -> None:
        if self._is_closed(document):
            return
        expires = document["expires_at"]
        lasts = None
        if expires is not None and self._now is not None:
            lasts = datetime.fromisoformat(expires) - self._now
        objects = self._get_client(document["owner"]).objects
        data = base64.b64decode(document["data"])
        options: Any = _select(document, ("content_type", "metadata", "sensitivity"))
        try:
            objects.put(
                document["space"], document["key"], data, ttl=lasts, only_new=True, **options
            )
        except MemoryConflictError:
            note(f"the object {document['space']}/{document['key']} exists and was not changed")

    def _get_client(self, owner: str | None) -> Client:
        return self._owners.get(owner or self._me, self._client)

    def _has_expired(self, moment: str | None) -> bool:
        if moment is None or self._now is None:
            return False
        return datetime.fromisoformat(moment) <= self._now


def _assert_same_tenant(client: Client, other: Client) -> None:
    servers = {each.settings.server_url for each in (client, other)}
    tenants = {each.principals.cached_me().tenant for each in (client, other)}
    if len(servers) + len(tenants) > 2:
        id = other.principals.cached_me().id
        raise UsageFailure(f"the key of {id} is of another tenant or server than the import's")


def _find_owner(line: Line) -> str | None:
    """Find the owner of private memory, or of an agent's own namespace; None for shared memory."""
    return line.body["agent_id"] if line.names_owner else _parse_owner(line.body["namespace"])


def _parse_owner(namespace: str) -> str | None:
    """Parse the agent that owns a namespace from its name."""
    root, _, rest = namespace.partition("/")
    agent, slash, _ = rest.partition("/")
    return unquote(agent) if root == "agents" and agent and slash else None


def _list_access(permissions: Mapping[str, Any]) -> dict[str, NamespaceAccess]:
    return {each["agent"]: each["access"] for each in permissions["allow"]}


def _select(document: Mapping[str, Any], names: Iterable[str]) -> Document:
    """Select these fields of the document, without null."""
    return {name: document[name] for name in names if document.get(name) is not None}
