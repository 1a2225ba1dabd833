"""The parts of a client that few programs need, in two groups."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_memory._sync.agents import Agents
    from agent_memory._sync.audit import Audit
    from agent_memory._sync.consolidation import Consolidation
    from agent_memory._sync.deletions import Deletions
    from agent_memory._sync.intents import Intents
    from agent_memory._sync.namespaces import Namespaces
    from agent_memory._sync.principals import Principals
    from agent_memory._sync.procedures import Procedures
    from agent_memory._sync.runs import Runs
    from agent_memory._sync.states import States
    from agent_memory._sync.strategies import Strategies
    from agent_memory._sync.tenants import Tenants
    from agent_memory._sync.workflows import Workflows
    from agent_memory._sync.working_values import WorkingValues


@dataclass(frozen=True, slots=True)
class Admin:
    """`client.admin`: the parts for administrators."""

    principals: "Principals"
    namespaces: "Namespaces"
    agents: "Agents"
    tenants: "Tenants"
    strategies: "Strategies"
    consolidation: "Consolidation"
    deletions: "Deletions"
    audit: "Audit"


@dataclass(frozen=True, slots=True)
class Protocols:
    """`client.protocols`: the parts that follow a specification."""

    intents: "Intents"
    procedures: "Procedures"
    runs: "Runs"
    states: "States"
    workflows: "Workflows"
    working_values: "WorkingValues"
