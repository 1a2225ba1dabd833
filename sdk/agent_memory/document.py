"""Reading of models from documents of the service."""

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
    """An answer of the service. Times are `datetime`s in UTC, to the millisecond.

    Attributes:
        raw: the document as it came, with the fields that this version of the client doesn't know.
    """

    raw: Document = field(repr=False, compare=False)

    @classmethod
    def from_document(cls, document: Document) -> Self:
        """Read a document of the service.

        Raises:
            KeyError: raised when a field is missing that every answer has; a list that is missing
                is empty, and what is said to be so or not isn't so.
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
        """Return a copy of the document as it came, which JSON can hold: times are texts.

        client.memory.get_entry("invoices", "progress").to_dict()
        """
        return deepcopy(dict(self.raw))


class _Member(NamedTuple):
    name: str
    path: tuple[str, ...]  # in the document; empty: the document itself
    read: Read
    is_required: bool
    empty: Any  # what it is where it is missing; None if it may not be

    def get_empty(self) -> Any:
        """Return what the field is where it is missing.

        Raises:
            KeyError: raised when it may not be missing.
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
    """Return what a model reads of a document; its annotations are looked at once."""
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
    """Return what makes a field's value of what JSON has for it."""
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
