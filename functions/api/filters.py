"""The query parameters of RFC-0015 §4.1."""

from typing import cast, get_args

from functions.api.http import Request
from functions.api.paging import single
from functions.entries.model import Filters, parse_namespace_filter
from functions.entries.tiers import Tier
from functions.platform.clock import from_rfc3339
from functions.platform.errors import ValidationFailed
from functions.platform.limits import MAX_TAGS

NARROWING = (
    "namespace",
    "key",
    "tags",
    "tags_any",
    "scope.task_id",
    "scope.intent_id",
    "updated_after",
    "updated_before",
)
OF_AGENT = ("memory_type", "pinned", *NARROWING)
FILTERS = ("agent_id", *OF_AGENT)


def filters_of(request: Request, agent_id: str | None = None) -> Filters:
    """The filters of a query.

    Raises:
        ValidationFailed: a parameter has no such value.
    """
    namespace, prefix = parse_namespace_filter(_text(request, "namespace"))
    return Filters(
        agent_id=_text(request, "agent_id") if agent_id is None else agent_id,
        namespace=namespace,
        namespace_prefix=prefix,
        key=_text(request, "key"),
        tier=_tier(request),
        tags=tags_of(request, "tags"),
        tags_any=tags_of(request, "tags_any"),
        task=_text(request, "scope.task_id"),
        intent=_text(request, "scope.intent_id"),
        pinned=_boolean(request, "pinned"),
        updated_after=_moment(request, "updated_after"),
        updated_before=_moment(request, "updated_before"),
    )


def _text(request: Request, name: str) -> str | None:
    text = single(request, name)
    if text == "":
        raise ValidationFailed(name, "is empty")
    return text


def _tier(request: Request) -> Tier | None:
    text = single(request, "memory_type")
    if text is not None and text not in get_args(Tier):
        raise ValidationFailed("memory_type", f"is one of {', '.join(get_args(Tier))}")
    return cast("Tier | None", text)


def tags_of(request: Request, name: str) -> frozenset[str]:
    """A query parameter that holds tags, separated by commas; none if it isn't given.

    Raises:
        ValidationFailed: it is empty, or holds too many.
    """
    given = request.query.get(name)
    if given is None:
        return frozenset()
    tags = frozenset(tag for values in given for tag in values.split(",") if tag)
    if not 0 < len(tags) <= MAX_TAGS:
        raise ValidationFailed(name, f"takes 1 to {MAX_TAGS} tags, separated by commas")
    return tags


def _boolean(request: Request, name: str) -> bool | None:
    text = single(request, name)
    if text not in (None, "true", "false"):
        raise ValidationFailed(name, "is true or false")
    return None if text is None else text == "true"


def _moment(request: Request, name: str) -> int | None:
    text = single(request, name)
    try:
        return None if text is None else from_rfc3339(text)
    except ValueError as error:
        raise ValidationFailed(name, str(error)) from error
