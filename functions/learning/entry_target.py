"""Store learned preferences, episodes, and summaries as entries."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from functions.entries.create import build_entry
from functions.entries.mapper import EntryMapper
from functions.entries.model import LEARNED_FROM, Entry, Transition
from functions.entries.put import replace_fields
from functions.entries.requests import NewEntry
from functions.entries.store import EntryStore
from functions.entries.tiers import SEMANTIC
from functions.entries.transaction_store import Transaction
from functions.identity.model import SERVICE
from functions.learning.evidence import (
    Reading,
    add_place,
    build_place,
    list_places,
    remove_messages,
)
from functions.learning.model import LearnedItem, StrategyKind
from functions.learning.prompts import (
    EpisodeChange,
    LearnedChange,
    ModelAnswer,
    PreferenceChange,
    ReadMessage,
)
from functions.learning.target import Ended, Known, Learned, Target, build_learner
from functions.namespaces.model import Namespace
from functions.namespaces.store import NamespaceStore, put_first_configuration
from functions.platform.idempotency import RequestToken
from functions.platform.json_text import dumps, loads
from functions.platform.writes import Write

_PREFIXES: dict[StrategyKind, str] = {
    "preferences": "preference",
    "episodes": "episode",
    "summary": "summary",
}


@dataclass(eq=False)
class LearnedEntries(Target):
    """The entries in the namespaces that strategies name."""

    _store: EntryStore
    _mapper: EntryMapper
    _namespaces: NamespaceStore

    def list_known(self, reading: Reading) -> list[Known]:
        """List the entries that strategies of this kind have learned for this namespace."""
        known: list[Known] = []
        for key, row in self.list_rows(reading).items():
            entry = self._get(reading.tenant, row.namespace, key)
            if entry is not None and _is_own(entry):
                id, value = f"k{len(known) + 1}", loads(entry.value)
                value.pop(LEARNED_FROM, None)
                known.append(Known(id, row, entry, {"id": id, **value}))
        return known

    def build(
        self,
        reading: Reading,
        answer: ModelAnswer,
        known: Mapping[str, Known],  # noqa: ARG002 - an entry does not name what it replaces
        now: int,
    ) -> tuple[dict[str, Learned], int]:
        """Build the new entries; count those whose key another principal's entry has."""
        wanted: dict[str, tuple[dict[str, Any], Sequence[ReadMessage]]] = {}
        for change in answer.changes:
            if change.action != "end":
                key = _build_key(reading, change)
                wanted.setdefault(key, (_build_value(change), reading.select(change.messages)))
        if answer.summary is not None:
            wanted[_build_key(reading, None)] = ({"text": answer.summary}, reading.messages)
        learned = {
            key: Learned(transition, messages)
            for key, (value, messages) in wanted.items()
            if (transition := self._build_transition(reading, key, value, messages, now))
        }
        return learned, len(wanted) - len(learned)

    def _build_transition(
        self,
        reading: Reading,
        key: str,
        value: dict[str, Any],
        messages: Sequence[ReadMessage],
        now: int,
    ) -> Transition | None:
        """Build the transition of an entry; None if another principal's entry has the key."""
        namespace = reading.namespace
        present = self._get(reading.tenant, namespace, key)
        if present is not None and not _is_own(present) and not present.is_expired(now):
            return None
        live = present is not None and not present.is_expired(now)
        before = loads(present.value) if present is not None and live else {}
        value = add_place(
            {**value, LEARNED_FROM: before.get(LEARNED_FROM, [])}, build_place(reading, messages)
        )
        time = min(max((each.time for each in messages), default=now), now)
        new = NewEntry(namespace=namespace, key=key, value=value, memory_type=SEMANTIC.name)
        learner = build_learner(reading.tenant)
        entry = build_entry(learner, new, now, RequestToken.create())
        entry = entry._replace(actor_kind=SERVICE.kind, occurred_at=time)
        if present is not None and live:
            entry = replace_fields(present, entry)
        return Transition(present, entry)

    def build_writes(
        self, reading: Reading, learned: Collection[Learned], ended: Collection[Ended], now: int
    ) -> list[Write]:
        """Build the writes of entries, and of the namespace if it is not configured."""
        steps = [each.item for each in learned]
        steps += [Transition(each.stored, None) for each, _ in ended]
        if not steps:
            return []
        writes = self._build_steps(reading.tenant, steps, now)
        name = reading.namespace
        if self._namespaces.get(reading.tenant, name) is None:
            made = Namespace(name, None, {}, 1, now, now)
            writes.append(put_first_configuration(reading.tenant, made))
        return writes

    def build_change(self, row: LearnedItem, kept: Sequence[str], now: int) -> list[Write]:
        """Build the writes that reduce an entry's evidence to what is kept."""
        entry = self._get(row.tenant, row.namespace, row.ref)
        if entry is None or entry.curated_by != SERVICE.id:
            return []
        document = remove_messages(loads(entry.value), row, kept)
        value = dumps(document)
        changed = entry._replace(
            value=value, value_bytes=len(value), version=entry.version + 1, updated_at=now
        )
        after = changed if list_places(document) else None
        return self._build_steps(row.tenant, [Transition(entry, after)], now)

    def _build_steps(self, tenant: str, steps: Sequence[Transition], now: int) -> list[Write]:
        transaction = Transaction(build_learner(tenant), tuple(steps), now, actor=SERVICE)
        return transaction.build_writes(self._mapper)

    def _get(self, tenant: str, namespace: str | None, key: str) -> Entry | None:
        address = SEMANTIC.build_address(tenant, SERVICE.id, namespace or "", key)
        return self._store.get(address)


def _is_own(entry: Entry) -> bool:
    """Tell whether only strategies have written an entry."""
    return entry.created_by == SERVICE.id and entry.curated_by == SERVICE.id


def _build_key(reading: Reading, change: LearnedChange | None) -> str:
    """Build the key of an entry: a preference has one for its topic, a summary for its session."""
    prefix = _PREFIXES[reading.strategy.kind]
    session = reading.conversation.session_id
    if isinstance(change, PreferenceChange):
        return f"{prefix}/{_digest(change.topic.casefold().strip())}"
    if isinstance(change, EpisodeChange):
        return f"{prefix}/{_digest(session, change.title.casefold().strip())}"
    return f"{prefix}/{_digest(reading.strategy.name, session)}"


def _digest(*names: str) -> str:
    text = "".join(f"{len(each)}:{each}" for each in names)
    return blake2b(text.encode(), digest_size=12).hexdigest()


def _build_value(change: LearnedChange) -> dict[str, Any]:
    own = type(change).model_fields.keys() - LearnedChange.model_fields.keys()
    return {name: getattr(change, name) for name in type(change).model_fields if name in own}
