"""Use cases on logs: who reads which (contract §5)."""

from dataclasses import replace

from functions.event_log.model import Event, LogName, Page
from functions.event_log.store import LogStore
from functions.identity.model import ADMIN, Principal
from functions.namespaces.rules import allows
from functions.namespaces.service import Namespaces
from functions.platform.errors import AccessDenied
from functions.tasks.intents import Intents


class Logs:
    """The logs of a caller's tenant. A read gives events and the position to go on from."""

    def __init__(self, store: LogStore, intents: Intents, namespaces: Namespaces) -> None:
        self._store = store
        self._intents = intents
        self._namespaces = namespaces

    def of_intent(self, caller: Principal, intent: str, page: Page) -> tuple[list[Event], int]:
        """An intent's log.

        Raises:
            NotFound: nobody has used this intent.
            AccessDenied: the caller neither owns it, nor takes part in it, nor is on its list.
        """
        self._intents.get(caller, intent)
        return self._read(caller, LogName("intent", intent), page)

    def of_agent(self, caller: Principal, agent: str, page: Page) -> tuple[list[Event], int]:
        """What happened to an agent's memory outside of intents.

        The values of an archived snapshot are for the agent alone: whoever administers reads every
        log, but no private memory (contract §4).

        Raises:
            AccessDenied: the caller is neither the agent nor has `memory.admin`.
        """
        if caller.id != agent and ADMIN not in caller.permissions:
            raise AccessDenied("an agent's log is read by itself, or with memory.admin")
        events, position = self._read(caller, LogName("agent", agent), page)
        return events if caller.id == agent else list(map(_without_values, events)), position

    def of_namespace(
        self, caller: Principal, namespace: str, page: Page
    ) -> tuple[list[Event], int]:
        """What happened to a namespace's semantic memory outside of intents.

        Raises:
            AccessDenied: the caller has neither read access to it nor `memory.admin`.
        """
        configured = self._namespaces.find(caller, namespace)
        if ADMIN not in caller.permissions and not allows(caller, configured, "read"):
            raise AccessDenied("you have no access to this namespace")
        return self._read(caller, LogName("namespace", namespace), page)

    def _read(self, caller: Principal, log: LogName, page: Page) -> tuple[list[Event], int]:
        return self._store.read(caller.tenant, log, page.after, page.limit, page.type)


def _without_values(event: Event) -> Event:
    lines = event.data.get("snapshot", ())
    bare = [{name: part for name, part in line.items() if name != "value"} for line in lines]
    return replace(event, data=event.data | {"snapshot": bare}) if lines else event
