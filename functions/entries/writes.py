"""The writes that carry entries from one state to the next: items, index rows and counters.

Everything is a transition: a create has no old entry, a delete no new one, and what takes the place
of an expired entry has both. Counters follow from the transitions, so they can't differ from them.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from typing import Literal

from functions.entries.items import EntryItems
from functions.entries.model import Entry
from functions.platform import entry_keys, keys
from functions.platform.entry_keys import EntryAddress
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.platform.lifetimes import ttl_seconds
from functions.platform.limits import DEFAULT_EPISODIC_ENTRIES, MAX_WORKING_ENTRIES, MAX_WORKING_KB
from functions.platform.schema import DUE_ATTRIBUTE as _DUE
from functions.platform.schema import DUE_SHARD_ATTRIBUTE as _SHARD
from functions.platform.schema import TTL_ATTRIBUTE
from functions.platform.writes import Write, delete, put, update

ABSENT = "attribute_not_exists(pk)"
NOTICE_KEPT = 86_400_000  # ms; change streams are kept as long
PROVEN_EVERY = 86_400_000  # ms; how long the counters of an agent go unproven at most
_SAME = "nonce = :nonce AND version = :version"


Reason = Literal["deleted", "evicted", "expired", "archived"]


@dataclass(frozen=True, slots=True)
class Transition:
    """One entry's step from `old` to `new`; `index` is its place in the request."""

    old: Entry | None
    new: Entry | None
    index: int = 0
    reason: Reason = "deleted"  # why the old one goes, if it does
    may_pin: bool = False  # the agent's settings decide whether the new one is pinned

    @property
    def either(self) -> Entry:
        if self.new is not None:
            return self.new
        if self.old is not None:
            return self.old
        raise ValueError("a step has an old entry, or a new one, or both")

    @property
    def place(self) -> Key:
        return self.either.place


@dataclass(slots=True)
class Tally:
    """What changes in an agent's or a task's counters; sizes in whole KB."""

    episodic: int = 0
    episodic_kb: int = 0
    pinned: int = 0
    working: int = 0
    working_kb: int = 0
    attached: int = 0  # entries of other tiers that end with the task
    created: bool = False
    unpinned: set[str] = field(default_factory=set)  # namespaces that must not be pinned ones

    def any(self) -> bool:
        return any(getattr(self, each.name) for each in fields(self))


def entry_write(items: EntryItems, step: Transition) -> Write:
    """The write of the entry's own item; the old state is its condition."""
    old, new = step.old, step.new
    if old is None:
        return put(step.place, items.item(step.either), ABSENT)
    if new is None:
        untouched = " AND recency = :recency" if step.reason == "evicted" else ""
        values: Item = {"recency": old.recency} if untouched else {}
        condition = _SAME + untouched
        return delete(old.place, condition, nonce=old.nonce, version=old.version, **values)
    return put(new.place, items.item(new), _SAME, nonce=old.nonce, version=old.version)


def notice_write(step: Transition, actor: str, now: int) -> Write | None:
    """What tells the change stream why an entry went; it is kept for a day."""
    old, new = step.old, step.new
    if old is None or (new is not None and new.nonce == old.nonce):
        return None
    reason = step.reason if new is None else "expired"
    notice: Item = {
        "reason": reason,
        "actor": actor,
        "happened": now,
        TTL_ATTRIBUTE: ttl_seconds(now + NOTICE_KEPT),
    }
    return put(entry_keys.build_tombstone_key(old.slot, old.nonce), notice)


def index_writes(step: Transition) -> Iterator[Write]:
    """The index rows of semantic memory that a step adds, changes and removes."""
    old, new = _rows(step.old), _rows(step.new)
    for key in old.keys() - new.keys():
        yield delete(key)
    for key, row in new.items():
        if old.get(key) != row:
            yield put(key, row)


def _rows(entry: Entry | None) -> dict[Key, Item]:
    if entry is None or entry.tier != "semantic":
        return {}
    row = {
        "agent_id": entry.agent,
        "updated": entry.updated,
        "ends": entry.expires,
        TTL_ATTRIBUTE: ttl_seconds(entry.expires),
        "task": entry.task,
        "intent": entry.intent,
    }
    return {
        entry_keys.build_index_row_key(entry.slot, entry.nonce, tag): row
        for tag in (None, *entry.tags)
    }


def task_tallies(steps: Iterable[Transition]) -> dict[str, Tally]:
    """What the steps change in the counters of tasks."""
    tallies: defaultdict[str, Tally] = defaultdict(Tally)
    for sign, entry, step in _signed(steps):
        if entry.task is not None and entry.attached:
            tally = tallies[entry.task]
            if entry.tier == "working":
                tally.working += sign
                tally.working_kb += sign * entry.kb
            else:
                tally.attached += sign
            tally.created |= sign > 0 and (step.old is None or step.old.nonce != entry.nonce)
    return {task: tally for task, tally in tallies.items() if tally.any()}


def agent_tallies(steps: Iterable[Transition]) -> dict[str, Tally]:
    """What the steps change in the counters of agents; tasks count their own."""
    tallies: defaultdict[str, Tally] = defaultdict(Tally)
    for sign, entry, step in _signed(steps):
        tally = tallies[entry.agent]
        if sign > 0 and step.may_pin and not entry.pinned:
            tally.unpinned.add(entry.namespace)
        if entry.tier == "episodic":
            tally.episodic += sign
            tally.episodic_kb += sign * entry.kb
            tally.pinned += sign * entry.pinned
        elif entry.tier == "working" and entry.task is None:
            tally.working += sign
            tally.working_kb += sign * entry.kb
    return {agent: tally for agent, tally in tallies.items() if tally.any()}


def _signed(steps: Iterable[Transition]) -> Iterator[tuple[int, Entry, Transition]]:
    for step in steps:
        if step.old is not None:
            yield -1, step.old, step
        if step.new is not None:
            yield 1, step.new, step


def agent_write(
    tenant: str, agent: str, tally: Tally, now: int, seen_room: int | None = None
) -> Write:
    """Changes an agent's counters; where they grow, the limit is the condition.

    An eviction was decided on `seen_room`, the room for episodic entries; it must be so still.
    The first change after a proof of the counters has them proven again a day later.
    """
    key = entry_keys.build_agent_key(tenant, agent)
    settings, conditions = ["agent_id = :agent"], []
    settings += [f"{name} = if_not_exists({name}, :{name})" for name in (_SHARD, _DUE)]
    values: Item = {"agent": agent, _SHARD: keys.get_due_shard(key[0]), _DUE: now + PROVEN_EVERY}
    if seen_room is not None:
        conditions.append("ep_room = :seen")
        values["seen"] = seen_room
    for name, more, room, most in (
        ("ep", tally.episodic, "ep_room", DEFAULT_EPISODIC_ENTRIES),
        ("wk", tally.working, "wk_room", MAX_WORKING_ENTRIES),
        ("wkkb", tally.working_kb, "wk_room_kb", MAX_WORKING_KB),
    ):
        if more:
            settings.append(f"{room} = if_not_exists({room}, :{name}_most) - :{name}")
            values |= {name: more, f"{name}_most": most}
        if more > 0 and (room != "ep_room" or seen_room is None):
            unused = f"attribute_not_exists({room}) AND :{name}_most >= :{name}"
            conditions.append(f"(({unused}) OR {room} >= :{name})")
    for number, namespace in enumerate(sorted(tally.unpinned)):
        conditions.append(f"NOT contains(ep_pins, :pin{number})")
        values[f"pin{number}"] = namespace
    added = {"changes": 1, "ep_kb": tally.episodic_kb, "ep_pinned": tally.pinned}
    values |= {name: more for name, more in added.items() if more}
    additions = ", ".join(f"{name} :{name}" for name, more in added.items() if more)
    expression = f"SET {', '.join(settings)} ADD {additions}"
    return update(key, expression, " AND ".join(conditions) or None, **values)


def quick_update(
    slot: EntryAddress,
    nonce: str,
    version: int,
    caller: str,
    now: int,
    changes: Item,
    kb: int | None,
) -> Write:
    """An owner's change of value or tags as one write with no read before it.

    Its condition holds only where nothing else has to change along: the value isn't encrypted and
    keeps its whole KB, so that no counter moves; an episodic entry is one that may be evicted and
    has normal priority.
    """
    present = {name: value for name, value in changes.items() if value is not None}
    gone = ", ".join(changes.keys() - present.keys())
    condition = (
        f"{_SAME} AND tier = :tier AND agent_id = :caller AND attribute_not_exists(data_key)"
        " AND (attribute_not_exists(expires) OR expires > :now)"
    )
    if kb is not None:
        condition += " AND kb = :kb"
        present["kb"] = kb
    if slot.is_episodic:
        condition += " AND begins_with(recency, :rank)"
        present |= {
            "rank": "1#",
            "accessed": now,
            "recency": entry_keys.build_recency("normal", now, nonce),
        }
    settings = ", ".join(f"{name} = :{name}" for name in present if name not in ("kb", "rank"))
    return update(
        slot.item_key,
        f"SET version = :next, updated = :now, {settings}" + (f" REMOVE {gone}" if gone else ""),
        condition,
        nonce=nonce,
        version=version,
        tier="episodic" if slot.is_episodic else "working",
        next=version + 1,
        caller=caller,
        now=now,
        **present,
    )
