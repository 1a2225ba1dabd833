"""What belongs to single principals: conversations, states, objects, OpenWOP's memories."""

import base64
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from agent_memory import Client
from agent_memory.cli.spool import Spool
from agent_memory.exceptions import MemoryAccessError
from agent_memory.model import Space
from agent_memory.openwop import MemoryAdapter, RunState
from agent_memory.page import Paging

Document = Mapping[str, Any]
_ALL: Paging = {"page_size": 1000}


class PrivateReader:
    """Reads what each of some keys may read.

    Args:
        clients: the keys.
        users: whose conversations and states are read, beside those of the principals.
    """

    def __init__(self, clients: list[Client], users: list[str]) -> None:
        self._clients = clients
        self._users = users

    def read_conversations(self) -> Iterator[Document]:
        """Yield each conversation once, with its messages."""
        seen: set[str] = set()
        for client in self._clients:
            for user in self._list_users():
                for head in Spool(each.raw for each in client.conversations.list(user, **_ALL)):
                    if head["session_id"] not in seen:
                        seen.add(head["session_id"])
                        yield client.conversations.get(head["session_id"]).raw

    def read_states(self) -> Iterator[Document]:
        """Yield the states of the keys' agents and agent types, each once."""
        seen = set()
        principals = [client.principals.cached_me() for client in self._clients]
        named = {each.id for each in principals} | {each.agent_type for each in principals}
        for client in self._clients:
            for agent in sorted(name for name in named if name):
                for owner in self._list_users():
                    for state in _list_states(client, agent, owner):
                        slot = (agent, owner, state["key"])
                        if slot not in seen:
                            seen.add(slot)
                            yield state

    def read_spaces(self) -> Iterator[Document]:
        """Yield the spaces with their permissions, each once."""
        return self._read_spaces(lambda _, space: iter([space.raw]))

    def read_objects(self) -> Iterator[Document]:
        """Yield the objects of all spaces with their bytes."""
        return self._read_spaces(_read_objects)

    def _read_spaces(
        self, read: Callable[[Client, Space], Iterator[Document]]
    ) -> Iterator[Document]:
        return self._read_each(
            lambda client: client.objects.list_spaces(**_ALL), lambda space: space.space, read
        )

    def read_openwop(self) -> Iterator[Document]:
        """Yield the entries of the memories that the keys' runs are on, each memory once.

        It is read by a key whose runs have named it, if there is one: that key's principal finds it
        under the same name elsewhere.
        """
        found: dict[str, tuple[Client, RunState]] = {}
        for client in self._clients:
            for run in MemoryAdapter(client).list_runs(**_ALL):
                for reference in run.memory_refs:
                    known = found.setdefault(reference, (client, run))
                    if known[1].agent is None and run.agent is not None:
                        found[reference] = client, run
        for reference, (client, run) in found.items():
            yield from _read_memory(client, reference, run)

    def _read_each(
        self,
        find: Callable[[Client], Iterable[Any]],
        name: Callable[[Any], str],
        read: Callable[[Client, Any], Iterator[Document]],
    ) -> Iterator[Document]:
        """Yield what is in the things that the keys find, each thing once."""
        seen: set[str] = set()
        for client in self._clients:
            for found in find(client):
                if name(found) not in seen:
                    seen.add(name(found))
                    yield from read(client, found)

    def _list_users(self) -> list[str]:
        own = [client.principals.cached_me().id for client in self._clients]
        return list(dict.fromkeys([*own, *self._users]))


def _list_states(client: Client, agent: str, owner: str) -> Iterator[Document]:
    if "/" in owner:
        return
    try:
        heads = client.states.list(agent, owner, **_ALL).list()
        values = client.states.get_all(agent, owner) if heads else {}
    except MemoryAccessError:
        return
    for head in reversed(heads):
        if head.key in values:
            value = {"agent_id": agent, "owner_id": owner, "value": values[head.key]}
            yield {**head.raw, **value}


def _read_objects(client: Client, space: Space) -> Iterator[Document]:
    for each in client.objects.list(space.space, **_ALL):
        found = client.objects.get(space.space, each.key)
        if found is not None:
            data = base64.b64encode(found.data).decode()
            yield {**each.raw, "owner": space.owner, "data": data}


def _read_memory(client: Client, reference: str, run: RunState) -> Iterator[Document]:
    """Yield a memory's entries, the oldest first."""
    owner = client.principals.cached_me().id
    for entry in MemoryAdapter(client).list(reference, **_ALL).list()[::-1]:
        yield {
            "memory_ref": reference,
            "owner": owner,
            "agent": run.agent,
            "scope": run.scope,
            "id": entry.id,
            "content": entry.content,
            "tags": list(entry.tags),
            "expires_at": entry.expires_at,
        }
