"""Test that an operation's cost does not grow with the data, except where the design says so."""

from pathlib import Path

import pytest

from benchmarks import growth
from benchmarks.grown import LISTS, MEMORIES, SUBJECTS, UNMEASURED, TaskLists
from benchmarks.growth import Curve, Point
from functions.api.route_index import list_routes
from functions.local import engine


@pytest.fixture(scope="module")
def curves() -> list[Curve]:
    if engine.find_binary(Path(__file__).parents[2]) is None:
        pytest.skip("the embedded engine, which counts units right, has no build here")
    small = growth.measure((5, 50), 1, (TaskLists,))  # an element of these is several requests
    small += growth.measure((15, 40), 1, LISTS)
    return small + growth.measure((24, 240), 1, MEMORIES)


def test_calls_and_units_stay_as_they_are_in_a_store_ten_times_as_large(
    curves: list[Curve],
) -> None:
    assert len(curves) >= 30
    assert [curve.operation for curve in curves if not curve.flat and not curve.may_grow] == []


def test_nothing_that_is_to_be_flat_grows(curves: list[Curve]) -> None:
    for curve in (each for each in curves if not each.may_grow):
        assert curve.exponent(lambda point: point.calls) <= 0.05, curve
        assert curve.exponent(lambda point: point.read + point.write) <= 0.05, curve
        # in stores as small as these, a longer number shows in the bytes
        assert curve.exponent(lambda point: point.bytes) <= 0.1, curve


def test_what_grows_is_what_is_said_to_grow(curves: list[Curve]) -> None:
    growing = {curve.operation for curve in curves if curve.grows}
    assert growing == {
        "query own memory, counted",
        "query by a tag of all, counted",
        "query a namespace, counted",
    }
    for curve in curves:
        assert not (curve.grows and curve.flat), curve


def test_every_list_is_measured() -> None:
    measured = {route for subject in SUBJECTS for route in subject.lists}
    assert measured | UNMEASURED.keys() == {
        route.path for route in list_routes() if "limit" in route.query_names
    }


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0])
def test_the_exponent_of_a_power_law_is_its_power(exponent: float) -> None:
    points = [Point(n, 1, 0, 3 * n**exponent, 1) for n in (10, 100, 1000)]
    fitted = Curve("any", False, points).exponent(lambda point: point.read)
    assert fitted == pytest.approx(exponent)
