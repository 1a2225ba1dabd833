"""The schemas of bodies, made from their models; and what properties mean, in words."""

from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from functions.api.documents import Document
from functions.api.notes import FIELDS, MODELS, PARTIAL
from functions.api.routing import Route


def body_ref(model: str) -> str:
    """Where the schema of a model's body stands."""
    return f"#/components/schemas/{model}Body"


def bodies(routes: list[Route]) -> dict[str, Document]:
    """The schemas of all bodies, and of what they hold."""
    models: list[type[BaseModel]] = [
        route.request_model for route in routes if route.request_model is not None
    ]
    _, generated = models_json_schema(
        [(model, "validation") for model in dict.fromkeys(models)],
        ref_template=body_ref("{model}"),
    )
    return {f"{name}Body": _plain(name, schema) for name, schema in generated["$defs"].items()}


def _plain(model: str, schema: Document) -> Document:
    """A model's schema without what pydantic makes up: titles, docstrings and idle defaults."""
    properties = {
        name: {
            word: said
            for word, said in each.items()
            if word != "title" and not (word == "default" and (said is None or model in PARTIAL))
        }
        for name, each in schema["properties"].items()
    }
    kept = {word: said for word, said in schema.items() if word not in ("title", "description")}
    return kept | {"properties": properties} | MODELS.get(model, {})


def noted(name: str, schema: Document) -> Document:
    """A schema whose properties say what they mean."""
    if "properties" not in schema:
        return schema
    model = name.removesuffix("Body")
    return schema | {
        "properties": {
            field: _with_note(each, FIELDS.get(f"{model}.{field}", FIELDS.get(field)))
            for field, each in schema["properties"].items()
        }
    }


def _with_note(schema: Document, note: Document | None) -> dict[str, Any]:
    return schema | note if note else schema
