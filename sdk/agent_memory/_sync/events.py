"""`client.events`: logs of changes of memory (RFC-0015 §5)."""

from typing import Unpack

from agent_memory._sync.logs import Logs
from agent_memory._sync.pages import Pages
from agent_memory.log_filters import EventFilters
from agent_memory.model import Event
from agent_memory.requests import quote_segment


class Events(Logs):
    """Logs, oldest event first. Later events follow the `next` of a log's last page."""

    def list_for_intent(self, intent_id: str, **filters: Unpack[EventFilters]) -> Pages[Event]:
        """Return the log of an intent.

            for event in client.events.list_for_intent("invoices", type="memory.archived"):
                print(event.timestamp, event.data)

        Args:
            filters: `type`, `entry_id`, `actor`, `since`, `until`, `newest_first`; `follow` to wait
                for further events at the end; `limit`, `page_size`, `after`.
        """
        return self._events(f"/api/v1/intents/{quote_segment(intent_id)}/events", filters)

    def list_for_agent(self, agent_id: str, **filters: Unpack[EventFilters]) -> Pages[Event]:
        """Return the log of an agent; otherwise like `list_for_intent`.

        client.events.list_for_agent("biller", newest_first=True, limit=10).list()
        """
        return self._events(f"/api/v1/agents/{quote_segment(agent_id)}/events", filters)

    def list_for_namespace(
        self, namespace: str, **filters: Unpack[EventFilters]
    ) -> Pages[Event]:
        """Return the log of a namespace; otherwise like `list_for_intent`.

        client.events.list_for_namespace("policies", follow=True)
        """
        path = f"/api/v1/memory/namespaces/{quote_segment(namespace)}/events"
        return self._events(path, filters)

    def _events(self, path: str, filters: EventFilters) -> Pages[Event]:
        return self._read_log(path, "events", Event.from_document, filters, EventFilters)
