"""The long tests are those that are there."""

from pathlib import Path

from tests.scheduling import LONG, is_long

_ROOT = Path(__file__).parents[2]


def test_each_long_test_exists() -> None:
    assert [each for each in LONG if not list(_ROOT.glob(f"{each}*"))] == []


def test_a_long_file_has_only_long_tests() -> None:
    assert is_long("tests/contract/test_fuzz.py::test_any")
    assert is_long("tests/console/test_screens.py::test_any")
    assert not is_long("tests/contract/test_entries_create.py::test_any")
