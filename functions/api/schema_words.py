"""The words that the schemas of answers are made of."""

from typing import Any, get_args

from functions.api.documents import Document

STRING: Document = {"type": "string"}
COUNT: Document = {"type": "integer", "minimum": 0}
VERSION: Document = {"type": "integer", "minimum": 1}
BOOLEAN: Document = {"type": "boolean"}
TIME: Document = {
    "type": "string",
    "format": "date-time",
    "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$",
}


def one_of(literal: Any) -> Document:
    """The values of a Literal."""
    return {"type": "string", "enum": list(get_args(literal))}


def maybe(schema: Document) -> Document:
    """The schema, or null."""
    nullable = schema | {"type": [schema["type"], "null"]}
    return nullable | ({"enum": [*schema["enum"], None]} if "enum" in schema else {})


def array_of(items: Document) -> Document:
    """A list of such."""
    return {"type": "array", "items": items}


def object_of(optional: Document | None = None, /, **required: Document) -> Document:
    """An object with these properties."""
    properties = required | (optional or {})
    return {"type": "object", "properties": properties, "required": list(required)}


def ref(name: str) -> Document:
    """The schema of this name."""
    return {"$ref": f"#/components/schemas/{name}"}


def page_of(name: str, item: str) -> Document:
    """A page of a list, under `name`."""
    required = {name: array_of(ref(item)), "total": COUNT, "limit": VERSION, "offset": COUNT}
    return object_of({"next_offset": COUNT}, **required)
