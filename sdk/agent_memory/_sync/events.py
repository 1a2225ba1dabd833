"""`client.events`: the logs of what happened to memory (RFC-0015 §5)."""

from collections.abc import Iterator

from agent_memory._sync.resource import Resource
from agent_memory._waiting import sleep
from agent_memory.model import Event, EventType
from agent_memory.requests import drop_none, quote_segment
from agent_memory.responses import get_member, parse, parse_items

_AT_ONCE = 1000
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 2.0  # seconds


class Events(Resource):
    """Logs as iterators, oldest event first. With `follow`, an iterator waits for further events
    instead of ending; it ends by `break`, or with the client.
    """

    def intent(
        self,
        intent_id: str,
        *,
        type: EventType | None = None,
        after: str | None = None,
        follow: bool = False,
    ) -> Iterator[Event]:
        """Return the log of an intent. `after` goes on behind an earlier event's position."""
        return self._events(
            f"/api/v1/intents/{quote_segment(intent_id)}/events", type, after, follow
        )

    def agent(
        self,
        agent_id: str,
        *,
        type: EventType | None = None,
        after: str | None = None,
        follow: bool = False,
    ) -> Iterator[Event]:
        """Return the log of an agent; otherwise like `intent`."""
        return self._events(f"/api/v1/agents/{quote_segment(agent_id)}/events", type, after, follow)

    def namespace(
        self,
        namespace: str,
        *,
        type: EventType | None = None,
        after: str | None = None,
        follow: bool = False,
    ) -> Iterator[Event]:
        """Return the log of a namespace; otherwise like `intent`."""
        path = f"/api/v1/memory/namespaces/{quote_segment(namespace)}/events"
        return self._events(path, type, after, follow)

    def _events(
        self, path: str, type: EventType | None, after: str | None, follow: bool
    ) -> Iterator[Event]:
        pause = _FIRST_PAUSE
        while True:
            asked = drop_none(type=type, after=after, limit=_AT_ONCE)
            answer = self._call("GET", path, params=asked)
            events, position = parse_items(get_member(answer, "events")), get_member(answer, "next")
            for document in events:
                yield parse(Event.from_document, document)
            moved, after = position != after, position
            if events and moved:
                pause = _FIRST_PAUSE
                continue
            if not follow:
                return
            sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)
