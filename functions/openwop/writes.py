"""The transactions that change a memory, as values."""

from collections.abc import Iterator
from dataclasses import dataclass

from functions.openwop.items import (
    entry_attributes,
    hold_attributes,
    new_entry,
    run_attributes,
)
from functions.openwop.model import MemoryEntry, Run
from functions.openwop.positions import of_put, of_removal
from functions.openwop.rules import GRACE, SETTLED
from functions.platform.idempotency import RequestToken
from functions.platform.items import Item
from functions.platform.keys import Key, due_shard
from functions.platform.lifetimes import ttl_seconds
from functions.platform.limits import OPENWOP_RUN_LIFETIME
from functions.platform.schema import DUE_ATTRIBUTE, DUE_SHARD_ATTRIBUTE, TTL_ATTRIBUTE
from functions.platform.snapshot_keys import (
    entry_item,
    head_item,
    hold_row,
    removal_row,
    request_item,
    run_item,
    secrets_item,
    tag_row,
)
from functions.platform.writes import Write, check, delete, put, update

_ABSENT = "attribute_not_exists(pk)"
_ALWAYS = f"{_ABSENT} OR attribute_exists(pk)"
_PRESENT = "luck = :luck AND attribute_not_exists(gone)"
_LASTING = "(attribute_not_exists(ends) OR ends > :now)"
_HOUR = 3_600_000  # ms


def run_is_open(partition: str, run: str, now: int) -> Write:
    """Lets a transaction through only while a run is open."""
    condition = "deadline > :now AND attribute_not_exists(ended)"
    return check(run_item(partition, run), condition, now=now)


@dataclass(frozen=True, slots=True)
class Put:
    """A put, clean of secrets.

    Attributes:
        token: of its Idempotency-Key, if it has one.
        replaces: position of an entry that the same request made, and that is gone.
    """

    partition: str
    luck: str
    content: str
    tags: tuple[str, ...]
    expires: int | None
    run: str | None
    now: int
    token: RequestToken | None
    replaces: int | None = None

    def entry(self, position: int) -> MemoryEntry:
        """The entry that it makes at a position."""
        request = None if self.token is None else self.token.key
        return new_entry(position, self.luck, self.content, self.tags, self.expires, request)

    @property
    def marker(self) -> Key:
        """What knows a retry of it."""
        return request_item(self.partition, self.token.key if self.token else b"")

    def writes(self, position: int) -> list[Write]:
        """All that it writes at a position."""
        entry, key = self.entry(position), entry_item(self.partition, position)
        rows = [tag_row(self.partition, tag, position) for tag in self.tags]
        return [
            of_put(key, position),
            put(key, entry_attributes(entry, self.partition)),
            *(put(row, {TTL_ATTRIBUTE: ttl_seconds(self.expires)}) for row in rows),
            *self._request(position),
            *([run_is_open(self.partition, self.run, self.now)] if self.run else []),
        ]

    def _request(self, position: int) -> Iterator[Write]:
        if self.token is None:
            return
        attributes: Item = {
            "at_pos": position,
            "req": self.token.stored,
            TTL_ATTRIBUTE: ttl_seconds(self.expires),
        }
        if self.replaces is None:
            yield put(self.marker, attributes, _ABSENT)
        else:
            yield put(self.marker, attributes, "at_pos = :old", old=self.replaces)


def removal(
    partition: str, entry: tuple[int, str], run: str | None, now: int, position: int
) -> list[Write]:
    """Marks an entry, by its position and luck, as deleted at a position.

    It stays for the runs that see it. Should the schedule fail, DynamoDB's TTL takes it once the
    last of them must be over.
    """
    written, luck = entry
    key, longest = (
        entry_item(partition, written),
        ttl_seconds(now + OPENWOP_RUN_LIFETIME + GRACE + _HOUR),
    )
    marked = update(
        key,
        f"SET gone = :pos, {TTL_ATTRIBUTE} = :ttl",
        f"{_PRESENT} AND {_LASTING}",
        pos=position,
        ttl=longest,
        luck=luck,
        now=now,
    )
    row = put(removal_row(partition, position), {"at_pos": written})
    checks = [run_is_open(partition, run, now)] if run else []
    return [of_removal(key, position, now + SETTLED), marked, row, *checks]


def start(
    partition: str, run: Run, head: Item, secrets: Item | None, request: bytes
) -> list[Write]:
    """Opens a run at the position that the head has come to.

    Nothing may have been deleted since. The last two entries are touched, so that DynamoDB waits
    for whoever is still writing them: what is in the snapshot shows as a whole from the start on.
    """
    lasting = {TTL_ATTRIBUTE: ttl_seconds(run.deadline + GRACE)}
    sealed = [put(secrets_item(partition, run.id), secrets | lasting)] if secrets else []
    return [
        _nothing_removed(partition, head),
        put(run_item(partition, run.id), run_attributes(run, request), _ABSENT),
        put(hold_row(partition, run.position), hold_attributes(run)),
        *sealed,
        *(check(key, _ALWAYS) for key in _newest(partition, head)),
    ]


def _nothing_removed(partition: str, head: Item) -> Write:
    if "removals" not in head:
        return check(head_item(partition), "attribute_not_exists(removals)")
    return check(head_item(partition), "removals = :seen", seen=head["removals"])


def _newest(partition: str, head: Item) -> set[Key]:
    names = [head[name] for name in ("newest_sk", "second_sk") if name in head]
    return {(partition, name) for name in names}


def end(partition: str, run: Run, now: int) -> list[Write]:
    """Ends a run: its secrets and its hold go, and the schedule looks after what it held."""
    due = f"SET {DUE_ATTRIBUTE} = :due, {DUE_SHARD_ATTRIBUTE} = :shard"
    return [
        update(
            run_item(partition, run.id), "SET ended = :yes", "attribute_not_exists(ended)", yes=True
        ),
        delete(secrets_item(partition, run.id)),
        delete(hold_row(partition, run.position)),
        update(head_item(partition), due, due=now + 1, shard=due_shard(partition)),
    ]


def forgetting(partition: str, entry: MemoryEntry) -> list[Write]:
    """Takes an entry out of storage, with what leads to it: its request, unless that was carried
    out again since."""
    rows = [delete(tag_row(partition, tag, entry.position)) for tag in entry.tags]
    if entry.request is not None:
        key = request_item(partition, entry.request)
        rows.append(delete(key, "at_pos = :pos", pos=entry.position))
    return [delete(entry_item(partition, entry.position)), *rows]
