"""ADR-043 Tier 2: ids of runs and episodes, the end of a run, the JSON of episodes."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.platform.errors import NotFound, ValueTooLarge
from functions.platform.run_keys import (
    build_episode_id,
    build_episode_sort_token,
    create_run_address,
    parse_episode_id,
)
from functions.platform.validation import validate
from functions.runs.model import Run
from functions.runs.requests import NewEpisode
from functions.runs.rules import (
    RunIds,
    end_run,
    parse_address,
    render_episode_text,
    render_value,
)

NOW, DAY = 1_900_000_000_000, 86_400_000
IDS = RunIds(lambda purpose: b"a secret" + purpose)
ADDRESS = create_run_address("t1", "sdr", bytes(16), NOW)
RUN = Run("run_1", "sdr", "running", 1, NOW, "alice", input=b"1")


def test_an_id_is_verified_by_tenant_starter_and_secret() -> None:
    run_id = IDS.make_id(ADDRESS, "alice")
    parsed = parse_address("t1", run_id, NOW)
    assert (parsed, IDS.is_issued(parsed, run_id, "alice")) == (ADDRESS, True)
    assert not RunIds(lambda purpose: b"another" + purpose).is_issued(parsed, run_id, "alice")
    assert not IDS.is_issued(parse_address("t2", run_id, NOW), run_id, "alice")
    assert not IDS.is_issued(parsed, run_id, "bob")
    assert not IDS.is_issued(parsed, run_id[:-1] + ("0" if run_id[-1] != "0" else "1"), "alice")


def test_an_id_leads_to_a_run_for_90_days() -> None:
    run_id = IDS.make_id(ADDRESS, "alice")
    assert parse_address("t1", run_id, NOW + 90 * DAY - 1) == ADDRESS
    with pytest.raises(NotFound):
        parse_address("t1", run_id, NOW + 90 * DAY)


@pytest.mark.parametrize("text", ["", "run_x", "run_" + "u" * 62, "mem_x", " ", "a" * 900])
def test_text_of_another_form_is_no_id(text: str) -> None:
    with pytest.raises(NotFound):
        parse_address("t1", text, NOW)
    assert parse_episode_id(text) is None


@given(one=st.integers(0, 2**48), other=st.integers(0, 2**48))
def test_episodes_sort_by_their_time(one: int, other: int) -> None:
    tokens = [build_episode_sort_token(each, bytes(16)) for each in (one, other)]
    assert (tokens[0] < tokens[1]) == (one < other)
    assert parse_episode_id(build_episode_id(tokens[0])) == tokens[0]


def test_a_run_ends_with_an_output_or_an_error() -> None:
    end: dict[str, Any] = {
        "ended_at": NOW + 5,
        "ended_by": "bob",
        "end_request": b"r",
        "version": 2,
    }
    completed = end_run(RUN, "completed", b"2", "bob", b"r", NOW + 5)
    failed = end_run(RUN, "failed", b"3", "bob", b"r", NOW + 5)
    assert completed == RUN._replace(status="completed", output=b"2", **end)
    assert failed == RUN._replace(status="failed", error=b"3", **end)


def test_an_episode_is_stored_with_what_was_given() -> None:
    given: dict[str, Any] = {"content": None, "role": "tool", "turn": 0, "metadata": {}}
    assert orjson.loads(render_episode_text(validate(NewEpisode, given))) == given
    assert render_episode_text(NewEpisode(content=2**70)) == b'{"content":%d}' % 2**70


def test_values_have_a_maximum_size() -> None:
    assert len(render_value("x" * 4_194_302, "input")) == 4_194_304
    with pytest.raises(ValueTooLarge) as raised:
        render_value("x" * 4_194_303, "input")
    assert raised.value.members == {"max": 4_194_304, "actual": 4_194_305}
