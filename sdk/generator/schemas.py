"""The Python types of the schemas of the service's OpenAPI document."""

import json
from pathlib import Path
from typing import Any

from generator.catalog import KEYWORDS, LITERALS, MODULES

_DOCUMENT = Path(__file__).parents[2] / "functions/api/openapi.json"
_SIMPLE = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
_SIMPLE |= {"date-time": "datetime"}  # a format of texts
_MODELS = {name for _, models in MODULES.values() for name in models}
_BODIES = {schema: name for name, (schema, _, _) in KEYWORDS.items()}

Schema = dict[str, Any]


def read_schemas() -> dict[str, Schema]:
    """Return the document's schemas by name."""
    schemas: dict[str, Schema] = json.loads(_DOCUMENT.read_text("utf-8"))["components"]["schemas"]
    return schemas


def list_literals(schemas: dict[str, Schema]) -> dict[str, list[str]]:
    """Return the values of each enumeration."""
    return {
        name: list_choices(schemas[schema]["properties"][place])
        for name, (schema, place) in LITERALS.items()
    }


def list_choices(schema: Schema) -> list[str]:
    """Return the values of an enumeration, or of an array of one."""
    flat = flatten(schema)
    values = flat.get("items", flat).get("enum", ())
    return [value for value in values if value is not None]


def flatten(schema: Schema) -> Schema:
    """Return the schema without its `anyOf` with null."""
    others = [each for each in schema.get("anyOf", ()) if each.get("type") != "null"]
    return {**others[0], **schema} if len(others) == 1 else schema


def is_nullable(schema: Schema) -> bool:
    """Return whether null is among the values."""
    return {"type": "null"} in schema.get("anyOf", ()) or "null" in schema.get("type", "")


def render_type(schema: Schema, literals: dict[str, list[str]]) -> str:
    """Return the Python type of a schema's values, except null; a moment is a `datetime`.

    Raises:
        KeyError: raised when an enumeration has no name in the catalog.
    """
    flat = flatten(schema)
    if "enum" in flat:
        return _name_literal(list_choices(flat), literals)
    if "$ref" in flat:
        name = str(flat["$ref"]).rpartition("/")[2]
        return name if name in _MODELS else _BODIES.get(name, "dict[str, Any]")
    several = [each for each in flat.get("anyOf", ()) if each.get("type") != "null"]
    if several:
        return " | ".join(dict.fromkeys(render_type(each, literals) for each in several))
    types = flat.get("type", "object")
    kind = types if isinstance(types, str) else next(each for each in types if each != "null")
    if kind == "array":
        return f"tuple[{render_type(flat.get('items', {}), literals)}, ...]"
    if "type" not in flat:
        return "Any"
    values = flat.get("additionalProperties")
    inner = render_type(values, literals) if isinstance(values, dict) and values else "Any"
    kind = "date-time" if flat.get("format") == "date-time" else kind
    return _SIMPLE.get(kind, f"dict[str, {inner}]")


def _name_literal(choices: list[str], literals: dict[str, list[str]]) -> str:
    for name, values in literals.items():
        if values == choices:
            return name
    raise KeyError(f"name the enumeration {choices} in the catalog")


def find_models(kind: str) -> set[str]:
    """Return the models in a type."""
    words = set("".join(each if each.isalnum() else " " for each in kind).split())
    return words & _MODELS
