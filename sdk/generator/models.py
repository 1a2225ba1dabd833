"""Render the modules of `agent_memory/model`.

Written here because a generator of models would only copy the schemas; this one renders frozen
dataclasses that keep unknown fields, and keywords of calls.
"""

import json
import textwrap
from collections.abc import Iterator

from generator.catalog import FIELD_NAMES, FIELD_SETS, KEYWORDS, LITERALS, MODULES, ModelSpec
from generator.keywords import render_field_infos, render_keywords
from generator.schemas import Schema, is_nullable, list_literals, read_schemas, render_type

_OF_READERS = "Absent without `memory.read`"  # callers without the permission don't need the type
_SECRET = frozenset({"api_key"})
_SCOPE = ("task_id", "intent_id")  # of an entry's scope, given as separate fields
_WIDTH = 96
_NOTE = "Generated from the service's OpenAPI document; do not edit."
_HEAD = """from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, TypedDict

from agent_memory.document import Model
"""


def render_modules() -> dict[str, str]:
    """Return the source of each module by its name, with more imports than it needs."""
    schemas = read_schemas()
    literals = list_literals(schemas)
    values = [f"{name} = Literal{json.dumps(each)}\n" for name, each in literals.items()]
    modules = {
        "literals": _render_module("Values of enumerated fields.", "".join(values)),
        "keywords": _render_module(
            "Keyword arguments of calls.", render_keywords(schemas, literals)
        ),
        "field_infos": _render_module(
            "The service's descriptions of the fields of an entry.", render_field_infos(schemas)
        ),
        "__init__": _render_package(),
    }
    for name, (description, models) in MODULES.items():
        rendered = [_render_model(each, spec, schemas, literals) for each, spec in models.items()]
        modules[name] = _render_module(description, "".join(rendered), name)
    return modules


def _render_module(description: str, body: str, own: str = "") -> str:
    named = {"literals": list(LITERALS)} | {name: list(each[1]) for name, each in MODULES.items()}
    imports = [
        f"from agent_memory.model.{module} import {', '.join(names)}\n"
        for module, names in named.items()
        if module != own and not (module == "literals" and "= Literal[" in body)
    ]
    return f'"""{description}\n\n{_NOTE}\n"""\n\n{_HEAD}{"".join(imports)}\n{body}'


def _render_package() -> str:
    named = {name: list(each[1]) for name, each in MODULES.items()} | {
        "literals": list(LITERALS),
        "keywords": list(KEYWORDS),
        "field_infos": ["FieldInfo", *FIELD_SETS, *FIELD_NAMES],
    }
    imports = [
        f"from agent_memory.model.{module} import {', '.join(names)}\n"
        for module, names in sorted(named.items())
    ]
    listed = sorted(["Document", "Model", *(name for names in named.values() for name in names)])
    return (
        f'"""Types of requests and answers of the service.\n\n{_NOTE}\n"""\n\n'
        f"from agent_memory.document import Document, Model\n{''.join(imports)}\n"
        f"__all__ = {json.dumps(listed)}\n"
    )


def _render_model(
    name: str, spec: ModelSpec, schemas: dict[str, Schema], literals: dict[str, list[str]]
) -> str:
    schema = schemas[name]
    inherited = _list_inherited(spec, schemas)
    own = {
        each: found
        for each, found in schema["properties"].items()
        if each not in inherited and each not in spec.left_out
    }
    lines = [
        line
        for each, found in own.items()
        for line in _render_fields(each, found, each in schema.get("required", ()), literals)
    ]
    notes = [note for each, found in own.items() for note in _render_note(each, found)]
    described = f"\n\n    Attributes:\n{chr(10).join(notes)}\n    " if notes else ""
    body = "\n    ".join(lines)
    return (
        f"\n\n@dataclass(frozen=True, slots=True, kw_only=True)\n"
        f"class {name}({spec.base or 'Model'}):\n"
        f'    """{spec.description}{described}"""\n\n    {body}\n'
    )


def _list_inherited(spec: ModelSpec, schemas: dict[str, Schema]) -> set[str]:
    return set() if spec.base is None else set(schemas[spec.base]["properties"])


def _render_fields(
    name: str, schema: Schema, is_required: bool, literals: dict[str, list[str]]
) -> Iterator[str]:
    """Yield the fields for a member of a document."""
    if name == "scope":
        for part in _SCOPE:
            path = f'metadata={{"path": "scope.{part}"}}'
            yield f"{part}: str | None = field(default=None, {path})"
        return
    kind = render_type(schema, literals)
    if is_required and not is_nullable(schema) and kind != "Any":
        yield f"{name}: {kind}" + (" = field(repr=False)" if name in _SECRET else "")
    else:
        is_for_readers = _OF_READERS in schema.get("description", "")
        yield _render_optional(name, kind, is_for_readers and not is_nullable(schema))


def _render_optional(name: str, kind: str, is_for_readers: bool) -> str:
    if kind.startswith("tuple"):
        return f"{name}: {kind} = ()"
    if kind in ("bool", "Any"):
        return f"{name}: {kind} = {'False' if kind == 'bool' else 'None'}"
    if is_for_readers and kind == "str":
        return f'{name}: str = ""'
    if is_for_readers and kind.startswith("dict"):
        return f"{name}: {kind} = field(default_factory=dict)"
    return f"{name}: {kind} | None = None"


def _render_note(name: str, schema: Schema) -> Iterator[str]:
    """Yield the lines of the docstring about a field."""
    text = " ".join(schema.get("description", "").split())
    if text and name != "scope":
        indent = " " * 8
        yield textwrap.fill(
            f"{name}: {text}", _WIDTH, initial_indent=indent, subsequent_indent=indent + " " * 4
        )
