"""The vectors of entries follow the change stream, off the write path (contract §8).

A vector stands under its entry's id, with the version that it was made of. A write counts only over
an older version, and a removal over all of them; so replays and disorder do no harm.
"""

from collections.abc import Callable, Iterable
from functools import partial

from functions.entries.model import ENCRYPTED, Entry
from functions.platform.vector_keys import space_of
from functions.search.text import text_of
from functions.vectors.model import Embed
from functions.vectors.store import VectorStore


class Upkeep:
    """Keeps the vectors of entries."""

    def __init__(self, vectors: VectorStore, embed: Embed) -> None:
        self._vectors = vectors
        self._embed = embed

    def follow(self, old: Entry | None, new: Entry | None) -> None:
        """Does what a change of a slot's entry means: `old` has become `new`, or gone."""
        if old is not None and (new is None or new.nonce != old.nonce):
            self._end(old)
            old = None
        if new is not None:
            self._carry_over(old, new)

    def _end(self, gone: Entry) -> None:
        if gone.sensitivity not in ENCRYPTED:
            self._vectors.drop(space_of(gone.slot), gone.id, gone.version + 1)

    def _carry_over(self, old: Entry | None, new: Entry) -> None:
        text = text_of(new)
        if text == (None if old is None else text_of(old)):
            return
        if text is None:
            self._vectors.drop(space_of(new.slot), new.id, new.version)
        else:
            self._keep(new, text)

    def _keep(self, entry: Entry, text: str) -> None:
        filters = {"tier": entry.tier, "namespace": entry.namespace, "agent_id": entry.agent}
        space, vector = space_of(entry.slot), self._embed(text)
        self._vectors.keep(space, entry.id, entry.version, vector, filters)

    def renewals(self, entries: Iterable[Entry]) -> list[Callable[[], None]]:
        """What embeds those again whose vectors are missing, or of another model or index."""
        texts = [(entry, text) for entry in entries if (text := text_of(entry)) is not None]
        current = self._vectors.current((space_of(entry.slot), entry.id) for entry, _ in texts)
        return [
            partial(self._keep, entry, text) for entry, text in texts if entry.id not in current
        ]
