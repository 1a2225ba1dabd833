"""Models are rendered under the names that their fields have."""

from typing import Annotated, Any, NamedTuple, NotRequired

import orjson
import pytest
from typing_extensions import TypedDict

from functions.api.documents import VALUE, JsonObject, Timestamp, to_document


class Model(NamedTuple):
    id: str
    created_at: int = 0
    expires_at: int | None = None
    value: bytes = b'{"a":1}'
    tags: frozenset[str] = frozenset()
    note: str | None = None
    secret: str = "internal"

    @property
    def label(self) -> str:
        return f"label of {self.id}"


class ModelDocument(TypedDict):
    id: str
    label: str
    created_at: Timestamp
    expires_at: Timestamp | None
    value: NotRequired[Annotated[JsonObject, VALUE]]
    tags: list[str]
    note: NotRequired[str]


class SumDocument(TypedDict):
    id: str
    count: int


def parse(document: Any) -> Any:
    return orjson.loads(orjson.dumps(document))


def test_fields_keep_their_names_and_take_the_form_of_the_document() -> None:
    model = Model("m", 1_000, None, b'{"a":1}', frozenset("ba"))
    assert parse(to_document(model, ModelDocument)) == {
        "id": "m",
        "label": "label of m",
        "created_at": "1970-01-01T00:00:01.000Z",
        "expires_at": None,
        "value": {"a": 1},
        "tags": ["a", "b"],
    }


def test_a_field_that_is_not_required_is_shown_if_it_is_not_none() -> None:
    assert to_document(Model("m", note="n"), ModelDocument)["note"] == "n"


def test_computed_fields_replace_those_of_the_model() -> None:
    document = to_document(Model("m"), SumDocument, count=3)
    assert document == {"id": "m", "count": 3}


def test_a_method_is_not_a_field() -> None:
    with pytest.raises(TypeError, match="Model lacks"):
        to_document(Model("m"), SumDocument)


class OpenWopDocument(TypedDict):
    id: str
    createdAt: Timestamp
    expiresAt: NotRequired[Timestamp]


def test_fields_in_openwops_spelling_are_those_of_the_model() -> None:
    document = to_document(Model("m", 1_000), OpenWopDocument)
    assert document == {"id": "m", "createdAt": "1970-01-01T00:00:01.000Z"}
