"""An upgrade replaces nothing that holds data, and changes one index at a time."""

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from infra.upgrades import RELEASED, find_hazards
from tests.infra.template import Template

Json = dict[str, Any]
_MEMORY = "ProdMemoryTable"
KEPT = ("Retain", "RetainExceptOnCreate")


@pytest.fixture
def released() -> Json:
    resources: Json = json.loads(RELEASED.read_text("utf-8"))
    return resources


def test_this_release_can_take_the_place_of_the_last(prod: Template, released: Json) -> None:
    """If this fails, see docs/how-to/deploy-a-release.md before you write the file again."""
    assert find_hazards(released, prod.document["Resources"]) == []


def test_the_file_has_all_that_holds_data(released: Json) -> None:
    kept = {id for id, each in released.items() if each.get("DeletionPolicy") in KEPT}
    assert {
        _MEMORY,
        "ProdLogTable",
        "ProdStorageKey",
        "ProdValuesKey",
        "ProdRootKey",
        "ProdArchiveBucket",
    } <= kept


def _drop(resources: Json) -> None:
    resources["AnotherTable"] = resources.pop(_MEMORY)


def _set(path: str, value: Any) -> Callable[[Json], None]:
    def change(resources: Json) -> None:
        *way, last = path.split(".")
        place: Any = resources
        for part in way:
            place = place[int(part) if part.isdigit() else part]
        place[last] = value

    return change


def _without_recovery(resources: Json) -> None:
    resources[_MEMORY]["Properties"]["Replicas"][0].pop("PointInTimeRecoverySpecification")


def _add_indexes(count: int) -> Callable[[Json], None]:
    def change(resources: Json) -> None:
        indexes = resources[_MEMORY]["Properties"]["GlobalSecondaryIndexes"]
        indexes += [deepcopy(indexes[0]) | {"IndexName": f"new_{n}"} for n in range(count)]

    return change


_INDEX = f"{_MEMORY}.Properties.GlobalSecondaryIndexes.0"


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (_drop, "would be removed"),
        (_set(f"{_MEMORY}.Type", "AWS::DynamoDB::Table"), "would be removed"),
        (_set(f"{_MEMORY}.Properties.TableName", "another"), "TableName"),
        (_set(f"{_MEMORY}.Properties.KeySchema", []), "KeySchema"),
        (_set(f"{_MEMORY}.DeletionPolicy", "Delete"), "would not be kept"),
        (_set(f"{_MEMORY}.Properties.AttributeDefinitions.0.AttributeType", "N"), "type of pk"),
        (_set(f"{_MEMORY}.Properties.StreamSpecification", None), "another stream"),
        (_set(f"{_INDEX}.Projection", {"ProjectionType": "ALL"}), "2 changes of indexes"),
        (_add_indexes(2), "2 changes of indexes"),
        (_without_recovery, "PointInTimeRecoverySpecification"),
        (_set("ProdValuesKey.Properties.MultiRegion", False), "MultiRegion"),
        (_set("ProdRootKey.Properties.GenerateSecretString", {}), "GenerateSecretString"),
    ],
)
def test_a_hazard_is_named(released: Json, change: Callable[[Json], None], named: str) -> None:
    now = deepcopy(released)
    change(now)
    (hazard, *others) = find_hazards(released, now)
    assert named in hazard
    assert others == []


def test_one_new_index_passes(released: Json) -> None:
    now = deepcopy(released)
    _add_indexes(1)(now)
    assert find_hazards(released, now) == []
