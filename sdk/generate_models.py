"""Render `agent_memory/model.py` from the service's OpenAPI document.

Written here because a generator of models would give plain copies of the schemas; this one gives
what users of the SDK take: frozen dataclasses that keep unknown fields, and field sets for calls.
"""

import json
import textwrap
from pathlib import Path
from typing import Any

_DOCUMENT = Path(__file__).parents[1] / "functions/api/openapi.json"
_LITERALS = {  # the name of an enumeration, and one place where it stands
    "MemoryType": ("Entry", "memory_type"),
    "Priority": ("Entry", "priority"),
    "Sensitivity": ("Entry", "sensitivity"),
    "EventType": ("Event", "type"),
    "TaskStatus": ("Task", "status"),
    "PrincipalKind": ("Principal", "kind"),
    "Permission": ("Principal", "permissions"),
    "GrantAccess": ("Grant", "access"),
    "NamespaceAccess": ("NamespacePermissions", "default"),
}
_MODELS = {  # what is essential is in every answer; all else may be missing from an older service
    "Entry": (
        "A memory entry (RFC-0015 §1.1). Times are RFC 3339 texts in UTC.",
        "id agent_id namespace key memory_type version created_at updated_at",
    ),
    "SearchResult": ("An entry that a search found, with its score.", "entry score"),
    "Task": ("A task (RFC-0012; RFC-0015 §5).", "id status version created_at"),
    "Namespace": (
        "A namespace of semantic memory and its permissions: `{default, allow}`.",
        "namespace permissions version",
    ),
    "Principal": ("Whom a key stands for.", "tenant id kind permissions"),
    "NewPrincipal": (
        "A principal with its key, which the service shows this once.",
        "tenant id kind permissions api_key",
    ),
    "Grant": ("A principal's access to a task's working memory.", "principal access"),
    "Intent": ("An intent that tasks belong to.", "intent_id"),
    "Agent": ("An agent, with what it holds and the room that is left.", "agent_id kind"),
    "AgentSettings": ("What bounds an agent's memory.", "agent_id episodic working"),
    "AuditRecord": ("A use of authority.", "id time actor action target"),
    "Deletion": ("A deletion, and how far it is.", "kind id status counts"),
    "Event": ("An event of a log (RFC-0015 §5.2).", "id type data timestamp"),
}
_DOCUMENTS = {  # what is answered as it came, a dict
    "Fact": "A fact: subject, predicate and object.",
    "RecalledFact": "A fact that was recalled, with its score.",
    "Run": "A run of an agent.",
    "Episode": "An episode of a run.",
    "Workflow": "A workflow, and how well it did.",
    "SelectedWorkflow": "The workflow to try next.",
}
_OF_READERS = "Absent without `memory.read`"  # who lacks it has no use for the type
_BASES = {"NewPrincipal": "Principal"}
_SECRET = frozenset({"api_key"})
_EMPTY_IF_ABSENT = frozenset({"value"})  # an answer without `memory.read` has none
_SCOPE = ("task_id", "intent_id")  # given as fields of their own
_FIELD_SETS = {  # the fields of a body but for those that are arguments of their own
    "ENTRY_FIELDS": ("NewEntryBody", {"namespace", "key", "value", "agent_id"}),
    "ENTRY_CHANGES": ("EntryChangeBody", {"value"}),
    "TASK_FIELDS": ("NewTaskBody", {"intent_id"}),
    "TASK_CHANGES": ("TaskChangeBody", {"task_id"}),
}
_DESCRIBED = ("ENTRY_FIELDS", "ENTRY_CHANGES")  # which the command line and MCP tools offer
_KEYWORDS = {  # the fields that calls take as keywords
    "EntryFields": ("ENTRY_CHANGES", "Fields of an entry; what isn't given stays as it is."),
    "TaskFields": ("TASK_FIELDS", "Fields of a new task."),
    "TaskChanges": ("TASK_CHANGES", "Fields of a task; what isn't given stays as it is."),
}
_RICHER = {"ttl": "str | float | timedelta", "expires_at": "str | datetime"}  # than JSON's types
_HEAD = '''"""What the service answers and takes. Generated from its OpenAPI document; do not edit.

Models are frozen dataclasses; `raw` has all fields of the answer, known or not.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, NotRequired, Self, TypedDict

Document = Mapping[str, Any]
'''
_FIELD_INFO = '''

@dataclass(frozen=True, slots=True)
class FieldInfo:
    """A field that a call takes, as the service describes it."""

    name: str
    type: str
    choices: tuple[str, ...]
    description: str
'''


def render_models() -> str:
    """Render the module's source, formatted as ruff would."""
    schemas: dict[str, Any] = json.loads(_DOCUMENT.read_text("utf-8"))["components"]["schemas"]
    literals = _literals(schemas)
    parts = [_HEAD]
    parts += [f"{name} = Literal{json.dumps(values)}\n" for name, values in literals.items()]
    parts += [_render_model(name, schemas, literals) for name in _MODELS]
    parts += [_render_document(name, schemas, literals) for name in _DOCUMENTS]
    parts += [_render_keywords(name, schemas, literals) for name in _KEYWORDS]
    parts += [_FIELD_INFO, *(_render_field_infos(name, schemas) for name in _DESCRIBED)]
    return "".join(parts)


def _literals(schemas: dict[str, Any]) -> dict[str, list[str]]:
    return {
        name: _choices(schemas[schema]["properties"][place])
        for name, (schema, place) in _LITERALS.items()
    }


def _choices(schema: dict[str, Any]) -> list[str]:
    flat = _flat(schema)
    values = flat.get("items", flat).get("enum", ())
    return [value for value in values if value is not None]


def _flat(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema without its `anyOf` with null."""
    others = [each for each in schema.get("anyOf", ()) if each.get("type") != "null"]
    return {**others[0], **schema} if len(others) == 1 else schema


def _python_type(schema: dict[str, Any], literals: dict[str, list[str]]) -> str:
    """The Python type of a schema, without null."""
    flat = _flat(schema)
    if "enum" in flat:
        return next((n for n, values in literals.items() if values == _choices(flat)), "str")
    if "$ref" in flat:
        name = str(flat["$ref"]).rpartition("/")[2]
        return name if name in _MODELS else "dict[str, Any]"
    types = flat.get("type", "object")
    kind = types if isinstance(types, str) else next(each for each in types if each != "null")
    if kind == "array":
        return f"tuple[{_python_type(flat.get('items', {}), literals)}, ...]"
    simple = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
    return simple.get(kind, "dict[str, Any]" if "type" in flat else "Any")


def _render_model(name: str, schemas: dict[str, Any], literals: dict[str, list[str]]) -> str:
    description, essential = _MODELS[name]
    inherited = schemas[_BASES[name]]["properties"] if name in _BASES else {}
    properties = schemas[name]["properties"]
    lines, arguments = [], []
    for each, schema in properties.items():
        if each == "scope":
            lines += [f"{part}: str | None = None" for part in _SCOPE]
            arguments += [
                f'{part}=(document.get("scope") or {{}}).get("{part}")' for part in _SCOPE
            ]
            continue
        kind = _python_type(schema, literals)
        if each not in inherited:
            lines.append(_render_field(each, kind, essential=each in essential.split()))
        arguments.append(_render_argument(each, kind, essential=each in essential.split()))
    if not inherited:
        lines.append("raw: Document = field(repr=False, compare=False)")
    body = "\n    ".join(lines)
    given = ",\n            ".join([*arguments, "raw=document"])
    return (
        f"\n\n@dataclass(frozen=True, slots=True, kw_only=True)\n"
        f"class {name}{f'({_BASES[name]})' if inherited else ''}:\n"
        f'    """{description}"""\n\n    {body}\n\n    @classmethod\n'
        f"    def from_document(cls, document: Document) -> Self:\n"
        f'        """Read a document of the service.\n\n        Raises:\n'
        f'            KeyError: an essential field is missing.\n        """\n'
        f"        return cls(\n            {given},\n        )\n"
    )


def _render_document(name: str, schemas: dict[str, Any], literals: dict[str, list[str]]) -> str:
    """Render the type of a dict; what only some answers have is `NotRequired`."""
    required = schemas[name].get("required", ())
    lines = []
    for each, schema in schemas[name]["properties"].items():
        kind = _python_type(schema, literals)
        kind = f"list[{kind[6:-6]}]" if kind.startswith("tuple[") else kind
        types = schema.get("type", "")
        is_nullable = {"type": "null"} in schema.get("anyOf", ()) or "null" in types
        kind = f"{kind} | None" if is_nullable and kind != "Any" else kind
        is_there = each in required or _OF_READERS in schema.get("description", "")
        lines.append(f"    {each}: {kind if is_there else f'NotRequired[{kind}]'}")
    body = "\n".join(lines)
    return f'\n\nclass {name}(TypedDict):\n    """{_DOCUMENTS[name]}"""\n\n{body}\n'


def _render_field(name: str, kind: str, *, essential: bool) -> str:
    if name in _EMPTY_IF_ABSENT:
        return f"{name}: {kind} = field(default_factory=dict)"
    if essential:
        return f"{name}: {kind}" + (" = field(repr=False)" if name in _SECRET else "")
    if kind.startswith("tuple"):
        return f"{name}: {kind} = ()"
    if kind in ("bool", "Any"):
        return f"{name}: {kind} = {'False' if kind == 'bool' else 'None'}"
    return f"{name}: {kind} | None = None"


def _render_argument(name: str, kind: str, *, essential: bool) -> str:
    found = f'document["{name}"]' if essential else f'document.get("{name}")'
    if name in _EMPTY_IF_ABSENT:
        return f'{name}=document.get("{name}", {{}})'
    if kind.startswith("tuple"):
        return f"{name}=tuple({found} or ())"
    if kind in _MODELS:
        return f"{name}={kind}.from_document({found})"
    return f"{name}=bool({found})" if kind == "bool" and not essential else f"{name}={found}"


def _fields_of(name: str, schemas: dict[str, Any]) -> dict[str, dict[str, Any]]:
    schema, left_out = _FIELD_SETS[name]
    properties: dict[str, dict[str, Any]] = schemas[schema]["properties"]
    return {
        each: found
        for each, found in sorted(properties.items())
        if each not in left_out and not found.get("readOnly")
    }


def _render_keywords(name: str, schemas: dict[str, Any], literals: dict[str, list[str]]) -> str:
    lines = []
    fields, what = _KEYWORDS[name]
    for each, schema in _fields_of(fields, schemas).items():
        kind = _RICHER.get(each) or _python_type(schema, literals)
        kind = f"Iterable[{kind[6:-6]}]" if kind.startswith("tuple[") else kind
        is_nullable = {"type": "null"} in schema.get("anyOf", ())
        lines.append(f"    {each}: {kind}{' | None' if is_nullable else ''}")
    return (
        f'\n\nclass {name}(TypedDict, total=False):\n    """{what}"""\n\n' + "\n".join(lines) + "\n"
    )


def _render_field_infos(name: str, schemas: dict[str, Any]) -> str:
    rows = []
    for each, schema in _fields_of(name, schemas).items():
        types = _flat(schema).get("type", "object")
        kind = types if isinstance(types, str) else types[0]
        parts = textwrap.wrap(" ".join(schema.get("description", "").split()), 72) or [""]
        text = "\n            ".join(
            json.dumps(part + (" " if part is not parts[-1] else ""), ensure_ascii=False)
            for part in parts
        )
        choices = "".join(f'"{choice}", ' for choice in _choices(schema))
        rows.append(
            f'    "{each}": FieldInfo(\n        "{each}",\n        "{kind}",\n'
            f"        ({choices.rstrip()}),\n        (\n            {text}\n        ),\n    ),\n"
        )
    return f"\n\n{name} = {{\n{''.join(rows)}}}\n"
