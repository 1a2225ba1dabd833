"""Prose, types and tables of fields, as HTML; everything that is given is escaped."""

import re
from collections.abc import Iterable
from html import escape

from functions.api.documents import Document

_CODE = re.compile(r"`([^`]+)`")
_REFERENCE = "#/components/schemas/"


def prose(text: str) -> str:
    """Text with `code` in it."""
    return _CODE.sub(r"<code>\1</code>", escape(text))


def table(rows: Iterable[Iterable[str]]) -> str:
    """A table of cells that are HTML already; nothing if there are no rows."""
    lines = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="wide"><table>{lines}</table></div>' if lines else ""


def fields(schema: Document) -> str:
    """The properties of an object: name, type, meaning."""
    required = schema.get("required", ())
    return table(
        (f"<code>{escape(name)}</code>{_mark(name in required)}", kind(each), meaning(each))
        for name, each in schema.get("properties", {}).items()
    )


def _mark(required: bool) -> str:
    return ' <span class="soft">required</span>' if required else ""


def parameter_row(parameter: Document) -> tuple[str, str, str]:
    """A parameter: name and place, type, meaning."""
    place = f' <span class="soft">{escape(parameter["in"])}</span>'
    name = f"<code>{escape(parameter['name'])}</code>{place}"
    optional = parameter["in"] == "path" or not parameter.get("required", False)
    return name + _mark(not optional), kind(parameter["schema"]), prose(parameter["description"])


def meaning(schema: Document) -> str:
    """What a field means, and what it is when it isn't given."""
    text = schema.get("description", "")
    if "default" in schema:
        text += f" Default: `{schema['default']}`."
    return prose(text)


def kind(schema: Document) -> str:
    """A schema's type in a few words, with a link where it is an object of its own."""
    if "$ref" in schema:
        name = escape(schema["$ref"].removeprefix(_REFERENCE))
        return f'<a href="#{name}">{name}</a>'
    for word in ("anyOf", "oneOf"):
        if word in schema:
            return " or ".join(kind(each) for each in schema[word])
    if "const" in schema:
        return f"<code>{escape(str(schema['const']))}</code>"
    if "enum" in schema:
        return " or ".join(f"<code>{escape(_literal(each))}</code>" for each in schema["enum"])
    return _simple(schema)


def _literal(value: str | None) -> str:
    return "null" if value is None else value


def _simple(schema: Document) -> str:
    types = schema.get("type", "anything")
    words = " or ".join([types] if isinstance(types, str) else types)
    if types == "array":
        words = "list of "
        return words + kind(schema["items"]) + escape(_bounds(schema, "Items", " items"))
    if schema.get("format") == "date-time":
        words = words.replace("string", "date-time")
    if schema.get("properties"):
        return fields(schema)
    return escape(words + _bounds(schema, "Length", " characters") + _range(schema))


def _bounds(schema: Document, what: str, unit: str) -> str:
    least, most = schema.get(f"min{what}"), schema.get(f"max{what}")
    if most is None:
        return ""
    return f", {least or 0} to {most}{unit}"


def _range(schema: Document) -> str:
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is None:
        return ""
    return f" from {least}" + ("" if most is None else f" to {most}")
