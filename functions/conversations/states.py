"""Use cases of agents' states: any JSON value under (agent, owner, key) (AMP §3, §4.2)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from functions.conversations.model import State, StateAddress
from functions.conversations.rules import assert_may_write_state, may_read_state
from functions.conversations.state_store import StateChanged, StateStore
from functions.identity.model import Principal
from functions.platform.clock import Clock
from functions.platform.errors import AccessDenied, NotFound, VersionMismatch
from functions.platform.json_text import dumps_checked
from functions.platform.limits import MAX_STATE_BYTES
from functions.platform.retry import Backoff

if TYPE_CHECKING:
    from functions.conversations.requests import NewState

_BUSY = "others are writing this state"


class States:
    """The states of a caller's tenant; `version` is what If-Match names.

    Methods that write raise `AccessDenied` where the state is another agent's or somebody else made
    it, `NotFound` where If-Match names a version of none, and `VersionMismatch` where it names
    another version than the present one.
    """

    def __init__(self, store: StateStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def put(
        self, caller: Principal, address: StateAddress, new: NewState, version: int | None
    ) -> State:
        """Store a state in place of the one before it.

        Raises:
            ValueTooLarge: the value has over 65,536 bytes of compact JSON.
        """
        text, backoff = dumps_checked(new.value, "value", MAX_STATE_BYTES), Backoff(_BUSY)
        while True:
            old, now = self._get_writable(caller, address, version), self._clock()
            state = State(
                address=address,
                value=text,
                version=1 if old is None else old.version + 1,
                created=now if old is None else old.created,
                updated=now,
                author=caller.id if old is None else old.author,
                sensitivity=new.sensitivity,
            )
            try:
                self._store.replace(caller.tenant, old, state)
            except StateChanged:
                backoff.wait()
            else:
                return state

    def get(self, caller: Principal, address: StateAddress) -> State:
        """Get one state: one read.

        Raises:
            NotFound: there is none.
            AccessDenied: the caller may not read it.
        """
        state = self._store.get(caller.tenant, address)
        if state is None:
            raise _not_found()
        if not may_read_state(caller, state):
            raise AccessDenied("this state is neither yours nor about you")
        return state

    def list_for_owner(self, caller: Principal, agent: str, owner: str) -> Iterator[State]:
        """List all of an agent's states for an owner that the caller may read."""
        states = self._store.list_for_owner(caller.tenant, agent, owner)
        return (state for state in states if may_read_state(caller, state))

    def delete(self, caller: Principal, address: StateAddress, version: int | None) -> None:
        """Delete a state.

        Raises:
            NotFound: there is none.
        """
        backoff = Backoff(_BUSY)
        while True:
            old = self._get_writable(caller, address, version)
            if old is None:
                raise _not_found()
            try:
                self._store.delete(caller.tenant, old)
            except StateChanged:
                backoff.wait()
            else:
                return

    def _get_writable(
        self, caller: Principal, address: StateAddress, version: int | None
    ) -> State | None:
        old = self._store.get(caller.tenant, address)
        assert_may_write_state(caller, address, old)
        if version is not None and old is None:
            raise _not_found()
        if version is not None and old is not None and version != old.version:
            raise VersionMismatch(
                f"the state is at version {old.version}; read it and try again",
                version=old.version,
            )
        return old


def _not_found() -> NotFound:
    return NotFound("this agent has no state under this owner and key")
