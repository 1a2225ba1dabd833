"""JSON schemas of request models and response types, derived by pydantic.

The schema of a request model is named `NewEntryBody`, that of a type `EntryDocument` `Entry`. A
field's docstring is its description.
"""

import ast
import json
import re
import textwrap
from collections.abc import Iterable
from inspect import cleandoc, getsource
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, TypeAdapter, with_config
from typing_extensions import is_typeddict

from functions.platform.validation import ChangeModel

Schema = dict[str, Any]
_REF = "#/components/schemas/"
_SOURCES = re.compile(r"\s*\((?:RFC|ADR|OpenWOP|Agent Memory|contract)[^)]*\)")


class Schemas:
    """The schemas of all types that the routes name.

    Attributes:
        components: schemas by name, for the document's `components`.
    """

    def __init__(self, models: Iterable[type[BaseModel]], documents: Iterable[Any]) -> None:
        types = dict.fromkeys([*models, *documents])
        for each in _find_typed_dicts(types):
            with_config(ConfigDict(arbitrary_types_allowed=True))(each)
        mode: Literal["validation"] = "validation"
        adapters = [(str(i), mode, TypeAdapter(each)) for i, each in enumerate(types)]
        schemas, generated = TypeAdapter.json_schemas(adapters, ref_template=f"{_REF}{{model}}")
        self._names = {name: _schema_name(name) for name in generated["$defs"]}
        classes = {each.__name__: each for each in _find_classes(types)}
        self.components: dict[str, Schema] = {
            self._names[name]: self._rename(_describe(schema, classes[name]))
            for name, schema in generated["$defs"].items()
        }
        self._schemas = {
            each: self._rename(_without_titles(schemas[str(i), mode]))
            for i, each in enumerate(types)
        }

    def schema_of(self, type_: Any) -> Schema:
        """Return the schema of a type: a reference if it has a name."""
        return self._schemas[type_]

    def _rename(self, schema: Schema) -> Schema:
        text = json.dumps(schema)
        pattern = re.compile(f'"{_REF}([^"]+)"')
        renamed = pattern.sub(lambda found: f'"{_REF}{self._names[found[1]]}"', text)
        loaded: Schema = json.loads(renamed)
        return loaded


def derive_schema(documents: Iterable[Any]) -> Schema:
    """Derive the schema of documents that are always the same."""
    schemas = [_schema_like(document) for document in documents]
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def _schema_like(example: Any) -> Schema:
    match example:
        case dict():
            properties = {name: _schema_like(value) for name, value in example.items()}
            return {"type": "object", "properties": properties, "required": list(properties)}
        case list():
            return {"type": "array", "items": {"type": "string"}}
        case bool():
            return {"type": "boolean"}
        case int():
            return {"type": "integer", "minimum": 0}
    return {"type": "string"}


def _schema_name(class_name: str) -> str:
    is_document = class_name.endswith("Document")
    return class_name.removesuffix("Document") if is_document else f"{class_name}Body"


def _find_classes(types: Iterable[Any]) -> list[type]:
    """Find the request models and response types in types, including themselves."""
    found: dict[type, None] = {}
    waiting = list(types)
    while waiting:
        each = waiting.pop()
        if is_typeddict(each) or (isinstance(each, type) and issubclass(each, BaseModel)):
            if each not in found:
                found[each] = None
                waiting.extend(_annotations(each).values())
        else:
            waiting.extend(get_args(each))
    return list(found)


def _find_typed_dicts(types: Iterable[Any]) -> list[type]:
    return [each for each in _find_classes(types) if is_typeddict(each)]


def _annotations(class_: type) -> dict[str, Any]:
    if issubclass(class_, BaseModel):
        return {name: each.annotation for name, each in class_.model_fields.items()}
    return class_.__annotations__


def _describe(schema: Schema, class_: type) -> Schema:
    """Add the fields' docstrings, and remove pydantic's titles and unused defaults."""
    is_change = issubclass(class_, ChangeModel)
    descriptions = _field_docstrings(class_)
    if issubclass(class_, BaseModel):
        fields = class_.model_fields.items()
        descriptions = {field.alias or name: descriptions.get(name, "") for name, field in fields}
    properties = {}
    for name, each in schema["properties"].items():
        plain = _without_titles(each)
        if plain.get("default", ...) is None or is_change:
            plain.pop("default", None)
        if descriptions.get(name):
            plain["description"] = descriptions[name]
        properties[name] = plain
    described = _without_titles(schema) | {"properties": properties}
    if "description" in described:
        text = _SOURCES.sub("", described["description"])
        described["description"] = " ".join(text.split())
    return described


def _without_titles(schema: Schema) -> Schema:
    return {word: value for word, value in schema.items() if word != "title"}


def _field_docstrings(class_: type) -> dict[str, str]:
    """Return the docstrings below the fields of a class and of its bases."""
    found: dict[str, str] = {}
    for base in getattr(class_, "__orig_bases__", class_.__bases__):
        if getattr(base, "__module__", "").startswith("functions."):
            found |= _field_docstrings(base)
    (definition,) = ast.parse(textwrap.dedent(getsource(class_))).body
    assert isinstance(definition, ast.ClassDef)  # noqa: S101 - it is the source of a class
    for field, following in zip(definition.body, definition.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            match following:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    found[field.target.id] = " ".join(cleandoc(text).split())
    return found
