"""Rank entries of a memory by their relevance to a query."""

from collections.abc import Sequence

from functions.openwop.model import MemoryEntry
from functions.vectors.held_texts import HeldTexts, Text
from functions.vectors.hybrid import VectorSearch, read_query


class EntryRanking:
    """Ranks entries in memory; vectors aren't stored, and a process embeds an entry once."""

    def __init__(self, vector_search: VectorSearch) -> None:
        self._vector_search = vector_search
        self._texts = HeldTexts(vector_search.embed)

    def rank(
        self, tenant: str, reference: str, query: str, entries: Sequence[MemoryEntry]
    ) -> list[MemoryEntry]:
        """Sort the entries of a memory by relevance to a query, best first.

        Of equally relevant entries, the newer one is first.
        """
        asked = read_query(query)
        texts = [Text(each.id, 1, each.content) for each in entries]
        embedding = self._vector_search.embed_query(query)
        found = self._texts.find(f"{tenant}#{reference}", texts, embedding)
        scores = {
            each.id: asked.compare(found.cosines[each.id], each.content)[0]
            for each in entries
            if each.id in found.cosines
        }
        return sorted(entries, key=lambda each: -scores.get(each.id, -1.0))
