"""The parts of a client that few programs need, in two groups."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_memory._async.agents import AsyncAgents
    from agent_memory._async.audit import AsyncAudit
    from agent_memory._async.consolidation import AsyncConsolidation
    from agent_memory._async.deletions import AsyncDeletions
    from agent_memory._async.intents import AsyncIntents
    from agent_memory._async.namespaces import AsyncNamespaces
    from agent_memory._async.principals import AsyncPrincipals
    from agent_memory._async.procedures import AsyncProcedures
    from agent_memory._async.runs import AsyncRuns
    from agent_memory._async.states import AsyncStates
    from agent_memory._async.strategies import AsyncStrategies
    from agent_memory._async.tenants import AsyncTenants
    from agent_memory._async.workflows import AsyncWorkflows
    from agent_memory._async.working_values import AsyncWorkingValues


@dataclass(frozen=True, slots=True)
class AsyncAdmin:
    """`client.admin`: the parts for administrators."""

    principals: "AsyncPrincipals"
    namespaces: "AsyncNamespaces"
    agents: "AsyncAgents"
    tenants: "AsyncTenants"
    strategies: "AsyncStrategies"
    consolidation: "AsyncConsolidation"
    deletions: "AsyncDeletions"
    audit: "AsyncAudit"


@dataclass(frozen=True, slots=True)
class AsyncProtocols:
    """`client.protocols`: the parts that follow a specification."""

    intents: "AsyncIntents"
    procedures: "AsyncProcedures"
    runs: "AsyncRuns"
    states: "AsyncStates"
    workflows: "AsyncWorkflows"
    working_values: "AsyncWorkingValues"
