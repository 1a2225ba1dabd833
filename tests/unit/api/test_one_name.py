"""A field has one name in the API and in the model, under which it is stored, too."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

API = Path("functions/api")

_OF_ANY_KIND = "the model is shared by documents that name its id after their subject"
_SEQUENCE = "the model holds a sequence number, and the document the time of it"
EXCEPTIONS: dict[tuple[str, str, str], str] = {
    ("agents", "agent_id", "id"): _OF_ANY_KIND,
    (
        "messages",
        "upload_id",
        "generation",
    ): "an upload is the next conversation of its session",
    ("entries", "actor", "id"): "the list of versions names its writers as logs of events do",
    ("entries", "time", "updated_at"): "a version in a list has one time",
    ("spaces", "space", "name"): "a space has the permissions of a namespace, and so its model",
    ("openwop", "agentType", "id"): _OF_ANY_KIND,
    ("openwop", "deletedAt", "deleted"): _SEQUENCE,
    ("openwop", "principal", "id"): _OF_ANY_KIND,
    ("openwop_runs", "snapshotAt", "snapshot"): _SEQUENCE,
    ("tasks", "name", "id"): "published clients of RFC-0012 read the id of a task as its name, too",
}
"""The fields of another name: module, name in the API, name in the model, and the reason."""


def list_renamed_fields() -> Iterator[tuple[str, str, str]]:
    """List the fields that a renderer takes from a field of another name."""
    for path in sorted([*API.glob("responses/*.py"), *API.glob("routes/*.py")]):
        for name, value in list_rendered(ast.parse(path.read_text())):
            field = find_field(value)
            if field is not None and not is_same(name, field):
                yield path.stem, name, field


def list_rendered(module: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """List what renderers put under a name: in a literal, by an assignment or as an argument."""
    for node in _list_nodes_of_renderers(module):
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant):
                    yield str(key.value), value
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            index = node.targets[0].slice
            if isinstance(index, ast.Constant):
                yield str(index.value), node.value
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "to_document":
            yield from ((each.arg, each.value) for each in node.keywords if each.arg is not None)


def _list_nodes_of_renderers(module: ast.Module) -> Iterator[ast.AST]:
    for each in ast.walk(module):
        if isinstance(each, ast.FunctionDef) and "render" in each.name:
            yield from ast.walk(each)
        elif isinstance(each, ast.Call) and getattr(each.func, "id", "") == "to_document":
            yield each


def is_same(name: str, field: str) -> bool:
    """Tell whether names agree: `createdAt` of OpenWOP, and `capacity` in the object `episodic`."""
    name = re.sub(r"(?<=[a-z])[A-Z]", lambda found: f"_{found[0].lower()}", name)
    return field == name or field in (f"working_{name}", f"episodic_{name}")


def find_field(value: ast.expr) -> str | None:
    """Return the model's field that an expression only converts; None if it computes something."""
    if isinstance(value, ast.IfExp):
        return find_field(value.body) or find_field(value.orelse)
    if isinstance(value, ast.Call) and len(value.args) == 1:
        return find_field(value.args[0])
    return value.attr if isinstance(value, ast.Attribute) else None


def test_fields_keep_their_names() -> None:
    assert set(list_renamed_fields()) == set(EXCEPTIONS)
    assert len(EXCEPTIONS) <= 10
