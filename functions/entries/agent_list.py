"""List the agents whose memory a caller may know of, with counts and room."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from operator import attrgetter

from functions.authorization.rules import inspects, is_allowed
from functions.entries.agent_store import AgentStore, AgentUsage, to_usage
from functions.entries.authority import READ_AGENT, AgentTarget
from functions.identity.model import ADMIN, Principal
from functions.identity.store import PrincipalStore
from functions.platform.bounded_pages import Examined, examine_after


@dataclass(eq=False)
class AgentList:
    """The agents of a caller's tenant: principals of kind agent, and others that hold memory.

    Args:
        list_overseen: gives the ids of the agents of whose open tasks one is the caller's.
    """

    _agents: AgentStore
    _principals: PrincipalStore
    _list_overseen: Callable[[Principal], set[str]]

    def list_visible(self, caller: Principal) -> list[Principal]:
        """List the agents that the caller may know of, newest first: itself, and whom it oversees.

        With `memory.admin` or `memory.inspect` all of the tenant.
        """
        found = self._find_visible(caller)
        others = [each.id for each in found if each.kind != "agent"]
        used = self._find_holders(caller.tenant, others)
        listed = (each for each in found if each.kind == "agent" or each.id in used)
        return sorted(listed, key=lambda each: (each.created_at, each.id), reverse=True)

    def iterate_visible(
        self, caller: Principal, before: str | None, count: int
    ) -> Iterator[Examined[Principal]]:
        """Examine principals for the same, newest first, before a position.

        With `memory.admin` by an index: three calls for each group of the tenant's principals.
        """
        if not _sees_all(caller):
            yield from examine_after(self.list_visible(caller), attrgetter("list_position"), before)
            return
        for group in self._principals.iterate_principals(caller.tenant, before, count):
            others = [each.id for each in group if each.kind != "agent"]
            used = self._find_holders(caller.tenant, others)
            agents = ({each.id for each in group} - set(others)) | used
            yield from (
                Examined(each.list_position, each if each.id in agents else None) for each in group
            )

    def _find_visible(self, caller: Principal) -> list[Principal]:
        tenant = caller.tenant
        if _sees_all(caller):
            found, overseen = self._principals.list_principals(tenant), set[str]()
        else:
            overseen = self._list_overseen(caller)
            found = self._principals.get_many(tenant, {caller.id, *overseen})
        return [
            each
            for each in found
            if is_allowed(caller, READ_AGENT, AgentTarget(each.id, each.id in overseen))
        ]

    def get_usages(self, caller: Principal, agents: Iterable[str]) -> dict[str, AgentUsage]:
        """Read what visible agents hold and may hold, by id: two calls for each hundred."""
        items = self._agents.get_items(caller.tenant, agents)
        restricted = self._agents.restrictions.find_each(caller.tenant, items)
        return {
            agent: to_usage(item, restricted[agent].max_episodic) for agent, item in items.items()
        }

    def _find_holders(self, tenant: str, agents: Iterable[str]) -> set[str]:
        """Return which agents hold memory, or have settings of it."""
        items = self._agents.get_items(tenant, agents)
        return {agent for agent, item in items.items() if item is not None and "agent_id" in item}


def _sees_all(caller: Principal) -> bool:
    return ADMIN in caller.permissions or inspects(caller)
