"""Use cases of agents' states: any JSON value under (agent, owner, key) (AMP §3, §4.2)."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice

from functions.audit.service import AuditTrail
from functions.authorization.rules import Action, authorize, is_allowed
from functions.conversations.authority import CHANGE_STATE, DELETE_STATE, READ_STATE
from functions.conversations.model import State, StateAddress
from functions.conversations.requests import NewState
from functions.conversations.state_store import StateStore, decode_head, get_position
from functions.identity.model import Principal
from functions.platform.bounded_pages import WHOLE, WantedPage
from functions.platform.clock import Clock
from functions.platform.errors import NotFound, VersionMismatch
from functions.platform.idempotency import RequestToken
from functions.platform.items import Item
from functions.platform.json_text import dumps_checked
from functions.platform.limits import MAX_STATE_BYTES
from functions.platform.retry import retry_on
from functions.platform.staging import PartsMissing
from functions.platform.table import ConditionFailed
from functions.platform.writes import Write

_BUSY, _ATTEMPTS = "others are writing this state", 30


class States:
    """The states of a caller's tenant; `version` is what If-Match names.

    Methods that write raise `AccessDenied` if the caller may not do it, `NotFound` if If-Match
    names a version and there is no state, and `VersionMismatch` if it names another version.
    """

    def __init__(self, store: StateStore, audit: AuditTrail, clock: Clock) -> None:
        self._store = store
        self._audit = audit
        self._clock = clock

    @retry_on(ConditionFailed, _BUSY, attempts=_ATTEMPTS)
    def put(
        self,
        caller: Principal,
        address: StateAddress,
        new: NewState,
        version: int | None,
        token: RequestToken | None,
    ) -> State:
        """Create or replace a state.

        Args:
            version: what If-Match names; 0 demands that there is none.

        Raises:
            ValueTooLarge: the value is too large.
        """
        authorize(caller, CHANGE_STATE, address)
        text = dumps_checked(new.value, "value", MAX_STATE_BYTES)
        old, now = self._store.get_item(caller.tenant, address), self._clock()
        if old is not None and token is not None and token.matches(old.get("request")):
            return self._store.get(caller.tenant, address) or decode_head(old)
        _assert_version(old, version)
        present = None if old is None else decode_head(old)
        state = State(
            address=address,
            value=text,
            version=1 if present is None else present.version + 1,
            created_at=now if present is None else present.created_at,
            updated_at=now,
            created_by=caller.id if old is None else old["created_by"],
            sensitivity=new.sensitivity,
            request=None if token is None else token.stored,
        )
        records = [] if old is None else self._record(caller, CHANGE_STATE, old)
        self._store.replace(caller.tenant, old, state, now, records)
        return state

    def get(self, caller: Principal, address: StateAddress) -> State:
        """Get one state: one read, and one call more if it is large.

        Raises:
            NotFound: there is none.
            AccessDenied: the caller may not read it.
        """
        authorize(caller, READ_STATE, address)
        state = self._store.get(caller.tenant, address)
        if state is None:
            raise _not_found()
        return state

    def list_page(
        self, caller: Principal, agent: str, owner: str, wanted: WantedPage, *, has_values: bool
    ) -> tuple[Iterator[tuple[str, State]], int | None]:
        """List an agent's states for an owner, if the caller may read them; and count them.

        The last updated come first, each with its position. Counted states are all read, strongly
        consistent; else as many as are taken are read from an index that may lag.
        """
        total, after = 0 if wanted.is_counted else None, wanted.after
        found: Iterable[Item] = ()
        if self.can_read(caller, agent, owner):
            found = self._store.list_all(caller.tenant, agent, owner, wanted)
        if wanted.is_counted:
            items = list(found)
            total = len(items)
            found = (item for item in items if after is None or get_position(item) < after)
        shown = islice(found, wanted.offset, None)
        return self._load_each(caller.tenant, shown, has_values=has_values), total

    def list_of_agent(
        self, caller: Principal, agent: str, wanted: WantedPage, *, has_values: bool
    ) -> Iterator[tuple[str, State]]:
        """List an agent's states that the caller may read, owner by owner: by an index.

        The agent gets the states of all owners, others get those that they own. Within an owner,
        the last updated come first. Each has its position.
        """
        owner = None if self.can_read(caller, agent, "") else caller.id
        found = self._store.list_all(caller.tenant, agent, owner, wanted)
        return self._load_each(caller.tenant, found, has_values=has_values)

    def can_read(self, caller: Principal, agent: str, owner: str) -> bool:
        """Tell whether the caller may read any agent's states for any owner."""
        return is_allowed(caller, READ_STATE, StateAddress(agent, owner, ""))

    def _load_each(
        self, tenant: str, items: Iterable[Item], *, has_values: bool
    ) -> Iterator[tuple[str, State]]:
        """Read states as they are taken; those that have just been deleted are left out."""
        for item in items:
            state = self._load(tenant, item) if has_values else decode_head(item)
            if state is not None:
                yield get_position(item), state

    def _load(self, tenant: str, item: Item) -> State | None:
        try:
            return self._store.decode(tenant, item)
        except PartsMissing:
            return self._store.get(tenant, decode_head(item).address)

    @retry_on(ConditionFailed, _BUSY, attempts=_ATTEMPTS)
    def delete(self, caller: Principal, address: StateAddress, version: int | None) -> None:
        """Delete a state.

        Raises:
            NotFound: there is none.
        """
        authorize(caller, DELETE_STATE, address)
        old = self._store.get_item(caller.tenant, address)
        if old is None:
            raise _not_found()
        _assert_version(old, version)
        records = self._record(caller, DELETE_STATE, old)
        self._store.delete(old, self._clock(), records)

    def delete_all(self, caller: Principal, agents: Iterable[str], owner: str) -> int:
        """Delete the states of some agents for an owner, as the owner may; return their number."""
        deleted = 0
        for agent in agents:
            for item in self._store.list_all(caller.tenant, agent, owner, WHOLE):
                with suppress(ConditionFailed):  # a changed state is found again
                    self._store.delete(item, self._clock())
                    deleted += 1
        return deleted

    def _record(self, caller: Principal, action: Action[StateAddress], old: Item) -> list[Write]:
        """Record what happens to a state that another principal has made."""
        address, before = decode_head(old).address, {"version": old["version"]}
        target = f"state:{address.agent_id}/{address.owner_id}/{address.key}"
        return self._audit.record_foreign(caller, old["created_by"], action, target, before)


def _assert_version(old: Item | None, version: int | None) -> None:
    if version is None:
        return
    if old is None:
        if version:
            raise _not_found()
    elif version != old["version"]:
        raise VersionMismatch.of("the state", old["version"])


def _not_found() -> NotFound:
    return NotFound("this agent has no state under this owner and key")
