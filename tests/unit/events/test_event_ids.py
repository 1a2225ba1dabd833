"""Test what identifies an event, and which log has it (RFC-0015 §5)."""

import re

from hypothesis import given
from hypothesis import strategies as st

from functions.events.model import LogName, build_event_id, choose_log

CAUSES = st.lists(st.text() | st.integers(0, 2**53), max_size=5)


@given(CAUSES)
def test_the_same_cause_has_the_same_id(cause: list[str | int]) -> None:
    assert build_event_id("acme", *cause) == build_event_id("acme", *cause)
    assert re.fullmatch(r"evt_[0-9a-z]{26}", build_event_id("acme", *cause))


@given(CAUSES, CAUSES)
def test_different_causes_have_different_ids(one: list[str | int], other: list[str | int]) -> None:
    assert (build_event_id("acme", *one) == build_event_id("acme", *other)) == (one == other)
    assert build_event_id("acme", *one) != build_event_id("globex", *one)


def test_an_intent_comes_before_a_namespace_before_an_agent() -> None:
    assert choose_log(intent="i", agent="a", namespace="n") == LogName("intent", "i")
    assert choose_log(intent=None, agent="a", namespace="n") == LogName("namespace", "n")
    assert choose_log(intent=None, agent="a", namespace=None) == LogName("agent", "a")
