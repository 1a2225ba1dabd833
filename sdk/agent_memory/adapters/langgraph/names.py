"""Hierarchical namespaces as names of the service: names stay different, prefixes stay prefixes."""

from collections.abc import Iterable

from langgraph.store.base import MatchCondition

_LONGEST = 255
_ESCAPES = {"~": "~0", "/": "~1"}


def namespace_of(root: str, labels: Iterable[str]) -> str:
    """Return the service's namespace for these labels: each one ends with a slash.

    Raises:
        ValueError: it is too long for the service.
    """
    name = f"{root}/" + "".join(f"{_escaped(label)}/" for label in labels)
    if len(name) > _LONGEST:
        raise ValueError(f"the namespace needs {len(name)} characters; the maximum is {_LONGEST}")
    return name


def prefix_of(root: str, labels: Iterable[str]) -> str:
    """Return the prefix of all namespaces that begin with these labels."""
    return f"{namespace_of(root, labels)}*"


def labels_of(root: str, name: str) -> tuple[str, ...] | None:
    """Return the labels of a namespace of the service; None if it isn't one of this store's."""
    *labels, rest = name.removeprefix(f"{root}/").split("/")
    found = tuple(map(_unescaped, labels))
    exact = not rest and len(name) <= _LONGEST and namespace_of(root, found) == name
    return found if exact else None


def fits(labels: tuple[str, ...], conditions: Iterable[MatchCondition]) -> bool:
    """Return whether a namespace meets all of LangGraph's conditions."""
    return all(_meets(labels, condition) for condition in conditions)


def common_prefix(conditions: Iterable[MatchCondition]) -> tuple[str, ...]:
    """Return the labels that all namespaces begin with that meet the conditions."""
    prefixes = [_literal(each.path) for each in conditions if each.match_type == "prefix"]
    return max(prefixes, key=len, default=())


def _literal(path: tuple[str, ...]) -> tuple[str, ...]:
    path = tuple(path)
    return path[: path.index("*")] if "*" in path else path


def _meets(labels: tuple[str, ...], condition: MatchCondition) -> bool:
    """Return whether the labels begin or end with the condition's path; `*` matches any label."""
    path = condition.path
    if len(labels) < len(path):
        return False
    end = labels[: len(path)] if condition.match_type == "prefix" else labels[-len(path) :]
    return all(wanted in ("*", label) for label, wanted in zip(end, path, strict=True))


def _escaped(label: str) -> str:
    return label.replace("~", _ESCAPES["~"]).replace("/", _ESCAPES["/"])


def _unescaped(label: str) -> str:
    return label.replace(_ESCAPES["/"], "/").replace(_ESCAPES["~"], "~")
