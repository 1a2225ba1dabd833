"""The vectors of entries follow the change stream, off the write path (contract §8).

A vector stands under its entry's id, with the version that it was made of. A write counts only over
an older version, and a removal over all of them; so replays and disorder do no harm.
"""

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
        space = space_of(new.slot)
        if text is None:
            self._vectors.drop(space, new.id, new.version)
            return
        filters = {"tier": new.tier, "namespace": new.namespace, "agent_id": new.agent}
        self._vectors.keep(space, new.id, new.version, self._embed(text), filters)
