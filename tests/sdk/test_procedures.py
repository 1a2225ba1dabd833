"""ADR-043 Tier 4: procedures as agents use them by the client."""

import httpx
import pytest
from agent_memory import Client
from agent_memory.exceptions import (
    MemoryConflictError,
    MemoryNotFoundError,
    TooLargeError,
    ValidationError,
)

from tests.contract.local_server import LocalServer

SDR = ("sdr", "outreach")
SPEC = {"steps": ["research", "write", "send"]}


def test_a_workflow_is_put_read_and_deleted(alice: Client) -> None:
    made = alice.procedures.put(*SDR, "roi", SPEC)
    assert (made.spec, made.alpha, made.beta, made.version) == (SPEC, 1, 1, 1)
    assert alice.procedures.get(*SDR, "roi") == made
    assert alice.procedures.delete(*SDR, "roi")
    assert alice.procedures.get(*SDR, "roi") is None
    assert not alice.procedures.delete(*SDR, "roi")


def test_what_was_learned_stays_unless_it_is_reset(alice: Client) -> None:
    alice.procedures.put(*SDR, "roi", SPEC)
    assert alice.procedures.record_outcome(*SDR, "roi", 0.75).alpha == 1.75
    assert alice.procedures.put(*SDR, "roi", "call first").alpha == 1.75
    assert alice.procedures.put(*SDR, "roi", "call first", reset=True).alpha == 1
    assert alice.procedures.put(*SDR, "roi", None, half_life="duration:P7D").spec is None


def test_a_change_of_an_older_version_is_a_conflict(alice: Client) -> None:
    with pytest.raises(MemoryNotFoundError):
        alice.procedures.put(*SDR, "roi", SPEC, version=1)
    alice.procedures.put(*SDR, "roi", SPEC)
    assert alice.procedures.put(*SDR, "roi", "call first", version=1).version == 2
    for attempt in (
        lambda: alice.procedures.put(*SDR, "roi", SPEC, version=1),
        lambda: alice.procedures.delete(*SDR, "roi", version=1),
    ):
        with pytest.raises(MemoryConflictError) as refused:
            attempt()
        assert refused.value.current_version == 2


def test_a_selection_learns_from_outcomes(alice: Client) -> None:
    with pytest.raises(MemoryNotFoundError):
        alice.procedures.select(*SDR)
    for workflow, score in (("good", 1), ("bad", 0)):
        alice.procedures.put(*SDR, workflow, SPEC)
        for _ in range(12):
            alice.procedures.record_outcome(*SDR, workflow, score)
    chosen = alice.procedures.select(*SDR, seed=7)
    assert (chosen.workflow_id, chosen.spec) == ("good", SPEC)
    assert alice.procedures.select(*SDR, seed=7) == chosen
    assert alice.procedures.select(*SDR).sampled != chosen.sampled


def test_an_outcome_whose_answer_was_lost_counts_once(server: LocalServer, alice: Client) -> None:
    class Losing(httpx.HTTPTransport):
        lost = 0

        def handle_request(self, request: httpx.Request) -> httpx.Response:
            answer = super().handle_request(request)
            if self.lost < 2:
                self.lost += 1
                raise httpx.ReadError("the answer is lost", request=request)
            return answer

    alice.procedures.put(*SDR, "roi", SPEC)
    key = alice.settings.api_key
    with Client(server.address, key, transport=Losing()) as unlucky:
        assert unlucky.procedures.record_outcome(*SDR, "roi", 1).alpha == 2
    stands = alice.procedures.get(*SDR, "roi")
    assert stands is not None
    assert (stands.alpha, stands.outcomes) == (2, 1)


def test_what_cannot_be_is_refused(alice: Client) -> None:
    alice.procedures.put(*SDR, "roi", SPEC)
    for score in (1.01, -0.01):
        with pytest.raises(ValidationError):
            alice.procedures.record_outcome(*SDR, "roi", score)
    with pytest.raises(MemoryNotFoundError):
        alice.procedures.record_outcome(*SDR, "none", 1)
    with pytest.raises(ValidationError):
        alice.procedures.put(*SDR, "roi", SPEC, half_life="a week")
    with pytest.raises(TooLargeError):
        alice.procedures.put(*SDR, "roi", "x" * 65_536)
    with pytest.raises(ValueError, match="a slash"):
        alice.procedures.get("sdr/emea", "outreach", "roi")


def test_odd_names_are_names(alice: Client) -> None:
    names = ["ROI first?", "100%", "a#b", "Grüße", "select", "outcome"]
    for name in names:
        alice.procedures.put("sdr & co", "cold: outreach", name, name)
    found = {
        each.workflow_id: each.spec for each in alice.procedures.list("sdr & co", "cold: outreach")
    }
    assert found == {name: name for name in names}
    for name in names:
        assert alice.procedures.record_outcome("sdr & co", "cold: outreach", name, 1).alpha == 2
