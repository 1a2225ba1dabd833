"""ADR-043 Tier 2: runs and episodes as agents use them, by either client."""

from collections.abc import Iterator

import pytest
from agent_memory import Client
from agent_memory.exceptions import (
    MemoryNotFoundError,
    RunClosedError,
    TooLargeError,
    ValidationError,
)

from tests.sdk import faults
from tests.sdk.calling import Calling, Kind, calling
from tests.sdk.fault_proxy import FaultProxy


@pytest.fixture(params=["sync", "async"])
def call(request: pytest.FixtureRequest, alice: Client) -> Iterator[Calling]:
    kind: Kind = request.param
    with calling(kind, alice.settings.server_url, alice.settings.api_key) as opened:
        yield opened


def test_a_turn_recalls_what_was_said_and_adds_to_it(call: Calling) -> None:
    first = call(lambda c: c.runs.start("sdr", instance_id="sdr-1", input={"lead": "ada"}))
    assert (first.status, first.input) == ("running", {"lead": "ada"})
    for turn in range(12):
        said = {"said": turn}
        call(lambda c: c.runs.append(first.id, said, role="agent"))  # noqa: B023 - called at once
    second = call(lambda c: c.runs.start("sdr"))
    call(lambda c: c.runs.append(second.id, None, metadata={"tokens": 3}))
    recalled = call(lambda c: c.runs.recall("sdr"))
    assert [each.content for each in recalled] == [
        None,
        *({"said": n} for n in range(11, 2, -1)),
    ]
    assert recalled[0].metadata == {"tokens": 3}
    assert len(call(lambda c: c.runs.recall("sdr", last=2))) == 2
    assert call(lambda c: c.runs.recall("sdr", last=0)) == []
    assert call(lambda c: c.runs.recall("biller")) == []
    assert len(call(lambda c: c.runs.list_episodes(first.id))) == 12


def test_a_run_ends_once(call: Calling) -> None:
    good, bad = (call(lambda c: c.runs.start("sdr")).id for _ in range(2))
    assert call(lambda c: c.runs.complete(good, {"mails": 2})).output == {"mails": 2}
    assert call(lambda c: c.runs.fail(bad, {"type": "Flood"})).error == {"type": "Flood"}
    for end in (lambda c: c.runs.complete(good), lambda c: c.runs.fail(good)):
        with pytest.raises(RunClosedError):
            call(end)
    assert call(lambda c: c.runs.get(good)).status == "completed"
    assert [run.id for run in call(lambda c: c.runs.query(agent_type="sdr"))] == [bad, good]
    failed = call(lambda c: c.runs.query(agent_type="sdr", status="failed"))
    assert [run.id for run in failed] == [bad]


def test_what_can_not_be_is_told(call: Calling) -> None:
    for unknown in (
        lambda c: c.runs.get("run_unknown"),
        lambda c: c.runs.append("run_unknown", "hello"),
        lambda c: c.runs.complete("run_unknown"),
        lambda c: c.runs.list_episodes("run_unknown"),
    ):
        with pytest.raises(MemoryNotFoundError):
            call(unknown)
    with pytest.raises(ValidationError):
        call(lambda c: c.runs.start(""))
    run = call(lambda c: c.runs.start("sdr")).id
    with pytest.raises(TooLargeError):
        call(lambda c: c.runs.append(run, "x" * 270_000))


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_lost_answer_doubles_nothing(alice: Client, proxy: FaultProxy, kind: Kind) -> None:
    with calling(kind, proxy.address, alice.settings.api_key) as call:
        proxy.plan(faults.dropped_after)
        run = call(lambda c: c.runs.start("sdr")).id
        proxy.plan(faults.dropped_after)
        call(lambda c: c.runs.append(run, "hello"))
        proxy.plan(faults.dropped_after)
        assert call(lambda c: c.runs.complete(run, "done")).status == "completed"
    assert [each.id for each in alice.runs.query(agent_type="sdr")] == [run]
    assert [each.content for each in alice.runs.list_episodes(run)] == ["hello"]
