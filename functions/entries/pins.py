"""What an agent's settings pin (RFC-0015 §7): new episodic entries of its pinned namespaces.

A create doesn't read the settings. Its transaction assumes that they pin nothing; where they do,
the refusal brings them.
"""

from dataclasses import replace

from functions.entries.plan import Plan
from functions.entries.writes import Transition
from functions.platform.items import Item


def pinned(plan: Plan, agent: str, counters: Item) -> Plan:
    """The plan with those entries pinned that the agent's settings pin."""
    names = frozenset(counters.get("ep_pins", ()))
    return replace(plan, steps=tuple(_pinned(step, agent, names) for step in plan.steps))


def _pinned(step: Transition, agent: str, names: frozenset[str]) -> Transition:
    new = step.new
    if new is None or not step.may_pin or new.agent != agent or new.namespace not in names:
        return step
    return replace(step, new=new._replace(pinned=True))
