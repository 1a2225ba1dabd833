"""Render the keywords of calls, and the service's descriptions of fields."""

import json
import textwrap

from generator.catalog import FIELD_NAMES, FIELD_SETS, KEYWORDS
from generator.schemas import Schema, flatten, is_nullable, list_choices, render_type

_RICHER = {  # than JSON's types
    "ttl": "str | float | timedelta",
    "expires_at": "str | datetime",
    "occurred_at": "str | datetime",
}
_FIELD_INFO = '''

@dataclass(frozen=True, slots=True)
class FieldInfo:
    """A field that a call takes, as the service describes it."""

    name: str
    type: str
    choices: tuple[str, ...]
    description: str
'''


def render_keywords(schemas: dict[str, Schema], literals: dict[str, list[str]]) -> str:
    """Return a `TypedDict` for the keywords of each call with a body's fields."""
    return "".join(
        _render_keyword_class(name, _list_fields(schemas[body], left_out.split()), what, literals)
        for name, (body, left_out, what) in KEYWORDS.items()
    )


def _render_keyword_class(
    name: str, fields: dict[str, Schema], description: str, literals: dict[str, list[str]]
) -> str:
    lines = []
    for each, schema in fields.items():
        kind = _RICHER.get(each) or render_type(schema, literals)
        kind = f"Iterable[{kind[6:-6]}]" if kind.startswith("tuple[") else kind
        is_any = kind == "Any"
        lines.append(f"    {each}: {kind}{' | None' if is_nullable(schema) and not is_any else ''}")
    body = "\n".join(lines)
    return f'\n\nclass {name}(TypedDict, total=False):\n    """{description}"""\n\n{body}\n'


def render_field_infos(schemas: dict[str, Schema]) -> str:
    """Return the service's descriptions of the fields of its bodies."""
    sets = [
        _render_field_set(name, _list_fields(schemas[body], left_out))
        for name, (body, left_out) in FIELD_SETS.items()
    ]
    names = [
        f"\n\n{name} = {tuple(_list_fields(schemas[body], left_out))}\n"
        for name, (body, left_out) in FIELD_NAMES.items()
    ]
    return "".join([_FIELD_INFO, *sets, *names])


def _render_field_set(name: str, fields: dict[str, Schema]) -> str:
    rows = []
    for each, schema in fields.items():
        types = flatten(schema).get("type", "object")
        kind = types if isinstance(types, str) else types[0]
        parts = textwrap.wrap(" ".join(schema.get("description", "").split()), 72) or [""]
        text = "\n            ".join(
            json.dumps(part + (" " if part is not parts[-1] else ""), ensure_ascii=False)
            for part in parts
        )
        choices = "".join(f'"{choice}", ' for choice in list_choices(schema))
        rows.append(
            f'    "{each}": FieldInfo(\n        "{each}",\n        "{kind}",\n'
            f"        ({choices.rstrip()}),\n        (\n            {text}\n        ),\n    ),\n"
        )
    return f"\n\n{name} = {{\n{''.join(rows)}}}\n"


def _list_fields(body: Schema, left_out: "frozenset[str] | list[str]") -> dict[str, Schema]:
    properties: dict[str, Schema] = body["properties"]
    return {
        each: found
        for each, found in sorted(properties.items())
        if each not in left_out and not found.get("readOnly")
    }
