"""Rank entries of a memory by how well they fit a query."""

from collections.abc import Sequence

from functions.openwop.model import MemoryEntry
from functions.vectors.held_texts import HeldTexts, Text
from functions.vectors.hybrid import read_query
from functions.vectors.model import Embed, EmbedQuery
from functions.vectors.words import Weigh


class EntryRanking:
    """Ranks entries in memory; nothing is stored, and an entry is embedded once by a process."""

    def __init__(self, embeds: tuple[Embed, EmbedQuery, Weigh]) -> None:
        embed, self._embed_query, self._weigh = embeds
        self._texts = HeldTexts(embed)

    def rank(
        self, tenant: str, reference: str, query: str, entries: Sequence[MemoryEntry]
    ) -> list[MemoryEntry]:
        """Sort the entries of a memory: those that fit the query best are first.

        Of entries that fit equally well, the newer one is first.
        """
        embedding, asked = self._embed_query(query), read_query(query, self._weigh)
        with self._texts.use(f"{tenant}#{reference}") as space:
            self._texts.keep(space, [each.id for each in entries])
            self._texts.put(space, [Text(each.id, 1, each.content) for each in entries])
            found = space.matrix.find_candidates(embedding, len(entries) or 1, {})
        scores = {
            each.id: asked.compare(found.cosines[each.id], each.content)[0]
            for each in entries
            if each.id in found.cosines
        }
        return sorted(entries, key=lambda each: -scores.get(each.id, -1.0))
