"""Carries out plans, and turns what stood in the way into knowledge or into the caller's error."""

from dataclasses import replace

from functions.entries.departures import departures
from functions.entries.items import EntryItems
from functions.entries.model import Entry
from functions.entries.pins import pinned
from functions.entries.plan import Plan, taken_from
from functions.entries.refusals import (
    assert_room,
    assert_working_fits,
    mismatch,
    refuse_if_all_pinned,
)
from functions.entries.store import EntryStore
from functions.entries.writes import Tally, Transition, agent_tallies, task_tallies
from functions.namespaces.rules import allows
from functions.namespaces.store import namespace_from_item
from functions.platform import entry_keys, keys, task_keys
from functions.platform.errors import (
    AccessDenied,
    EntryExists,
    EntryNotFound,
    ServiceError,
)
from functions.platform.idempotency import RequestToken
from functions.platform.items import Item
from functions.platform.limits import DEFAULT_EPISODIC_ENTRIES
from functions.platform.retry import Backoff
from functions.platform.table import Refused, Table
from functions.tasks.items import task_of

_ATTEMPTS = 100  # of which many are needed only where many writers evict at once
_REMEMBERED = 10_000
_MOST_EVICTED = 20  # by one create; what a lowered capacity leaves over, the schedule takes


class Replayed(Exception):
    """The request was carried out before; `entries` are as it left them."""

    def __init__(self, entries: list[Entry]) -> None:
        super().__init__("already carried out")
        self.entries = entries


class EntryWriter:
    """The one way by which entries change."""

    def __init__(self, table: Table, items: EntryItems, store: EntryStore) -> None:
        self._table = table
        self._items = items
        self._store = store
        self._full: set[tuple[str, str]] = set()  # agents that were at capacity when last seen

    def commit(self, plan: Plan, token: RequestToken) -> tuple[Transition, ...]:
        """Carries out a plan, all or nothing; the steps as they were taken in the end.

        Raises:
            Replayed: this very request was carried out before.
            ServiceError: with `index`, the place in the request of what failed first.
        """
        plan = self._expecting_full(plan)
        backoff = Backoff("others are writing the same things", attempts=_ATTEMPTS)
        while True:
            try:
                self._table.transact(plan.writes(self._items))
                self._remember(plan)
                return plan.steps
            except Refused as refused:
                plan = self._learn(plan, refused.failed, token)
                backoff.wait()

    def _expecting_full(self, plan: Plan) -> Plan:
        """Evicts at the first attempt where that was needed last time; a wrong guess is refused."""
        for agent, tally in agent_tallies(plan.steps).items():
            if tally.episodic > 0 and (plan.caller.tenant, agent) in self._full:
                return self._making_room(plan, agent, tally.episodic, {"ep_room": 0})
        return plan

    def _remember(self, plan: Plan) -> None:
        agent = (plan.caller.tenant, plan.caller.id)
        if plan.making_room and len(self._full) < _REMEMBERED:
            self._full.add(agent)
        elif agent in self._full and any(s.new and s.new.tier == "episodic" for s in plan.steps):
            self._full.discard(agent)

    def _learn(self, plan: Plan, failed: dict[keys.Key, Item | None], token: RequestToken) -> Plan:
        plan = self._learn_slots(plan, failed, token)
        for place, item in failed.items():
            plan = _learn_namespace(plan, place, item)
            plan = self._learn_tasks(plan, place, item)
            self._assert_intents(plan, place)
            plan = self._learn_capacity(plan, place, item)
        return plan

    def _learn_slots(
        self, plan: Plan, failed: dict[keys.Key, Item | None], token: RequestToken
    ) -> Plan:
        replays: list[Entry] = []
        refusals: list[ServiceError] = []
        for step in plan.steps:
            if step.place not in failed:
                continue
            item = failed[step.place]
            taken = taken_from(item, step, self._items, plan.now)
            if taken is not None:
                plan = plan.taking(step, taken)
            elif item is not None and token.wrote(item.get("req")):
                replays.append(self._items.entry_of(item))
            else:
                refusals.append(self._refusal(step, item))
        if len(replays) == len(plan.steps):
            raise Replayed(replays)
        if refusals:
            raise refusals[0]
        if replays:
            raise EntryExists("this request was carried out before; what it wrote has changed")
        return plan

    def _refusal(self, step: Transition, item: Item | None) -> ServiceError:
        if item is None or (step.old is not None and item["nonce"] != step.old.nonce):
            return EntryNotFound().at(step.index)
        present = self._items.entry_of(item)
        if step.old is not None:
            return mismatch(present).at(step.index)
        message = "the slot is taken; PATCH the entry that stands there"
        return EntryExists(message, current=present, version=present.version).at(step.index)

    def _learn_tasks(self, plan: Plan, place: keys.Key, item: Item | None) -> Plan:
        tenant = plan.caller.tenant
        scopes = plan.new_scopes()
        tallies = task_tallies(plan.steps)
        for task_id in tallies.keys() | scopes.keys():
            if task_keys.build_task_key(tenant, task_id) != place:
                continue
            if item is None:
                return replace(plan, unregistered=plan.unregistered | {task_id})
            if task_id in plan.unregistered:
                return replace(plan, unregistered=plan.unregistered - {task_id})
            step = scopes.get(task_id)
            tally = tallies.get(task_id, Tally())
            with_index = _first_with_task(plan, task_id)
            assert_room(plan, task_of(item), step, tally, with_index)
            return replace(plan, unjoined=plan.unjoined | {task_id})
        return plan

    def _assert_intents(self, plan: Plan, place: keys.Key) -> None:
        for step in plan.steps:
            intent = step.either.intent
            if (
                intent is not None
                and task_keys.build_intent_key(plan.caller.tenant, intent) == place
            ):
                message = "this intent belongs to somebody else; ask its owner"
                raise AccessDenied(message).at(step.index)

    def _learn_capacity(self, plan: Plan, place: keys.Key, item: Item | None) -> Plan:
        victims = {step.place for step in plan.making_room}
        for agent, tally in agent_tallies(plan.steps).items():
            if place in victims:  # somebody was quicker, or it was read or written
                return self._making_room(plan, agent, tally.episodic, {"ep_room": plan.seen_room})
            if entry_keys.build_agent_key(plan.caller.tenant, agent) != place:
                continue
            counters = item or {}
            assert_working_fits(tally, counters, plan.steps[0].index)
            plan = pinned(plan, agent, counters)
            return self._making_room(plan, agent, tally.episodic, counters)
        return plan

    def _making_room(self, plan: Plan, agent: str, more: int, counters: Item) -> Plan:
        """The plan with as many entries going as must, expired ones first (RFC-0015 §2.2)."""
        room = counters.get("ep_room", DEFAULT_EPISODIC_ENTRIES)
        if room >= more:
            return replace(plan, making_room=(), seen_room=None)
        tenant, needed = plan.caller.tenant, min(more - room, more + _MOST_EVICTED)
        places = {step.place for step in plan.steps}
        going = departures(
            self._store, tenant, agent, plan.now, needed, _MOST_EVICTED, staying=places
        )
        if len(going) < min(more, needed):
            refuse_if_all_pinned(counters, plan.steps[0].index)
            return replace(plan, making_room=(), seen_room=None)
        return replace(plan, making_room=going, seen_room=room)


def _learn_namespace(plan: Plan, place: keys.Key, item: Item | None) -> Plan:
    """Somebody was quicker to configure a namespace; that may well have been the caller."""
    if place not in plan.along:
        return plan
    if item is not None and not allows(plan.caller, namespace_from_item(item), "write"):
        raise AccessDenied("somebody else has just configured this namespace")
    along = {key: write for key, write in plan.along.items() if key != place}
    return replace(plan, along=along)


def _first_with_task(plan: Plan, task: str) -> int:
    return next(step.index for step in plan.steps if step.either.task == task)
