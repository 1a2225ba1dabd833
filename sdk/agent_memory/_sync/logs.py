"""Reading of logs."""

from collections.abc import Callable
from typing import Any

from agent_memory._sync.pages import Pages, to_pages
from agent_memory._sync.resource import Resource
from agent_memory._waiting import sleep
from agent_memory.log_filters import LogFilters, to_log_query
from agent_memory.page import Item, Page
from agent_memory.requests import drop_none
from agent_memory.responses import get_member, parse, parse_items, parse_position

_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 2.0  # seconds


class Logs(Resource):
    """A part of the client that reads logs."""

    def _read_log(
        self,
        path: str,
        member: str,
        read: Callable[[dict[str, Any]], Item],
        filters: LogFilters,
        known: type,
    ) -> Pages[Item]:
        """Return a log; with `follow`, iteration waits at its end for later events.

        Raises:
            TypeError: raised when a filter is unknown.
            ValueError: raised when `follow` is combined with `newest_first`.
        """
        follow = filters.get("follow", False)
        if follow and filters.get("newest_first"):
            raise ValueError("follow can't be combined with newest_first")
        query = to_log_query(filters)

        def fetch(size: int, position: str | None) -> Page[Item]:
            pause = _FIRST_PAUSE
            while True:
                asked = {**query, **drop_none(limit=size, after=position)}
                answer = self._call("GET", path, params=asked)
                following = parse_position(answer)
                if not follow or following not in (None, position):
                    documents = parse_items(get_member(answer, member))
                    return Page([parse(read, each) for each in documents], following)
                sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE)

        return to_pages(fetch, filters, known)
