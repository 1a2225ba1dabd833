"""`export DIR`: everything of a tenant that the given keys may read, a file for each subject.

A file is there as a whole or not at all, so an export that was cut off goes on with the next one
when it is started again. The last file, `manifest.json`, says that the export is whole.
"""

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

from agent_memory import Client
from agent_memory.cli.cursor import EntryCursor
from agent_memory.cli.failures import UsageFailure
from agent_memory.cli.output import note
from agent_memory.cli.private_files import replace_private
from agent_memory.cli.progress import Progress
from agent_memory.cli.text import render_json_line
from agent_memory.exceptions import MemoryAccessError

Document = Mapping[str, Any]
FORMAT = 1
MANIFEST = "manifest.json"
_PAGE = 1000


class TenantExport:
    """One run of an export.

    Args:
        clients: the first exports what the tenant shares; each exports what it alone may read.
        users: whose conversations and states are exported, beside those of the principals.
        folder: where the files are written.
    """

    def __init__(self, clients: list[Client], users: list[str], folder: Path) -> None:
        self._clients = clients
        self._first = clients[0]
        self._users = users
        self._folder = folder
        self._counts: dict[str, int] = {}

    def run(self) -> dict[str, int]:
        """Write what isn't there yet; return how much each file has.

        Raises:
            UsageFailure: the folder can't be written, or holds a whole export.
        """
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if (self._folder / MANIFEST).exists():
                raise UsageFailure(f"{self._folder} holds a whole export; name another folder")
            for name, documents in self._list_subjects():
                self._write(name, documents)
            manifest = {"format": FORMAT, "files": self._counts}
            replace_private(self._folder / MANIFEST, [render_json_line(manifest)])
        except OSError as error:
            raise UsageFailure(f"can't write {self._folder}: {error.strerror}") from error
        return self._counts

    def _list_subjects(self) -> Iterator[tuple[str, Callable[[], Iterable[Document]]]]:
        """Yield the files in the order in which an import reads them."""
        yield "principals", lambda: self._list_admin("/api/v1/principals", "principals")
        yield "agents", self._read_agents
        yield "namespaces", lambda: (each.raw for each in self._first.namespaces.list())
        yield "intents", lambda: (each.raw for each in self._first.intents.list())
        yield "acls", self._read_acls
        yield "tasks", self._read_tasks
        for client in self._clients:
            yield f"entries-{_name_file(client)}", partial(EntryCursor, client, {})
        yield "conversations", self._read_conversations
        yield "states", self._read_states
        yield "facts", lambda: reversed([each.raw for each in self._first.facts.query()])
        yield "runs", self._read_runs
        yield "objects", self._read_objects

    def _write(self, name: str, documents: Callable[[], Iterable[Document]]) -> None:
        file = self._folder / f"{name}.jsonl"
        if file.exists():
            with file.open("rb") as opened:
                self._counts[name] = sum(1 for _ in opened)
            return
        count = 0

        def lines() -> Iterator[str]:
            nonlocal count
            with Progress(f"export {name}") as progress:
                for count, document in enumerate(documents(), 1):
                    progress.reached(count, None)
                    yield render_json_line(document)

        replace_private(file, lines())
        self._counts[name] = count

    def _list_admin(self, path: str, member: str) -> Iterator[Document]:
        """Yield what only `memory.admin` may list; nothing without it, which is said."""
        try:
            yield from list_documents(self._first, path, member)
        except MemoryAccessError:
            note(f"{member} are left out: the key lacks memory.admin")

    def _read_agents(self) -> Iterator[Document]:
        for agent in self._first.agents.list():
            try:
                yield self._first.agents.get_settings(agent.agent_id).raw
            except MemoryAccessError:
                continue

    def _read_acls(self) -> Iterator[Document]:
        for intent in self._first.intents.list():
            try:
                yield self._first.intents.get_acl(intent.intent_id).raw
            except MemoryAccessError:
                continue

    def _read_tasks(self) -> Iterator[Document]:
        """Yield each task that one of the keys may read, with its grants; parents first."""
        found: dict[str, Document] = {}
        for client in self._clients:
            for intent in client.intents.list():
                for task in client.tasks.list(intent.intent_id):
                    found.setdefault(task.id, {**task.raw, "grants": _read_grants(client, task.id)})
        yield from sorted(found.values(), key=lambda task: (task["created_at"], task["id"]))

    def _read_conversations(self) -> Iterator[Document]:
        for client, head in self._each_once(
            "session_id",
            lambda client, user: (each.raw for each in client.conversations.list(user)),
        ):
            said = client.conversations.list_messages(head["session_id"])
            messages = [each.raw for each in said]
            yield {**head, "messages": messages}

    def _read_states(self) -> Iterator[Document]:
        agents = sorted({client.principals.me().id for client in self._clients})
        for client in self._clients:
            for agent in agents:
                for owner in self._list_users():
                    try:
                        states = client.states.get_all(agent, owner)
                    except MemoryAccessError:
                        continue
                    for key, value in states.items():
                        yield {"agent_id": agent, "owner_id": owner, "key": key, "value": value}

    def _each_once(
        self, name: str, find: Callable[[Client, str], Iterable[Document]]
    ) -> Iterator[tuple[Client, Document]]:
        """Yield what the keys find of the users, with a key that found it, once for its name."""
        seen = set()
        for client in self._clients:
            for user in self._list_users():
                for document in find(client, user):
                    if document[name] not in seen:
                        seen.add(document[name])
                        yield client, document

    def _list_users(self) -> list[str]:
        own = [client.principals.me().id for client in self._clients]
        return list(dict.fromkeys([*own, *self._users]))

    def _read_runs(self) -> Iterator[Document]:
        """Yield the runs, oldest first, each with its episodes, oldest first."""
        for run in reversed(list(self._first.runs.query())):
            whole = self._first.runs.get(run.id).raw
            episodes = [each.raw for each in self._first.runs.list_episodes(run.id)]
            yield {**whole, "episodes": episodes[::-1]}

    def _read_objects(self) -> Iterator[Document]:
        """Yield the objects with their bytes, each space once."""
        seen = set()
        for client in self._clients:
            for space in client.objects.list_spaces():
                if space.space not in seen:
                    seen.add(space.space)
                    yield from self._read_space(client, space.raw)

    def _read_space(self, client: Client, space: Document) -> Iterator[Document]:
        for each in client.objects.list(space["space"]):
            found = client.objects.get(space["space"], each.key)
            if found is not None:
                yield {
                    **each.raw,
                    "owner": space["owner"],
                    "data": base64.b64encode(found.data).decode(),
                }
        yield {
            "space": space["space"],
            "owner": space["owner"],
            "permissions": space["permissions"],
        }


def list_documents(client: Client, path: str, member: str) -> Iterator[Document]:
    """Yield the documents of a list, page by page."""
    asked: dict[str, Any] | None = {"limit": _PAGE}
    while asked is not None:
        page = client.request("GET", path, params=asked).json()
        if isinstance(page, list):
            yield from page
            return
        yield from page[member]
        asked = {**asked, "after": page["next"]} if page.get("next") else None


def _read_grants(client: Client, task_id: str) -> list[dict[str, Any]]:
    try:
        return [dict(each.raw) for each in client.tasks.list_grants(task_id)]
    except MemoryAccessError:
        return []


def _name_file(client: Client) -> str:
    """Return a principal's id as a part of a file's name."""
    id = client.principals.me().id
    safe = quote(id, safe="")
    return safe if len(safe) <= 100 else sha256(json.dumps(id).encode()).hexdigest()
