"""A field has one name in the API, in the model, and in the stored item."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

API = Path("functions/api")
_READERS = ("get", "bytes", "frozenset", "int", "set", "str", "tuple")  # keep what they read

_OF_ANY_KIND = "the model is shared by documents that name its id after their subject"
_HEADERS = {"content-length", "location"}
EXCEPTIONS: dict[tuple[str, str, str], str] = {
    ("agents", "agent_id", "id"): _OF_ANY_KIND,
    (
        "messages",
        "upload_id",
        "generation",
    ): "an upload is the next conversation of its session",
    ("conversations", "total", "message_count"): "a page of messages has the position of any list",
    ("entries", "actor", "id"): "the list of versions names its writers as logs of events do",
    ("entries", "time", "updated_at"): "a version in a list has one time",
    ("spaces", "space", "name"): "a space has the permissions of a namespace, and so its model",
    ("openwop", "agentType", "id"): _OF_ANY_KIND,
    ("openwop", "principal", "id"): _OF_ANY_KIND,
    ("tasks", "task_id", "id"): "a context names the task that it is of",
    ("tasks", "name", "id"): "published clients of RFC-0012 read the id of a task as its name, too",
}
"""The fields of another name: module, name in the API, name in the model, and the reason."""


def list_renamed_fields() -> Iterator[tuple[str, str, str]]:
    """List the fields that a renderer takes from a field of another name."""
    for path in sorted([*API.glob("responses/*.py"), *API.glob("routes/*.py")]):
        for name, value in list_rendered(ast.parse(path.read_text())):
            field = find_field(value)
            if field is not None and name not in _HEADERS and not is_same(name, field):
                yield path.stem, name, field


def list_rendered(module: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """List what a module puts under a name: in a literal, by an assignment or as an argument."""
    for node in ast.walk(module):
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant):
                    yield str(key.value), value
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            index = node.targets[0].slice
            if isinstance(index, ast.Constant):
                yield str(index.value), node.value
        elif isinstance(node, ast.Call) and _is_document(node.func):
            yield from ((each.arg, each.value) for each in node.keywords if each.arg is not None)


def _is_document(function: ast.expr) -> bool:
    name = getattr(function, "id", "")
    return name == "to_document" or name.endswith("Document")


def is_same(name: str, field: str) -> bool:
    """Tell whether names agree: `createdAt` of OpenWOP, and `capacity` in the object `episodic`."""
    name = re.sub(r"(?<=[a-z])[A-Z]", lambda found: f"_{found[0].lower()}", name)
    return field == name or field in (f"working_{name}", f"episodic_{name}")


def find_field(value: ast.expr) -> str | None:
    """Return the model's field that an expression only converts; None if it computes something."""
    if isinstance(value, ast.IfExp):
        return find_field(value.body) or find_field(value.orelse)
    if isinstance(value, ast.Call) and len(value.args) == 1:
        computes = getattr(value.func, "id", "").startswith(("render_", "get_"))
        return None if computes else find_field(value.args[0])
    return value.attr if isinstance(value, ast.Attribute) else None


def test_fields_keep_their_names() -> None:
    assert set(list_renamed_fields()) == set(EXCEPTIONS)
    assert len(EXCEPTIONS) <= 10


def list_renamed_attributes() -> Iterator[tuple[str, str, str]]:
    """List the fields that a model takes from an attribute of another name."""
    for path in sorted(Path("functions").glob("*/*.py")):
        if path.name == "records.py":
            continue  # the shape of AWS
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and _is_model(node.func):
                read = {each.arg: find_attribute(each.value) for each in node.keywords if each.arg}
                for name, attribute in read.items():
                    if attribute not in (None, name) and read.get(str(attribute)) != attribute:
                        yield path.stem, name, str(attribute)


def _is_model(function: ast.expr) -> bool:
    return isinstance(function, ast.Name) and (
        function.id[:1].isupper() or function.id in ("cls", "from_attributes", "replace")
    )


def find_attribute(value: ast.expr | None) -> str | None:
    """Return the attribute that an expression only reads: `item["name"]`, `item.get("name")`."""
    match value:
        case ast.IfExp():
            return find_attribute(value.body) or find_attribute(value.orelse)
        case ast.Subscript(value=ast.Name(), slice=ast.Constant(value=str(name))):
            return name
        case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=str(name)), *_]):
            return name
        case ast.Call(func=ast.Name(id=function), args=[read, *_]) if function in _READERS:
            return find_attribute(read)
    return None


def test_attributes_keep_their_names() -> None:
    assert set(list_renamed_attributes()) == {
        ("store", "id", "task_id"),  # of a task, whose rows in other partitions have `task_id`, too
    }
