"""What belongs to single principals: conversations, states, objects, OpenWOP's memories."""

import base64
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from agent_memory import Client
from agent_memory.cli.output import note
from agent_memory.cli.spool import Spool
from agent_memory.cli.tenant.documents import list_unless_deleted
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
        users: whose states are read, beside those of the principals and of conversations' users.
    """

    def __init__(self, clients: list[Client], users: list[str]) -> None:
        self._clients = clients
        self._users = users

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

    def read_states(self) -> Iterator[Document]:
        """Yield the states of the keys' agents and agent types, each once."""
        seen, owners = set(), self._list_owners()
        principals = [client.principals.cached_me() for client in self._clients]
        agents = {each.id for each in principals} | {each.agent_type for each in principals}
        for client, me in zip(self._clients, principals, strict=True):
            for agent in sorted(filter(None, agents)):
                is_own = agent in (me.id, me.agent_type)
                for owner in owners if is_own else [me.id]:
                    for state in _list_states(client, agent, owner):
                        slot = (agent, owner, state["key"])
                        if slot not in seen:
                            seen.add(slot)
                            yield state

    def read_spaces(self) -> Iterator[Document]:
        """Yield the spaces with their permissions, each once."""
        return (space.raw for space in self._list_spaces())

    def read_objects(self) -> Iterator[Document]:
        """Yield the objects of all spaces with their bytes, read by a key that may."""
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

    def _list_owners(self) -> list[str]:
        """Return who may own states: no list of the service has all that do."""
        own = [client.principals.cached_me().id for client in self._clients]
        lists = (client.conversations.list(**_ALL) for client in self._clients)
        users = (each.user_id for heads in lists for each in heads)
        return list(dict.fromkeys([*own, *self._users, *users]))


def _read_conversation(client: Client, session_id: str) -> list[Document]:
    return [client.conversations.get(session_id).raw]


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


def _may_read(client: Client, space: Space) -> bool:
    try:
        client.objects.list(space.space, limit=1).list()
    except MemoryAccessError:
        return False
    return True


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
