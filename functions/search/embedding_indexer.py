"""Keep the vectors of entries up to date, from the change stream.

The words of an entry's key, tags and value are embedded. The tier's policy decides whether vectors
are stored. A vector has its entry's id, and the version that it was made from. A write only
replaces an older version, and a removal replaces any, so repeated and late records have no effect.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Any

from functions.entries.model import LEARNED_FROM, Entry
from functions.platform.clock import Clock
from functions.platform.items import Item
from functions.platform.json_text import loads
from functions.platform.limits import MAX_QUERY_CHARACTERS
from functions.platform.sensitivity import ENCRYPTED
from functions.search.store import EntryVectors
from functions.vectors.hybrid import TextEmbedder
from functions.vectors.model import Embedding, VectorFormat

_REMEMBERED = 10_000  # entries that are known to have vectors
_UNNAMED = "text"  # a field whose name says nothing of its value
_CAMEL_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])")
FILTERS = ("memory_type", "namespace", "agent_id")
"""The attributes that a search of vectors may filter by."""


class EmbeddingIndexer:
    """Embeds entries, and removes the vectors of those that are deleted."""

    def __init__(
        self, vectors: EntryVectors, clock: Clock, vector_format: VectorFormat, embed: TextEmbedder
    ) -> None:
        self._vectors = vectors
        self._clock = clock
        self._format = vector_format
        self._embed = embed
        self._indexed: dict[tuple[str, str], int] = {}  # versions, by tenant and id

    def index_change(self, old: Entry | None, new: Entry | None) -> None:
        """Update the vectors of a slot after a change of its entry."""
        if old is not None and not old.policy.has_vectors:
            old = None
        if new is not None and not new.policy.has_vectors:
            new = None
        if old is not None and (new is None or new.nonce != old.nonce):
            if old.sensitivity not in ENCRYPTED:
                self._remove(old, old.version + 1)
            old = None
        if new is not None:
            self._update(old, new)

    def index_new(self, entries: Iterable[Entry]) -> None:
        """Embed new entries: two calls per 25, instead of one for each entry.

        A repeated record finds its vector, or a later one, and keeps it.
        """
        texts = _list_texts(entries)
        embedded = self._embed.embed_all([text for _, text in texts])
        known = self._vectors.read(entry for entry, _ in texts)
        self._vectors.put_new(
            (entry, self._encode(entry, embedding))
            for (entry, _), embedding in zip(texts, embedded, strict=True)
            if entry.id not in known
        )

    def _update(self, old: Entry | None, new: Entry) -> None:
        """Embed an entry whose text has changed.

        An earlier delivery may have embedded the text of a version in between.
        """
        text = extract_text(new)
        is_next = old is None or new.version == old.version + 1
        if is_next and text == (None if old is None else extract_text(old)):
            if text is not None:
                self._vectors.raise_version(new)
        elif text is None:
            self._remove(new, new.version)
        else:
            self._embed_entry(new, text)

    def _remove(self, entry: Entry, version: int) -> None:
        """Replace a vector by a tombstone, so that late older versions are ignored."""
        self._vectors.put(entry, self._format.build_tombstone(version, self._clock()))

    def _embed_entry(self, entry: Entry, text: str) -> None:
        self._vectors.put(entry, self._encode(entry, self._embed(text)))

    def _encode(self, entry: Entry, embedding: Embedding) -> Item:
        filters = {name: getattr(entry, name) for name in FILTERS}
        item = self._format.encode(entry.address.vector_space, embedding, filters, self._clock())
        return item | {"version": entry.version}

    def select_unindexed(self, entries: Iterable[Entry]) -> list[Entry]:
        """Select the entries that a search does not find yet: a call, unless all are known."""
        stored = [
            each
            for each in entries
            if each.policy.has_vectors
            and self._indexed.get((each.address.tenant, each.id), 0) < each.version
            and extract_text(each) is not None
        ]
        found = self._vectors.read(stored) if stored else {}
        if len(self._indexed) > _REMEMBERED:
            self._indexed = {}
        versions = {id: item["version"] for id, item in found.items()}
        self._indexed |= {
            (each.address.tenant, each.id): versions[each.id]
            for each in stored
            if each.id in versions
        }
        return [each for each in stored if versions.get(each.id, 0) < each.version]

    def reembedding_jobs(self, entries: Iterable[Entry]) -> list[Callable[[], None]]:
        """Build a job for each entry that has no vector in the current format."""
        texts = _list_texts(entries)
        found = self._vectors.read(entry for entry, _ in texts)
        return [
            partial(self._embed_entry, entry, text)
            for entry, text in texts
            if not self._format.matches(found.get(entry.id, {}))
        ]


def _list_texts(entries: Iterable[Entry]) -> list[tuple[Entry, str]]:
    """List the entries that have vectors, each with its text."""
    stored = (entry for entry in entries if entry.policy.has_vectors)
    return [(entry, text) for entry in stored if (text := extract_text(entry)) is not None]


def extract_text(entry: Entry) -> str | None:
    """Extract the words of an entry; None if it has none, or is sensitive (RFC-0015 §9.2)."""
    if entry.sensitivity in ENCRYPTED or entry.unreadable:
        return None
    value = loads(entry.value)
    if isinstance(value, dict):
        value.pop(LEARNED_FROM, None)
    words = chain([_CAMEL_CASE.sub(" ", entry.key)], entry.tags, _extract_words(value))
    return _join_words(words).strip() or None


def _join_words(words: Iterator[str]) -> str:
    """Join words up to the maximum; the rest of a value is not read."""
    joined: list[str] = []
    free = MAX_QUERY_CHARACTERS
    for word in words:
        if free <= 0:
            break
        joined.append(word[:free])
        free -= len(word) + 1
    return " ".join(joined)


def _extract_words(value: Any) -> Iterator[str]:
    """Extract a JSON value's names and leaves, in document order."""
    match value:
        case dict():
            for name, each in value.items():
                if name != _UNNAMED:
                    yield _CAMEL_CASE.sub(" ", name)
                yield from _extract_words(each)
        case list():
            for each in value:
                yield from _extract_words(each)
        case None:
            return
        case bool():
            yield "yes" if value else "no"
        case _:
            yield str(value)
