"""Store what a strategy learns as entries: preferences, episodes, and summaries."""

from collections.abc import Sequence
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
from functions.learning.evidence import Reading, add_place, build_place
from functions.learning.model import StrategyKind
from functions.learning.plans import Known, Plan, build_learner, build_row_write
from functions.learning.prompts import (
    EpisodeChange,
    LearnedChange,
    ModelAnswer,
    PreferenceChange,
    ReadMessage,
)
from functions.learning.rules import fill_template
from functions.learning.store import LearnedStore, build_learned_removal
from functions.namespaces.model import Namespace
from functions.namespaces.store import NamespaceStore, put_first_configuration
from functions.platform.idempotency import RequestToken
from functions.platform.json_text import loads
from functions.platform.limits import MAX_KNOWN_ITEMS
from functions.platform.writes import Write

_PREFIXES: dict[StrategyKind, str] = {
    "preferences": "preference",
    "episodes": "episode",
    "summary": "summary",
}


@dataclass(eq=False)
class LearnedEntries:
    """The entries in the namespaces that strategies name."""

    _store: EntryStore
    _mapper: EntryMapper
    _namespaces: NamespaceStore
    _learned: LearnedStore

    def name(self, reading: Reading) -> str:
        """Name whose memory it is, and what kind of item."""
        strategy = reading.strategy
        namespace = fill_template(strategy.namespace, reading.conversation)
        if strategy.kind == "summary":
            return f"summary {namespace} {reading.conversation.session_id}"
        return f"{strategy.kind} {namespace}"

    def list_known(self, reading: Reading) -> list[Known]:
        """List the entries that strategies of this kind have learned for this namespace."""
        rows = self._learned.list_known(reading.tenant, self.name(reading), MAX_KNOWN_ITEMS)
        known: list[Known] = []
        for key, row in {each.ref: each for each in reversed(rows)}.items():
            entry = self._get(reading.tenant, row.namespace, key)
            if entry is not None and _is_own(entry):
                id, value = f"k{len(known) + 1}", loads(entry.value)
                value.pop(LEARNED_FROM, None)
                known.append(Known(id, row, entry, {"id": id, **value}))
        return known

    def plan(self, reading: Reading, answer: ModelAnswer, known: Sequence[Known], now: int) -> Plan:
        """Plan which entries are added, changed and ended."""
        by_id = {each.id: each for each in known}
        ended = {
            each.known: by_id[each.known]
            for each in answer.changes
            if each.action != "add" and each.known is not None
        }
        new: dict[str, tuple[dict[str, Any], list[ReadMessage]]] = {}
        for change in answer.changes:
            if change.action != "end":
                key = _build_key(reading, change)
                new.setdefault(key, (_build_value(change), reading.select(change.messages)))
        if answer.summary is not None:
            new[_build_key(reading, None)] = ({"text": answer.summary}, list(reading.messages))
        transitions, writes, dropped = [], [], 0
        for key, (value, messages) in new.items():
            transition = self._build_transition(reading, key, value, messages, now)
            if transition is None:
                dropped += 1
                continue
            transitions.append(transition)
            writes.append(self._build_row(reading, key, messages, now))
        removed = [each for each in ended.values() if each.row.ref not in new]
        transitions += [Transition(each.stored, None) for each in removed]
        writes += [build_learned_removal(each.row) for each in removed]
        writes += self._build_entry_writes(reading, transitions, now)
        return Plan(writes, len(transitions) - len(removed), len(removed), dropped)

    def _build_transition(
        self,
        reading: Reading,
        key: str,
        value: dict[str, Any],
        messages: list[ReadMessage],
        now: int,
    ) -> Transition | None:
        """Build the step of an entry; None if another principal's entry has the key."""
        namespace = fill_template(reading.strategy.namespace, reading.conversation)
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

    def _build_row(
        self, reading: Reading, key: str, messages: list[ReadMessage], now: int
    ) -> Write:
        namespace = fill_template(reading.strategy.namespace, reading.conversation)
        is_whole = reading.strategy.kind == "summary"
        return build_row_write(
            self._learned,
            reading,
            self.name(reading),
            key,
            [] if is_whole else messages,  # any change of the conversation concerns a summary
            now,
            namespace=namespace,
            is_whole=is_whole,
        )

    def _build_entry_writes(
        self, reading: Reading, transitions: Sequence[Transition], now: int
    ) -> list[Write]:
        """Build the writes of entries, and of the namespace if it is not configured."""
        if not transitions:
            return []
        tenant = reading.tenant
        transaction = Transaction(build_learner(tenant), tuple(transitions), now, actor=SERVICE)
        writes = transaction.build_writes(self._mapper)
        name = fill_template(reading.strategy.namespace, reading.conversation)
        if self._namespaces.get(tenant, name) is None:
            made = Namespace(name, None, {}, 1, now, now)
            writes.append(put_first_configuration(tenant, made))
        return writes

    def _get(self, tenant: str, namespace: str | None, key: str) -> Entry | None:
        address = SEMANTIC.build_address(tenant, SERVICE.id, namespace or "", key)
        return self._store.get(address)


def _is_own(entry: Entry) -> bool:
    """Tell whether strategies alone have written an entry."""
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
