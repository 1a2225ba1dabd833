"""The query parameters of RFC-0015 §4.1."""

from typing import cast, get_args

from functions.api.call import Call
from functions.api.paging import single
from functions.entries.model import Filters, Tier, name_or_prefix
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


def filters_of(call: Call, agent_id: str | None = None) -> Filters:
    """The filters of a query.

    Raises:
        ValidationFailed: a parameter has no such value.
    """
    namespace, prefix = name_or_prefix(_text(call, "namespace"))
    return Filters(
        agent_id=_text(call, "agent_id") if agent_id is None else agent_id,
        namespace=namespace,
        namespace_prefix=prefix,
        key=_text(call, "key"),
        tier=_tier(call),
        tags=tags_of(call, "tags"),
        tags_any=tags_of(call, "tags_any"),
        task=_text(call, "scope.task_id"),
        intent=_text(call, "scope.intent_id"),
        pinned=_boolean(call, "pinned"),
        updated_after=_moment(call, "updated_after"),
        updated_before=_moment(call, "updated_before"),
    )


def _text(call: Call, name: str) -> str | None:
    text = single(call, name)
    if text == "":
        raise ValidationFailed(name, "is empty")
    return text


def _tier(call: Call) -> Tier | None:
    text = single(call, "memory_type")
    if text is not None and text not in get_args(Tier):
        raise ValidationFailed("memory_type", f"is one of {', '.join(get_args(Tier))}")
    return cast("Tier | None", text)


def tags_of(call: Call, name: str) -> frozenset[str]:
    """A query parameter that holds tags, separated by commas; none if it isn't given.

    Raises:
        ValidationFailed: it is empty, or holds too many.
    """
    given = call.query.get(name)
    if given is None:
        return frozenset()
    tags = frozenset(tag for values in given for tag in values.split(",") if tag)
    if not 0 < len(tags) <= MAX_TAGS:
        raise ValidationFailed(name, f"takes 1 to {MAX_TAGS} tags, separated by commas")
    return tags


def _boolean(call: Call, name: str) -> bool | None:
    text = single(call, name)
    if text not in (None, "true", "false"):
        raise ValidationFailed(name, "is true or false")
    return None if text is None else text == "true"


def _moment(call: Call, name: str) -> int | None:
    text = single(call, name)
    try:
        return None if text is None else from_rfc3339(text)
    except ValueError as error:
        raise ValidationFailed(name, str(error)) from error
