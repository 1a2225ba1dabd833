"""Lists of OpenWOP that are ranked or bounded by tokens, and runs that choose their marker."""

import httpx
import pytest

from functions.recall.tokens import count_tokens
from functions.vectors import wordllama
from tests.contract.expect import ok
from tests.contract.openwop_calls import path, start, start_on
from tests.contract.service import Tenant

SECRETS = [{"label": "stripe", "value": "sk_live_51HXyzExample0042"}]
CONTENTS = ["She pays by bank transfer", "The office is in Hamburg", "Deliveries come on Friday"]
needs_model = pytest.mark.skipif(not wordllama.is_installed(), reason="it ranks by meaning")


@pytest.fixture
def host(tenant: Tenant) -> httpx.Client:
    return tenant.agent("ada")


@pytest.mark.parametrize(
    ("chosen", "shown"),
    [
        ("1.x", "paid with [REDACTED:stripe]"),
        ("rfc-0004", "paid with <REDACTED:stripe>"),
        (None, "paid with <REDACTED:stripe>"),
    ],
)
def test_a_run_chooses_its_marker(host: httpx.Client, chosen: str | None, shown: str) -> None:
    fields = {} if chosen is None else {"redactionMarker": chosen}
    run = start(host, secrets=SECRETS, **fields)
    assert run.put(f"paid with {SECRETS[0]['value']}")["content"] == shown
    other = start_on(host, run.reference)
    assert other.contents() == [shown]


def test_an_unknown_marker_is_refused(host: httpx.Client) -> None:
    answer = host.post("/v1/runs", json={"agent": "planner", "redactionMarker": "2.x"})
    assert answer.status_code == 400


@needs_model
def test_a_list_by_relevance_has_what_fits_first(host: httpx.Client) -> None:
    run = start(host)
    for content in CONTENTS:
        ok(host.post(path(run.reference), json={"content": content}), 201)
    later = start_on(host, run.reference)
    ranked = later.contents(rank="relevance", query="How does she pay?")
    assert ranked[0] == CONTENTS[0]
    assert sorted(ranked) == sorted(CONTENTS)
    assert later.contents(rank="relevance", query="Where is the office?", limit=1) == [CONTENTS[1]]
    budget = count_tokens(CONTENTS[0])
    asked = {"rank": "relevance", "query": "How does she pay?", "tokenBudget": budget}
    assert later.contents(**asked) == [CONTENTS[0]]
    assert run.contents(rank="relevance", query="How does she pay?") == []


def test_a_budget_answers_the_beginning_of_the_list_and_where_it_continues(
    host: httpx.Client,
) -> None:
    run = start(host)
    for content in CONTENTS:
        ok(host.post(path(run.reference), json={"content": content}), 201)
    budget = count_tokens(CONTENTS[2]) + count_tokens(CONTENTS[1])
    page = ok(host.get(path(run.reference), params={"tokenBudget": budget}))
    assert [each["content"] for each in page["entries"]] == [CONTENTS[2], CONTENTS[1]]
    rest = ok(host.get(path(run.reference), params={"after": page["next"]}))
    assert [each["content"] for each in rest["entries"]] == [CONTENTS[0]]
    whole = ok(host.get(path(run.reference), params={"tokenBudget": 10_000}))
    assert len(whole["entries"]) == 3
    assert "next" not in whole
    assert ok(host.get(path(run.reference), params={"tokenBudget": 1}))["entries"] == []


@pytest.mark.parametrize(
    "query",
    [
        {"rank": "relevance"},
        {"query": "pay"},
        {"rank": "best", "query": "pay"},
        {"tokenBudget": 0},
        {"rank": "relevance", "query": "pay", "after": "mem_" + "0" * 22},
    ],
)
def test_what_does_not_go_together_is_refused(
    host: httpx.Client, query: dict[str, str | int]
) -> None:
    run = start(host)
    assert host.get(path(run.reference), params=query).status_code == 400
