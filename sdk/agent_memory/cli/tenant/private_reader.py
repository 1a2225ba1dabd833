"""Data of single principals: conversations, states, objects, OpenWOP's memories."""

import base64
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import chain
from operator import itemgetter
from typing import Any

from agent_memory import Client
from agent_memory.cli.output import note
from agent_memory.cli.spool import Spool
from agent_memory.cli.tenant.documents import list_unless_deleted
from agent_memory.exceptions import MemoryAccessError
from agent_memory.model import Space
from agent_memory.openwop import MemoryAdapter, OwnMemory
from agent_memory.page import Paging

Document = Mapping[str, Any]
_ALL: Paging = {"page_size": 1000}


class PrivateReader:
    """Reads the memory that any of the keys may read.

    Args:
        clients: the keys.
    """

    def __init__(self, clients: list[Client]) -> None:
        self._clients = clients

    def read_conversations(self) -> Iterator[Document]:
        """Yield each conversation once, with its messages."""
        seen: set[str] = set()
        for client in self._clients:
            for head in Spool(each.raw for each in client.conversations.list(**_ALL)):
                if head["session_id"] not in seen:
                    seen.add(head["session_id"])
                    yield from list_unless_deleted(
                        partial(_read_conversation, client, head["session_id"])
                    )

    def read_archived(self) -> Iterator[Document]:
        """Yield each archived conversation once, first expired first."""
        found: dict[tuple[str, str], Client] = {}
        for client in self._clients:
            for head in Spool(
                each.raw for each in client.conversations.list(archived=True, **_ALL)
            ):
                found.setdefault((head["expires_at"], head["session_id"]), client)
        for (expires_at, session_id), client in sorted(found.items(), key=itemgetter(0)):
            read = partial(_read_archived, client, session_id, expires_at)
            yield from list_unless_deleted(read)

    def read_states(self) -> Iterator[Document]:
        """Yield the states that the keys may read of the tenant's agents and types, each once."""
        seen: set[tuple[str, str, str]] = set()
        agents = self._list_agents()
        for client in self._clients:
            for agent in agents:
                for state in Spool(each.raw for each in client.states.list_all(agent, **_ALL)):
                    slot = (agent, state["owner_id"], state["key"])
                    if slot not in seen:
                        seen.add(slot)
                        yield state

    def _list_agents(self) -> list[str]:
        """Return the ids and types of the keys' principals, and of all that a key can list."""
        found = [client.principals.cached_me() for client in self._clients]
        with suppress(MemoryAccessError):
            found += self._clients[0].principals.list(**_ALL)
        named = chain.from_iterable((each.id, each.agent_type) for each in found)
        return list(dict.fromkeys(filter(None, named)))

    def read_facts(self) -> Iterator[Document]:
        """Yield the facts that a key may read, each once: those about users are not for all."""
        seen: set[str] = set()
        for client in self._clients:
            for fact in Spool(each.raw for each in client.facts.query(ended=True, **_ALL)):
                if fact["fact_id"] not in seen:
                    seen.add(fact["fact_id"])
                    yield fact

    def read_spaces(self) -> Iterator[Document]:
        """Yield the spaces with their permissions, each once."""
        return (space.raw for space in self._list_spaces())

    def read_objects(self) -> Iterator[Document]:
        """Yield the objects of all spaces with their bytes, read by a permitted key."""
        for space in self._list_spaces():
            client = next((each for each in self._clients if _may_read(each, space)), None)
            if client is None:
                note(f"the objects in {space.space}: left out, since no key may read them")
            else:
                yield from _read_objects(client, space)

    def _list_spaces(self) -> list[Space]:
        found = (each for client in self._clients for each in client.objects.list_spaces(**_ALL))
        return list({space.space: space for space in found}.values())

    def read_openwop(self) -> Iterator[Document]:
        """Yield the entries of the keys' memories, and of those that their runs are on, each once.

        A key reads its own memory, which its principal finds under the same name elsewhere.
        """
        found: dict[str, tuple[Client, OwnMemory | None]] = {}
        for client in self._clients:
            for memory in MemoryAdapter(client).list_memories(**_ALL).list()[::-1]:
                found.setdefault(memory.memory_ref, (client, memory))
        for client in self._clients:
            for run in MemoryAdapter(client).list_runs(**_ALL):
                for reference in run.memory_refs:
                    found.setdefault(reference, (client, None))
        for reference, (client, named) in found.items():
            yield from _read_memory(client, reference, named)


def _read_conversation(client: Client, session_id: str) -> list[Document]:
    return [client.conversations.get(session_id).raw]


def _read_archived(client: Client, session_id: str, expires_at: str) -> list[Document]:
    return [client.conversations.get_archived(session_id, expires_at=expires_at).raw]


def _may_read(client: Client, space: Space) -> bool:
    """Tell whether a key may read the objects of a space; an administrator lists more."""
    try:
        client.objects.get_many(space.space, ["-"])
    except MemoryAccessError:
        return False
    return True


def _read_objects(client: Client, space: Space) -> Iterator[Document]:
    for each in client.objects.list(space.space, **_ALL):
        found = client.objects.get(space.space, each.key)
        if found is not None:
            data = base64.b64encode(found.data).decode()
            yield {**each.raw, "owner": space.owner, "data": data}


def _read_memory(client: Client, reference: str, named: OwnMemory | None) -> Iterator[Document]:
    """Yield a memory's entries, oldest first; without a name if it is another principal's."""
    owner = client.principals.cached_me().id
    for entry in MemoryAdapter(client).list(reference, **_ALL).list()[::-1]:
        yield {
            "memory_ref": reference,
            "owner": owner,
            "agent_type": named and named.agent_type,
            "agent": named and named.agent,
            "scope": named and named.scope,
            "named_at": named and named.raw["createdAt"],
            "id": entry.id,
            "content": entry.content,
            "tags": list(entry.tags),
            "expires_at": entry.raw.get("expiresAt"),
        }
