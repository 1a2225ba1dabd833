"""The query parameters that filter entries (RFC-0015 §4.1)."""

from typing import Any

from functions.api.http import Request
from functions.api.parameters import (
    TAGS,
    BooleanParameter,
    ChoiceParameter,
    Parameter,
    TagsParameter,
    TextParameter,
    TimestampParameter,
)
from functions.entries.filters import Filters, parse_namespace_filter
from functions.entries.tiers import Tier

_OWNER: dict[str, Parameter] = {
    "agent_id": TextParameter(
        "agent_id",
        "The owner. Required for working and episodic memory, unless scope.task_id is given; for "
        "an agent it defaults to itself.",
    )
}
_TYPES: dict[str, Parameter] = {
    "memory_type": ChoiceParameter("memory_type", "The tier.", Tier),
    "pinned": BooleanParameter(
        "pinned", "Only episodic entries that are pinned (`true`), or not pinned (`false`)."
    ),
}
_NARROWING: dict[str, Parameter] = {
    "namespace": TextParameter(
        "namespace", "The namespace; a trailing `*` makes it a prefix: `billing.*`."
    ),
    "key": TextParameter("key", "The key."),
    "tags": TAGS,
    "tags_any": TagsParameter("tags_any", "Only entries with any of these tags."),
    "task_id": TextParameter("scope.task_id", "Only entries with this task in their scope."),
    "intent_id": TextParameter("scope.intent_id", "Only entries with this intent in their scope."),
    "updated_after": TimestampParameter("updated_after", "Only entries changed after this time."),
    "updated_before": TimestampParameter(
        "updated_before", "Only entries changed before this time."
    ),
}
_PARAMETERS = _OWNER | _TYPES | _NARROWING
"""By the field of `Filters`."""

FILTERS = tuple(_PARAMETERS.values())
AGENT_FILTERS = (*_TYPES.values(), *_NARROWING.values())
NARROWING = tuple(_NARROWING.values())
"""A deletion by filters needs at least one of these."""


def read_filters(request: Request, agent_id: str | None = None) -> Filters:
    """Read the filters of a query.

    Args:
        agent_id: the owner, if the path names it.
    """
    given: dict[str, Any] = {name: each.read(request) for name, each in _PARAMETERS.items()}
    given["agent_id"] = agent_id or given["agent_id"]
    given["namespace"], given["namespace_prefix"] = parse_namespace_filter(given["namespace"])
    return Filters(**given)
