"""Describe found items of all sources by text, time, reference and provenance."""

from collections.abc import Container, Iterable
from typing import Any

from functions.conversations.model import Conversation
from functions.conversations.search import HeldMessage
from functions.entries.model import LEARNED_FROM, Entry
from functions.facts.model import Fact, Validity
from functions.platform import limits
from functions.platform.clock import to_rfc3339
from functions.platform.json_text import list_texts, loads
from functions.platform.references import build_reference
from functions.platform.run_keys import shorten_episode
from functions.recall.model import Neighbor, RecallItem
from functions.recall.text import cut_text
from functions.runs.model import Episode
from functions.runs.search import read_text

_MAIN = ("text", "content")  # the main field of a value


def build_entry_references(entry: Entry) -> tuple[str, str]:
    """Build an entry's short reference, and the reference with its whole id."""
    agent = (entry.agent_id,) if entry.policy.is_private else ()
    short = f"{entry.policy.id_letter}{entry.nonce}"
    return build_reference("entries", short, *agent), build_reference("entries", entry.id)


def build_episode_references(run_id: str, id: str) -> tuple[str, str]:
    """Build an episode's short reference, and the reference with whole ids."""
    short = build_reference("episodes", *shorten_episode(run_id, id))
    return short, build_reference("episodes", run_id, id)


def get_time(entry: Entry) -> int:
    """Return the time (epoch ms) that an entry is about."""
    return entry.created_at if entry.occurred_at is None else entry.occurred_at


def describe_entry(entry: Entry) -> RecallItem:
    """Describe an entry under its short reference."""
    return RecallItem(
        source="entries",
        reference=build_entry_references(entry)[0],
        id=entry.id,
        address={
            "namespace": entry.namespace,
            "key": entry.key,
            "memory_type": entry.memory_type,
            "agent_id": entry.agent_id,
        },
        text=_cut(_describe_value(None if entry.unreadable else loads(entry.value))),
        time=get_time(entry),
        provenance={
            "created_by": entry.created_by,
            **_find_evidence(None if entry.unreadable else entry.value),
        },
    )


def _find_evidence(document: bytes | None) -> dict[str, Any]:
    """Find the messages that an entry or a fact was learned from, in its value or metadata."""
    value = None if document is None else loads(document)
    if not isinstance(value, dict) or LEARNED_FROM not in value:
        return {}
    return {LEARNED_FROM: value[LEARNED_FROM]}


def _describe_value(value: Any) -> str:
    """Describe a value in words: its main text, then its other fields in brackets."""
    if not isinstance(value, dict):
        return " ".join(list_texts(value))
    main = next((value[name] for name in _MAIN if isinstance(value.get(name), str)), None)
    others = "; ".join(
        f"{name}: {' '.join(list_texts(each))}"
        for name, each in value.items()
        if each is not main and name != LEARNED_FROM and any(list_texts(each))
    )
    if main is None:
        return others
    return f"{main} ({others})" if others else main


def describe_fact(fact: Fact, validity: Validity) -> RecallItem:
    """Describe a fact, with what it replaced and what contradicts it."""
    return RecallItem(
        source="facts",
        reference=build_reference("facts", fact.fact_id),
        id=fact.fact_id,
        address={"subject": fact.subject, "predicate": fact.predicate, "object": fact.object},
        text=_cut(fact.text + _describe_validity(fact, validity)),
        time=fact.valid_from,
        provenance={
            "valid_from": to_rfc3339(fact.valid_from),
            "valid_until": None if fact.valid_until is None else to_rfc3339(fact.valid_until),
            "replaced": [_name_fact(each) for each in validity.replaced],
            "conflicts_with": [_name_fact(each) for each in validity.conflicting],
            "learned_by": fact.learned_by,
            "learned_from_run_ids": list(fact.learned_from_run_ids),
            "confidence": fact.confidence,
            **_find_evidence(fact.metadata),
        },
    )


def _name_fact(fact: Fact) -> dict[str, str]:
    return {"reference": build_reference("facts", fact.fact_id), "object": fact.object}


def _describe_validity(fact: Fact, validity: Validity) -> str:
    """Describe when a fact ended, what it replaced, and what contradicts it."""
    parts = [f"until {to_rfc3339(fact.valid_until)[:10]}"] if fact.valid_until is not None else []
    if validity.replaced:
        parts.append(f"before: {', '.join(each.object for each in validity.replaced)}")
    if validity.conflicting:
        others = ", ".join(each.object for each in validity.conflicting)
        parts.append(f"in conflict with: {others}")
    return f" ({'; '.join(parts)})" if parts else ""


def describe_message(
    conversation: Conversation,
    message: HeldMessage,
    neighbors: Iterable[HeldMessage] = (),
    excluded: Container[str] = (),
) -> RecallItem:
    """Describe a message, with its neighbors that the caller does not have."""
    session = conversation.session_id
    return RecallItem(
        source="messages",
        reference=build_reference("messages", session, message.index),
        id=f"{session}/{message.index}",
        address={
            "session_id": session,
            "index": message.index,
            "role": message.role,
            "user_id": conversation.user_id,
        },
        text=_cut(message.content),
        time=message.time,
        provenance={"created_by": conversation.created_by},
        speaker=_name_speaker(message),
        neighbours=tuple(
            Neighbor(
                each.index,
                build_reference("messages", session, each.index),
                _name_speaker(each),
                _cut(each.content),
                each.time,
            )
            for each in neighbors
            if build_reference("messages", session, each.index) not in excluded
        ),
    )


def _name_speaker(message: HeldMessage) -> str:
    return message.speaker or message.role


def describe_episode(episode: Episode) -> RecallItem:
    """Describe an episode under its short reference."""
    return RecallItem(
        source="episodes",
        reference=build_episode_references(episode.run_id, episode.id)[0],
        id=episode.id,
        address={"run_id": episode.run_id},
        text=_cut(read_text(episode)),
        time=episode.created_at,
        provenance={"created_by": episode.created_by},
    )


def _cut(text: str) -> str:
    return cut_text(text, limits.MAX_RECALLED_CHARACTERS) or text[: limits.MAX_RECALLED_CHARACTERS]
