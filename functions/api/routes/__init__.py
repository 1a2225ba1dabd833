"""The routes of the API: one module for each subject, and the one list of them all."""

from functions.api.routes import (
    access,
    agents,
    audit,
    batches,
    console,
    conversations,
    discovery,
    entries,
    event_logs,
    facts,
    grants,
    identity,
    intents,
    messages,
    namespaces,
    objects,
    openwop,
    procedures,
    runs,
    states,
    tasks,
    working_values,
)

OPENWOP_PREFIX = "/v1/"

ROUTES = [
    *event_logs.ROUTES,
    *namespaces.ROUTES,
    *agents.ROUTES,
    *entries.ROUTES,
    *batches.ROUTES,
    *grants.ROUTES,
    *intents.ROUTES,
    *tasks.ROUTES,
    *messages.ROUTES,
    *conversations.ROUTES,
    *states.ROUTES,
    *facts.ROUTES,
    *working_values.ROUTES,
    *procedures.ROUTES,
    *openwop.ROUTES,
    *objects.ROUTES,
    *runs.ROUTES,
    *identity.ROUTES,
    *audit.ROUTES,
    *access.ROUTES,
    *discovery.ROUTES,
    *console.ROUTES,
]
"""Of templates that overlap, the first wins: paths that end in a fixed word come first."""
