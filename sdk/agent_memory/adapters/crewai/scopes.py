"""CrewAI's scopes and categories as tags, so that the service itself filters by them."""

from collections.abc import Iterable
from itertools import accumulate

from agent_memory.adapters.hashing import hash_id


def normalize_scope(scope: str | None) -> str:
    """Return a scope with one slash before each of its names; `/` is the root."""
    return "/" + "/".join(_split(scope))


def build_scope_tags(scope: str | None) -> list[str]:
    """Build the tags of all records of a scope: none for the root."""
    return build_tags(scope, ())[-1:]


def build_category_tags(categories: Iterable[str]) -> list[str]:
    """Build the tags of records that have these categories."""
    return [f"category:{hash_id(name)}" for name in categories]


def build_tags(scope: str | None, categories: Iterable[str]) -> list[str]:
    """Build the tags of a record: one for each of its categories and scopes."""
    scopes = accumulate(_split(scope), lambda before, name: f"{before}/{name}")
    listed = [*build_category_tags(categories), *(f"scope:{hash_id(each)}" for each in scopes)]
    return list(dict.fromkeys(listed))


def find_children(parent: str | None, scopes: Iterable[str]) -> list[str]:
    """Find the scopes directly below a scope that have some of these records."""
    above = _split(parent)
    depth = len(above)
    names = (_split(scope) for scope in scopes)
    below = {tuple(each[: depth + 1]) for each in names if len(each) > depth}
    return sorted("/" + "/".join(each) for each in below if list(each[:depth]) == above)


def _split(scope: str | None) -> list[str]:
    return [name for name in (scope or "").split("/") if name]
