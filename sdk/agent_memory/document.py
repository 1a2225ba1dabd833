"""Read models from documents of the service."""

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import MISSING, dataclass, field, fields
from datetime import datetime
from types import UnionType
from typing import Any, NamedTuple, Self, get_args, get_origin, get_type_hints

Document = Mapping[str, Any]
Read = Callable[[Any], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A document of the service. Times are `datetime`s in UTC, to the millisecond.

    Attributes:
        raw: the original document, with fields that this version of the client doesn't know.
    """

    raw: Document = field(repr=False, compare=False)

    @classmethod
    def from_document(cls, document: Document) -> Self:
        """Read a document of the service.

        Raises:
            KeyError: raised when a required field is missing; a missing list is empty, and a
                missing boolean is False.
            AttributeError, TypeError, ValueError: raised when the document is of another kind.
        """
        given: dict[str, Any] = {}
        for each in _list_members(cls):
            value = each.find(document)
            if value is not None:
                given[each.name] = each.read(value)
            elif each.is_required:
                given[each.name] = each.get_empty()
        return cls(raw=document, **given)

    def to_dict(self) -> dict[str, Any]:
        """Return a copy of the original document, for JSON: times are texts.

        client.memory.get_entry("invoices", "progress").to_dict()
        """
        return deepcopy(dict(self.raw))


class _Member(NamedTuple):
    name: str
    path: tuple[str, ...]  # in the document; empty: the document itself
    read: Read
    is_required: bool
    empty: Any  # the value if it is missing; None if it is required

    def get_empty(self) -> Any:
        """Return the value of a missing field.

        Raises:
            KeyError: raised when it is required.
        """
        if self.empty is None:
            raise KeyError(self.name)
        return self.empty

    def find(self, document: Document) -> Any:
        """Return the value; None if the document has none."""
        found: Any = document
        for part in self.path:
            found = found.get(part) if found is not None else None
        return found


_members: dict[type[Model], tuple[_Member, ...]] = {}


def _list_members(model: type[Model]) -> tuple[_Member, ...]:
    """List the fields that a model reads from a document; its annotations are read once."""
    if model not in _members:
        _members[model] = tuple(_read_members(model))
    return _members[model]


def _read_members(model: type[Model]) -> Iterator[_Member]:
    kinds = get_type_hints(model)
    for each in fields(model):
        if each.name == "raw":
            continue
        has_default = each.default is not MISSING or each.default_factory is not MISSING
        path = tuple(filter(None, each.metadata.get("path", each.name).split(".")))
        kind = kinds[each.name]
        yield _Member(each.name, path, _select_reader(kind), not has_default, _find_empty(kind))


def _find_empty(kind: Any) -> Any:
    """Return the empty value of a kind of field; None if it has none."""
    return () if get_origin(kind) is tuple else False if kind is bool else None


def _select_reader(kind: Any) -> Read:
    """Return the function that converts a field's JSON to its value."""
    if isinstance(kind, UnionType):
        kind = next(each for each in get_args(kind) if each is not type(None))
    if get_origin(kind) is tuple:
        read = _select_reader(get_args(kind)[0])
        return lambda value: tuple(map(read, value))
    if kind is datetime:
        return datetime.fromisoformat
    if isinstance(kind, type) and issubclass(kind, Model):
        return kind.from_document
    return _keep


def _keep(value: Any) -> Any:
    return value
