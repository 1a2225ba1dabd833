"""The query parameters that filter entries (RFC-0015 §4.1)."""

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
from functions.entries.model import Filters, parse_namespace_filter
from functions.entries.tiers import Tier

_AGENT = TextParameter(
    "agent_id",
    "The owner. Required for working and episodic memory, unless scope.task_id is given; for an "
    "agent it defaults to itself.",
)
_TIER: ChoiceParameter[Tier] = ChoiceParameter("memory_type", "The tier.", Tier)
_PINNED = BooleanParameter("pinned", "Episodic entries that are pinned, or aren't.")
_NAMESPACE = TextParameter(
    "namespace", "The namespace; a trailing `*` makes it a prefix: `billing.*`."
)
_KEY = TextParameter("key", "The key.")
_TAGS_ANY = TagsParameter("tags_any", "Entries that have any of these.")
_TASK = TextParameter("scope.task_id", "The task in the entry's scope.")
_INTENT = TextParameter("scope.intent_id", "The intent in the entry's scope.")
_UPDATED_AFTER = TimestampParameter("updated_after", "Entries changed after this moment.")
_UPDATED_BEFORE = TimestampParameter("updated_before", "Entries changed before this moment.")

NARROWING: tuple[Parameter, ...] = (
    _NAMESPACE,
    _KEY,
    TAGS,
    _TAGS_ANY,
    _TASK,
    _INTENT,
    _UPDATED_AFTER,
    _UPDATED_BEFORE,
)
"""Those of which a deletion by filters needs at least one."""

AGENT_FILTERS: tuple[Parameter, ...] = (_TIER, _PINNED, *NARROWING)
FILTERS: tuple[Parameter, ...] = (_AGENT, *AGENT_FILTERS)


def read_filters(request: Request, agent_id: str | None = None) -> Filters:
    """Read the filters of a query.

    Args:
        agent_id: the owner, where the path names it.

    Raises:
        ValidationFailed: a parameter has no such value.
    """
    namespace, prefix = parse_namespace_filter(_NAMESPACE.read(request))
    return Filters(
        agent_id=_AGENT.read(request) if agent_id is None else agent_id,
        namespace=namespace,
        namespace_prefix=prefix,
        key=_KEY.read(request),
        memory_type=_TIER.read(request),
        tags=TAGS.read(request),
        tags_any=_TAGS_ANY.read(request),
        task_id=_TASK.read(request),
        intent_id=_INTENT.read(request),
        pinned=_PINNED.read(request),
        updated_after=_UPDATED_AFTER.read(request),
        updated_before=_UPDATED_BEFORE.read(request),
    )
