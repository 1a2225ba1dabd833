"""Agents' states: any JSON value under (agent, owner, key) (Agent Memory Protocol §3, §4.2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from functions.conversations.model import ENCRYPTED, Sensitivity
from functions.identity.model import Principal
from functions.platform import item_types
from functions.platform.clock import Clock
from functions.platform.conversation_keys import build_state_key, build_state_partition
from functions.platform.errors import AccessDenied, NotFound, VersionMismatch
from functions.platform.items import Item
from functions.platform.jsontext import bounded_json
from functions.platform.limits import MAX_STATE_BYTES
from functions.platform.retry import Backoff
from functions.platform.table import ConditionFailed, Refused, Table
from functions.platform.values import Values, pack
from functions.platform.writes import delete, put

if TYPE_CHECKING:
    from functions.conversations.requests import NewState

_ABSENT, _AS_SEEN = "attribute_not_exists(pk)", "version = :seen AND created = :created"


@dataclass(frozen=True, slots=True)
class Place:
    """Whose state it is, for whom, and under which key."""

    agent: str
    owner: str
    key: str


@dataclass(frozen=True, slots=True)
class State:
    """A state. Times are epoch ms; `value` is JSON text."""

    place: Place
    value: bytes
    version: int
    created: int
    updated: int
    author: str
    sensitivity: Sensitivity | None = None


class States:
    """The states of a caller's tenant.

    An agent writes its own; users and coordinators write for any agent. A state is read by its
    agent, its owner and who made it.
    """

    def __init__(self, table: Table, values: Values, clock: Clock) -> None:
        self._table = table
        self._values = values
        self._clock = clock

    def put(self, caller: Principal, place: Place, new: NewState, version: int | None) -> State:
        """Stores a state in place of the one before it.

        Raises:
            AccessDenied: it is another agent's, or somebody else made it.
            ValueTooLarge: over 65,536 bytes of compact JSON.
            VersionMismatch: If-Match names another version.
        """
        text = bounded_json(new.value, "value", MAX_STATE_BYTES)
        backoff = Backoff("others are writing this state")
        while True:
            old = self._writable(caller, place, version)
            state = self._next(caller, place, new, text, old)
            condition, seen = _as_seen(old)
            try:
                self._table.put(
                    put(_key(caller, place), self._item(caller, state), condition, **seen)
                )
                return state
            except ConditionFailed:
                backoff.wait()

    def _next(
        self, caller: Principal, place: Place, new: NewState, text: bytes, old: State | None
    ) -> State:
        now = self._clock()
        return State(
            place=place,
            value=text,
            version=1 if old is None else old.version + 1,
            created=now if old is None else old.created,
            updated=now,
            author=caller.id if old is None else old.author,
            sensitivity=new.sensitivity,
        )

    def get(self, caller: Principal, place: Place) -> State:
        """One state: one read.

        Raises:
            NotFound: there is none.
            AccessDenied: the caller may not read it.
        """
        item = self._table.get(_key(caller, place))
        if item is None:
            raise NotFound("this agent has no state under this owner and key")
        state = self._state(caller, item)
        if not _may_read(caller, state):
            raise AccessDenied("this state is neither yours nor about you")
        return state

    def of_owner(self, caller: Principal, agent: str, owner: str) -> Iterator[State]:
        """All of an agent's states for an owner that the caller may read: a call per megabyte."""
        items = self._table.query(
            build_state_partition(caller.tenant, agent, owner), item_types.STATE.sort_prefix
        )
        for item in items:
            state = self._state(caller, item)
            if _may_read(caller, state):
                yield state

    def delete(self, caller: Principal, place: Place, version: int | None) -> None:
        """Removes a state.

        Raises:
            NotFound, AccessDenied, VersionMismatch: as they say.
        """
        backoff = Backoff("others are writing this state")
        while True:
            old = self._writable(caller, place, version)
            if old is None:
                raise NotFound("this agent has no state under this owner and key")
            condition, seen = _as_seen(old)
            try:
                self._table.transact([delete(_key(caller, place), condition, **seen)])
                return
            except Refused:
                backoff.wait()

    def _writable(self, caller: Principal, place: Place, version: int | None) -> State | None:
        item = self._table.get(_key(caller, place))
        old = None if item is None else self._state(caller, item)
        if caller.id != place.agent and not caller.may_coordinate:
            raise AccessDenied("an agent writes its own states alone")
        if old is not None and caller.id not in (place.agent, old.author):
            raise AccessDenied("somebody else made this state")
        if version is not None and (old is None or version != old.version):
            if old is None:
                raise NotFound("this agent has no state under this owner and key")
            raise VersionMismatch(
                f"the state is at version {old.version}; read it and try again",
                version=old.version,
            )
        return old

    def _item(self, caller: Principal, state: State) -> Item:
        place = state.place
        value: Item = {"val": pack(state.value)}
        if state.sensitivity in ENCRYPTED:
            bound = "#".join(_key(caller, place))
            value = self._values.sealed(state.value, caller.tenant, bound, state.version)
        return value | {
            "agent": place.agent,
            "for": place.owner,
            "name": place.key,
            "version": state.version,
            "created": state.created,
            "updated": state.updated,
            "author": state.author,
            "sens": state.sensitivity,
        }

    def _state(self, caller: Principal, item: Item) -> State:
        bound = f"{item['pk']}#{item['sk']}"
        return State(
            place=Place(item["agent"], item["for"], item["name"]),
            value=self._values.opened(item, caller.tenant, bound),
            version=item["version"],
            created=item["created"],
            updated=item["updated"],
            author=item["author"],
            sensitivity=item.get("sens"),
        )


def _key(caller: Principal, place: Place) -> tuple[str, str]:
    return build_state_key(caller.tenant, place.agent, place.owner, place.key)


def _as_seen(old: State | None) -> tuple[str, dict[str, int]]:
    if old is None:
        return _ABSENT, {}
    return _AS_SEEN, {"seen": old.version, "created": old.created}


def _may_read(caller: Principal, state: State) -> bool:
    return caller.id in (state.place.agent, state.place.owner, state.author)
