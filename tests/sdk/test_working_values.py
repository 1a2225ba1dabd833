"""ADR-043 Tier 1: an instance's working values as agents use them by the client."""

from typing import Any

import pytest
from agent_memory import Client
from agent_memory.exceptions import MemoryCapacityError, TooLargeError

BUDGET = 131_072
JSON: list[Any] = [None, False, 0, "", [], 2**70, -0.5, "Grüße", {"to": ["ada"]}]


def text(size: int) -> str:
    """A string that has exactly `size` bytes as JSON."""
    return "x" * (size - 2)


def test_any_json_comes_back(alice: Client, subtests: pytest.Subtests) -> None:
    for value in JSON:
        with subtests.test(repr(value)):
            alice.working_values.put("sdr-1", "k", value)
            assert alice.working_values.get("sdr-1", "k", "default") == value
            assert alice.working_values.get_all("sdr-1") == {"k": value}


def test_what_is_not_there_is_the_default(alice: Client) -> None:
    assert alice.working_values.get("sdr-1", "k") is None
    assert alice.working_values.get("sdr-1", "k", 0) == 0
    assert alice.working_values.get_all("sdr-1") == {}
    assert not alice.working_values.delete("sdr-1", "k")


def test_a_deleted_value_is_gone_alone(alice: Client) -> None:
    for key in ("drafts/v2", "100%", "Grüße"):
        alice.working_values.put("sdr-1", key, key)
    assert alice.working_values.delete("sdr-1", "drafts/v2")
    assert alice.working_values.get_all("sdr-1") == {"100%": "100%", "Grüße": "Grüße"}
    assert alice.working_values.get_all("sdr-2") == {}


def test_what_does_not_fit_says_why(alice: Client) -> None:
    with pytest.raises(TooLargeError):
        alice.working_values.put("sdr-1", "k", text(BUDGET + 1))
    alice.working_values.put("sdr-1", "a", text(100_000))
    with pytest.raises(MemoryCapacityError) as full:
        alice.working_values.put("sdr-1", "b", text(100_000))
    assert (full.value.current_count, full.value.max_capacity) == (100_001, BUDGET)  # with its key
    assert set(alice.working_values.get_all("sdr-1")) == {"a"}


def test_a_slash_in_an_instance_is_told(alice: Client) -> None:
    with pytest.raises(ValueError, match="a slash"):
        alice.working_values.get_all("sdr/1")
