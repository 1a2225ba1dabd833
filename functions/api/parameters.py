"""Query parameters: the values, parsing and meaning of each."""

import re
from dataclasses import dataclass
from typing import Any, Generic, Literal, NamedTuple, TypeVar, cast, get_args

from functions.api.http import Request
from functions.platform import limits
from functions.platform.clock import from_rfc3339
from functions.platform.errors import ValidationFailed

T = TypeVar("T")


@dataclass(eq=False)
class Parameter:
    """A query parameter; `description` is its meaning in the OpenAPI document."""

    name: str
    description: str

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of its values."""
        raise NotImplementedError

    def read(self, request: Request) -> Any:
        """Return the value; without one, the default."""
        raise NotImplementedError

    def text(self, request: Request) -> str | None:
        """Return the parameter as it was sent; None if it wasn't."""
        values = request.query.get(self.name)
        if values is None:
            return None
        if len(values) > 1:
            raise ValidationFailed(self.name, "must be given only once")
        return values[0]


class HeaderParameter(NamedTuple):
    """A header of a request, and its meaning in the OpenAPI document."""

    name: str
    description: str


@dataclass(eq=False)
class TextParameter(Parameter):
    """A text.

    Attributes:
        max_length: in characters; None: unlimited.
        pattern: the whole text must match it.
        expected: the end of the error for a text that doesn't match.
    """

    max_length: int | None = None
    pattern: str | None = None
    expected: str = ""

    @property
    def schema(self) -> dict[str, Any]:
        if self.pattern is not None:
            return {"type": "string", "pattern": f"^{self.pattern}$"}
        limit = {} if self.max_length is None else {"maxLength": self.max_length}
        return {"type": "string", "minLength": 1} | limit

    def read(self, request: Request) -> str | None:
        """Return the text; None if it wasn't sent."""
        text = self.text(request)
        return None if text is None else self.check(text)

    def check(self, text: str) -> str:
        """Check a text, and return it."""
        if self.pattern is not None and not re.fullmatch(self.pattern, text, re.ASCII):
            raise ValidationFailed(self.name, self.expected)
        if self.max_length is not None and not 0 < len(text) <= self.max_length:
            raise ValidationFailed(self.name, f"must have 1 to {self.max_length} characters")
        if text == "":
            raise ValidationFailed(self.name, "must not be empty")
        return text


class PrefixParameter(Parameter):
    """The prefix of names; an empty one matches all."""

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "string"}

    def read(self, request: Request) -> str:
        """Return the prefix; empty if it wasn't sent."""
        return self.text(request) or ""

    def require(self, request: Request) -> str:
        """Return the prefix, which must be sent."""
        prefix = self.text(request)
        if prefix is None:
            raise ValidationFailed(self.name, "is required; send an empty prefix to select all")
        return prefix


def read_either(request: Request, *parameters: TextParameter) -> str | None:
    """Return the one of these parameters that was sent; None if none was sent."""
    given = [parameter for parameter in parameters if parameter.text(request) is not None]
    if len(given) > 1:
        raise ValidationFailed(given[1].name, f"can't be combined with {given[0].name}")
    return given[0].read(request) if given else None


@dataclass(eq=False)
class ChoiceParameter(Parameter, Generic[T]):
    """One of the values of `literal`, a Literal."""

    literal: Any

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "string", "enum": list(get_args(self.literal))}

    def read(self, request: Request) -> T | None:
        """Return the choice; None if it wasn't sent."""
        text = self.text(request)
        if text is not None and text not in get_args(self.literal):
            raise ValidationFailed(self.name, f"must be one of {', '.join(get_args(self.literal))}")
        return cast("T | None", text)


@dataclass(eq=False)
class IntegerParameter(Parameter):
    """A whole number; if it isn't sent, the `default`, or 0."""

    minimum: int
    maximum: int
    default: int | None = None

    @property
    def schema(self) -> dict[str, Any]:
        default = {} if self.default is None else {"default": self.default}
        return {"type": "integer", "minimum": self.minimum, "maximum": self.maximum} | default

    def read(self, request: Request) -> int:
        """Return the number."""
        text = self.text(request)
        if text is None:
            return self.default or 0
        digits = text.isascii() and text.isdigit() and len(text) < 12
        if not (digits and self.minimum <= int(text) <= self.maximum):
            message = f"must be a whole number from {self.minimum} to {self.maximum}"
            raise ValidationFailed(self.name, message)
        return int(text)


class BooleanParameter(Parameter):
    """`true` or `false`."""

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "boolean"}

    def read(self, request: Request) -> bool | None:
        """Return the boolean; None if it wasn't sent."""
        text = self.text(request)
        if text not in (None, "true", "false"):
            raise ValidationFailed(self.name, "must be true or false")
        return None if text is None else text == "true"


class TimestampParameter(Parameter):
    """An RFC 3339 date-time."""

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "string", "format": "date-time"}

    def read(self, request: Request) -> int | None:
        """Return the time in epoch ms; None if it wasn't sent."""
        text = self.text(request)
        try:
            return None if text is None else from_rfc3339(text)
        except ValueError as error:
            raise ValidationFailed(self.name, str(error)) from error


class TagsParameter(Parameter):
    """Tags, separated by commas; the parameter may be repeated."""

    @property
    def schema(self) -> dict[str, Any]:
        tag = {"type": "string", "minLength": 1, "pattern": "^[^,]+$"}
        return {"type": "array", "items": tag, "minItems": 1, "maxItems": limits.MAX_TAGS}

    def read(self, request: Request) -> frozenset[str]:
        """Return the tags; none if it wasn't sent."""
        given = request.query.get(self.name)
        if given is None:
            return frozenset()
        tags = frozenset(tag for values in given for tag in values.split(",") if tag)
        if not 0 < len(tags) <= limits.MAX_TAGS:
            raise ValidationFailed(
                self.name, f"must be 1 to {limits.MAX_TAGS} tags, separated by commas"
            )
        return tags


LIMIT = IntegerParameter(
    "limit",
    "The maximum number of elements of the page.",
    1,
    limits.MAX_PAGE_ITEMS,
    limits.DEFAULT_PAGE_ITEMS,
)
ARRAY_LIMIT = IntegerParameter(
    "limit",
    "The maximum number of elements. By default, the array is the whole list. If that is too large "
    "for a response, 413 `PAGE_TOO_LARGE` has the `limit` to ask for.",
    1,
    limits.MAX_PAGE_ITEMS,
    limits.MAX_PAGE_ITEMS,
)
OFFSET = IntegerParameter("offset", "The number of elements to skip.", 0, limits.MAX_OFFSET, 0)
TAGS = TagsParameter("tags", "Only elements with all of these tags.")
AFTER = TextParameter(
    "after",
    "The `next` of the previous page, with the same filters.",
    limits.MAX_CURSOR_CHARACTERS,
)
ONLY_NEW = HeaderParameter(
    "If-None-Match",
    "`*` writes only if nothing exists; otherwise the request is rejected with 409. If-Match "
    "can't be combined with it.",
)
TOTAL: ChoiceParameter[Literal["exact", "none"]] = ChoiceParameter(
    "total",
    "`none` omits `total`, so a request costs only as much as its page. The default is `exact`, "
    "except for pages with `after`.",
    Literal["exact", "none"],
)
UNCOUNTED: ChoiceParameter[Literal["none"]] = ChoiceParameter(
    "total", "Only `none`, the default: this list isn't counted.", Literal["none"]
)
_OMIT = ("values", "`omit` returns no values.", Literal["omit"])
VALUES: ChoiceParameter[Literal["omit"]] = ChoiceParameter(*_OMIT)
"""For handlers that omit values themselves: a page without values has more elements."""
VALUES_OF_LIST: ChoiceParameter[Literal["omit", "ordinary"]] = ChoiceParameter(
    "values",
    "`omit` returns no values; `ordinary` returns no values of `confidential` and `restricted` "
    "entries.",
    Literal["omit", "ordinary"],
)
VALUES_OF_ANSWER: ChoiceParameter[Literal["omit"]] = ChoiceParameter(*_OMIT)
"""For other handlers: the API removes values from their responses."""
TOUCH = BooleanParameter(
    "touch",
    "`false` reads without changing the order of eviction. Only reads by the owner change it.",
)
AS_OF = TimestampParameter("as_of", "Return the state as of this time.")
ORDER: ChoiceParameter[Literal["asc", "desc"]] = ChoiceParameter(
    "order", "`desc` returns the newest first. Default: `asc`.", Literal["asc", "desc"]
)
FROM = TimestampParameter("from", "Only events of this time or later.")
TO = TimestampParameter("to", "Only events up to this time, including it.")
PAGE: tuple[Parameter, ...] = (LIMIT, OFFSET)
CURSOR_PAGE: tuple[Parameter, ...] = (*PAGE, AFTER, TOTAL)
ARRAY_PAGE: tuple[Parameter, ...] = (ARRAY_LIMIT, OFFSET, AFTER, TOTAL)
"""The parameters of a list as a bare array."""
UNCOUNTED_PAGE: tuple[Parameter, ...] = (AFTER, LIMIT, UNCOUNTED)
"""The parameters of a list that is not counted."""


def read_period(request: Request) -> tuple[int | None, int | None]:
    """Read the period of a query: its first and last moment, in epoch ms."""
    since, until = FROM.read(request), TO.read(request)
    if since is not None and until is not None and since > until:
        raise ValidationFailed("to", "must not be earlier than `from`")
    return since, until
