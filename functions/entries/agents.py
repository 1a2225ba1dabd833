"""Agents' settings for episodic memory: capacity and pinned namespaces (RFC-0015 §2.2, §7).

They stand on the item of the agent's counters, so that a create meets them as a condition of its
own transaction. `ep_capacity` is what holds: the capacity asked for, or a guardrail's lower limit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from functions.identity.model import Principal
from functions.platform import entry_keys, keys
from functions.platform.clock import Clock
from functions.platform.idempotency import RequestToken
from functions.platform.items import Item
from functions.platform.limits import DEFAULT_EPISODIC_ENTRIES
from functions.platform.retry import Backoff
from functions.platform.schema import DUE_ATTRIBUTE, DUE_SHARD_ATTRIBUTE
from functions.platform.table import ConditionFailed, Table
from functions.platform.writes import Write, update

if TYPE_CHECKING:
    from functions.entries.requests import AgentConfig, EpisodicSettings

_SEEN = ("ep_capacity", "ep_asked", "ep_limit", "ep_limited_by")


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """An agent's settings as they stand."""

    agent: str
    capacity: int
    pinned_namespaces: list[str]


class Agents:
    """The settings of a tenant's agents."""

    def __init__(self, table: Table, clock: Clock) -> None:
        self._table = table
        self._clock = clock

    def configure(
        self, caller: Principal, agent: str, config: AgentConfig, token: RequestToken
    ) -> AgentSettings:
        """Changes an agent's settings; the agent need not have called yet.

        A lowered capacity marks the agent for the scheduled function, which evicts the surplus.
        """
        key = entry_keys.build_agent_key(caller.tenant, agent)
        backoff = Backoff("others are changing this agent's settings")
        while True:
            item = self._table.get(key) or {}
            if token.wrote(item.get("config_req")):
                return _settings(agent, item)
            changes = {"agent_id": agent, "config_req": token.stored} | _asked(config.episodic)
            try:
                return _settings(agent, self._table.update(self._change(key, item, changes)))
            except ConditionFailed:
                backoff.wait()

    def limit(self, tenant: str, agent: str, most: int | None, version: int) -> None:
        """Bounds an agent's capacity by its coordinators' guardrails; None takes the bound away.

        `version` counts up with what the guardrails make of the agent; an older one changes
        nothing (RFC-0015 §6.6).
        """
        key = entry_keys.build_agent_key(tenant, agent)
        backoff = Backoff("others are changing this agent's settings")
        while True:
            item = self._table.get(key) or {}
            if item.get("ep_limited_by", 0) >= version:
                return
            changes = {"agent_id": agent, "ep_limit": most, "ep_limited_by": version}
            try:
                self._table.update(self._change(key, item, changes))
                return
            except ConditionFailed:
                backoff.wait()

    def _change(self, key: keys.Key, item: Item, changes: Item) -> Write:
        """Moves the capacity from what `item` says to what it says with the changes.

        Room moves by the difference only, since entries are written all the while.
        """
        before, after = _capacity(item), _capacity(item | changes)
        present = {name: value for name, value in changes.items() if value is not None}
        present["ep_capacity"] = after
        if after < before:
            present |= {
                DUE_ATTRIBUTE: self._clock(),
                DUE_SHARD_ATTRIBUTE: keys.get_due_shard(key[0]),
            }
        settings = [f"{name} = :{name}" for name in present]
        settings.append("ep_room = if_not_exists(ep_room, :before) + :more")
        gone = ", ".join(changes.keys() - present.keys())
        unchanged = [
            f"{name} = :seen_{name}" if name in item else f"attribute_not_exists({name})"
            for name in _SEEN
        ]
        return update(
            key,
            f"SET {', '.join(settings)}" + (f" REMOVE {gone}" if gone else ""),
            " AND ".join(unchanged),
            before=before,
            more=after - before,
            **{f"seen_{name}": item[name] for name in _SEEN if name in item},
            **present,
        )


def _asked(settings: EpisodicSettings) -> Item:
    """The given settings as attributes."""
    given: Item = {}
    if "capacity" in settings.model_fields_set:
        given["ep_asked"] = settings.capacity
    if "pinned_namespaces" in settings.model_fields_set:
        given["ep_pins"] = list(dict.fromkeys(settings.pinned_namespaces)) or None
    return given


def _capacity(item: Item) -> int:
    """The capacity that holds."""
    asked: int = item.get("ep_asked", DEFAULT_EPISODIC_ENTRIES)
    limit: int | None = item.get("ep_limit")
    return asked if limit is None else min(asked, limit)


def _settings(agent: str, item: Item) -> AgentSettings:
    return AgentSettings(
        agent, item.get("ep_asked", DEFAULT_EPISODIC_ENTRIES), item.get("ep_pins", [])
    )
