"""Keep the vectors of entries up to date, from the change stream.

Only tiers whose policy says so have stored vectors. A vector has its entry's id, and the version
that it was made from. A write only replaces an older version, and a removal all of them; so replays
and records out of order do no harm.
"""

from collections.abc import Callable, Iterable
from functools import partial

from functions.entries.model import Entry
from functions.platform.sensitivity import ENCRYPTED
from functions.search.text import extract_text
from functions.vectors.hybrid import TextEmbedder
from functions.vectors.model import Embedding
from functions.vectors.store import TextVector, VectorStore

_REMEMBERED = 10_000  # entries whose vectors are known to be there


class EmbeddingIndexer:
    """Embeds entries, and removes the vectors of those that are deleted."""

    def __init__(self, vectors: VectorStore, embed: TextEmbedder) -> None:
        self._vectors = vectors
        self._embed = embed
        self._indexed: dict[tuple[str, str], int] = {}  # versions, by tenant and id

    def index_change(self, old: Entry | None, new: Entry | None) -> None:
        """Bring the vectors of a slot up to date after a change of its entry.

        Args:
            old: the entry before; None if there was none.
            new: the entry after; None if it was removed.
        """
        if old is not None and not old.policy.has_vectors:
            old = None
        if new is not None and not new.policy.has_vectors:
            new = None
        if old is not None and (new is None or new.nonce != old.nonce):
            self._remove(old)
            old = None
        if new is not None:
            self._update(old, new)

    def index_new(self, entries: Iterable[Entry]) -> None:
        """Embed new entries: two calls per 25, instead of one for each entry."""
        stored = (entry for entry in entries if entry.policy.has_vectors)
        texts = [(entry, text) for entry in stored if (text := extract_text(entry)) is not None]
        embedded = self._embed.embed_all([text for _, text in texts])
        self._vectors.put_new(
            _build_vector(entry, embedding)
            for (entry, _), embedding in zip(texts, embedded, strict=True)
        )

    def _remove(self, entry: Entry) -> None:
        if entry.sensitivity not in ENCRYPTED:
            self._vectors.remove_vector(entry.address.vector_space, entry.id, entry.version + 1)

    def _update(self, old: Entry | None, new: Entry) -> None:
        """Embed an entry whose text has changed.

        Of a version between the two, an earlier delivery may have embedded another text.
        """
        text = extract_text(new)
        is_next = old is None or new.version == old.version + 1
        if is_next and text == (None if old is None else extract_text(old)):
            return
        if text is None:
            self._vectors.remove_vector(new.address.vector_space, new.id, new.version)
        else:
            self._embed_entry(new, text)

    def _embed_entry(self, entry: Entry, text: str) -> None:
        self._vectors.put_vector(_build_vector(entry, self._embed(text)))

    def select_unindexed(self, entries: Iterable[Entry]) -> list[Entry]:
        """Select the entries that a search does not find yet: a call, unless all are known."""
        stored = {
            (each.address.vector_space, each.id): each
            for each in entries
            if each.policy.has_vectors
            and self._indexed.get((each.address.tenant, each.id), 0) < each.version
            and extract_text(each) is not None
        }
        versions = self._vectors.read_versions(stored) if stored else {}
        if len(self._indexed) > _REMEMBERED:
            self._indexed = {}
        self._indexed |= {
            (each.address.tenant, each.id): versions[each.id]
            for each in stored.values()
            if each.id in versions
        }
        return [each for each in stored.values() if versions.get(each.id, 0) < each.version]

    def reembedding_jobs(self, entries: Iterable[Entry]) -> list[Callable[[], None]]:
        """Build a job for each entry that has no vector in the current format."""
        stored = (entry for entry in entries if entry.policy.has_vectors)
        texts = [(entry, text) for entry in stored if (text := extract_text(entry)) is not None]
        current = self._vectors.select_current(
            (entry.address.vector_space, entry.id) for entry, _ in texts
        )
        return [
            partial(self._embed_entry, entry, text)
            for entry, text in texts
            if entry.id not in current
        ]


def _build_vector(entry: Entry, embedding: Embedding) -> TextVector:
    filters = {name: getattr(entry, name) for name in ("memory_type", "namespace", "agent_id")}
    space = entry.address.vector_space
    return TextVector(space, entry.id, entry.version, embedding, filters)
