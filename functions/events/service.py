"""Read logs, with access checked."""

from functions.authorization.rules import authorize, inspects, is_allowed
from functions.events.model import Event, LogName, LogQuery
from functions.events.reader import EventLogReader
from functions.identity.model import ADMIN, Principal
from functions.namespaces.authority import READ_PERMISSIONS
from functions.namespaces.service import Namespaces
from functions.platform.errors import AccessDenied
from functions.tasks.authority import READ_INTENT, READ_LOG, READ_SNAPSHOT, SnapshotTarget
from functions.tasks.intents import Intents


class EventLogs:
    """The logs of a caller's tenant. A read returns events and the position to continue from."""

    def __init__(self, reader: EventLogReader, intents: Intents, namespaces: Namespaces) -> None:
        self._reader = reader
        self._intents = intents
        self._namespaces = namespaces

    def read_intent_log(
        self, caller: Principal, intent: str, query: LogQuery
    ) -> tuple[list[Event], int | None]:
        """Read an intent's log.

        An agent reads its own events while the intent has no owner. Only the intent's owner, its
        access list and the agent of the memory get the values of an archived snapshot.

        Raises:
            NotFound: the intent doesn't exist.
            AccessDenied: the caller is not the intent's owner, takes and took no part in it, is not
                on its access list, and lacks `memory.admin`.
        """
        found = self._intents.get(caller, intent, READ_LOG)
        if not is_allowed(caller, READ_INTENT, found):
            query = query._replace(agent_id=caller.id)
        events, position = self._reader.read(caller.tenant, LogName("intent", intent), query)
        shown = [
            event
            if is_allowed(caller, READ_SNAPSHOT, SnapshotTarget(found, event.agent_id))
            else _remove_values(event)
            for event in events
        ]
        return shown, position

    def read_agent_log(
        self, caller: Principal, agent: str, query: LogQuery
    ) -> tuple[list[Event], int | None]:
        """Read the events of an agent's memory that belong to no intent.

        Only the agent gets the values of an archived snapshot: an administrator reads every log,
        but no private memory.

        Raises:
            AccessDenied: the caller is not the agent, and lacks `memory.admin`.
        """
        reads_values = caller.id == agent or inspects(caller)
        if not reads_values and ADMIN not in caller.permissions:
            raise AccessDenied("only the agent and memory.admin may read an agent's log")
        events, position = self._reader.read(caller.tenant, LogName("agent", agent), query)
        return events if reads_values else list(map(_remove_values, events)), position

    def read_namespace_log(
        self, caller: Principal, namespace: str, query: LogQuery
    ) -> tuple[list[Event], int | None]:
        """Read the events of a namespace's semantic memory that belong to no intent.

        Raises:
            AccessDenied: the caller has neither read access to it nor `memory.admin`.
        """
        authorize(caller, READ_PERMISSIONS, self._namespaces.find(caller, namespace))
        return self._reader.read(caller.tenant, LogName("namespace", namespace), query)


def _remove_values(event: Event) -> Event:
    lines = event.data.get("snapshot", ())
    bare = [{name: part for name, part in line.items() if name != "value"} for line in lines]
    return event._replace(data=event.data | {"snapshot": bare}) if lines else event
