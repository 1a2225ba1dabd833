"""Search the episodes of agent types (ADR-043 Tier 2).

The texts of the newest episodes are held in memory and are refreshed by each search. Results are
read again from the table, so deleted episodes are not found.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from functions.identity.model import Principal
from functions.platform.bounded_pages import WantedPage
from functions.platform.clock import Clock
from functions.platform.json_text import list_texts, loads
from functions.platform.limits import MAX_QUERY_CHARACTERS, MAX_SEARCHED_EPISODES
from functions.platform.sensitivity import ENCRYPTED
from functions.runs.agent_type_store import AgentTypes
from functions.runs.model import Episode
from functions.runs.store import EpisodeStore
from functions.vectors.held_texts import Text, add_texts
from functions.vectors.hybrid import Found, VectorSearch, read_query
from functions.vectors.matrix import HeldSpace, HeldSpaces, TextMatrix
from functions.vectors.model import search_with_expansion

_MAX_HELD_BYTES = 32_000_000  # of vectors; the episodes have as many
_MAX_TYPES = 20  # that a search without agent_type looks at
_MAX_DEPTH = 10_000  # candidates
_PAGE = 250
_OVERLAP = 60_000  # ms; the index that lists episodes may lag behind


@dataclass(slots=True)
class _HeldEpisodes(HeldSpace):
    """The newest episodes of an agent type, and the index of their texts."""

    episodes: dict[str, Episode] = field(default_factory=dict)
    newest: int = 0


class EpisodeSearch:
    """Searches the newest episodes of each agent type of a caller's tenant."""

    def __init__(
        self,
        store: EpisodeStore,
        agent_types: AgentTypes,
        vector_search: VectorSearch,
        clock: Clock,
    ) -> None:
        self._store = store
        self._agent_types = agent_types
        self._vector_search = vector_search
        self._clock = clock
        self._spaces = HeldSpaces(_HeldEpisodes, _MAX_HELD_BYTES)

    def search(
        self,
        caller: Principal,
        text: str,
        agent_type: str | None,
        accept: Callable[[Episode], bool],
        top_k: int,
    ) -> list[Found[Episode]]:
        """Find the `top_k` best episodes for a query, best first.

        Args:
            agent_type: None for the 20 last agent types of the tenant by name.
        """
        types = [agent_type]
        if agent_type is None:
            page = self._agent_types.list_page(caller, WantedPage(_MAX_TYPES))
            types = [each.agent_type for each in page.elements]
        found = [
            each
            for name in types
            if name is not None
            for each in self._search_type(caller, text, name, accept, top_k)
        ]
        return sorted(found, key=_get_rank)[:top_k]

    def _search_type(
        self,
        caller: Principal,
        text: str,
        agent_type: str,
        accept: Callable[[Episode], bool],
        top_k: int,
    ) -> list[Found[Episode]]:
        embedding, now = self._vector_search.embed_query(text), self._clock()
        query = read_query(text)
        with self._spaces.use(f"{caller.tenant}#{agent_type}") as held:
            self._refresh(caller.tenant, agent_type, held, now)

            def find(depth: int) -> tuple[list[Found[Episode]], bool]:
                found = held.matrix.find_candidates(embedding, depth, {})
                asked = query.use_statistics(found.statistics)
                wanted = [held.episodes[each] for each in found.cosines]
                present = self._store.select_present(caller.tenant, wanted, now)
                results = [
                    Found(each, *asked.compare(found.cosines[each.id], read_text(each)))
                    for each in wanted
                    if each.id in present and each.expires_at > now and accept(each)
                ]
                return sorted(results, key=_get_rank), found.is_complete

            return search_with_expansion(top_k, _MAX_DEPTH, find)

    def _refresh(self, tenant: str, agent_type: str, held: _HeldEpisodes, now: int) -> None:
        """Read the episodes that were appended since the last search."""
        if len(held.episodes) >= 2 * MAX_SEARCHED_EPISODES:
            held.matrix, held.episodes, held.newest = TextMatrix(), {}, 0
        since = held.newest - _OVERLAP
        listed = self._store.list_by_type(tenant, agent_type, WantedPage(_PAGE), now)
        recent = takewhile(lambda each: each.created_at >= since, listed)
        new = [
            each
            for each, _ in zip(recent, range(MAX_SEARCHED_EPISODES), strict=False)
            if each.id not in held.episodes and each.sensitivity not in ENCRYPTED
        ]
        texts = [Text(each.id, 1, read_text(each)) for each in new]
        add_texts(held.matrix, self._vector_search.embed, texts)
        held.episodes |= {each.id: each for each in new}
        held.newest = max((each.created_at for each in new), default=held.newest)


def _get_rank(found: Found[Episode]) -> tuple[float, str]:
    return -found.score, found.element.id


def read_text(episode: Episode) -> str:
    """Read the words of an episode's content."""
    stored: dict[str, Any] = loads(episode.text)
    return " ".join(list_texts(stored["content"]))[:MAX_QUERY_CHARACTERS] or "-"
