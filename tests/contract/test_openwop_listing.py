"""OpenWOP RFC 0004 §A, §G: lists newest first, by tag, to a limit; what an entry may hold."""

import httpx
import pytest

from functions.platform.limits import MAX_PAGE_ITEMS
from tests.contract.expect import ok
from tests.contract.openwop_calls import (
    RUNS,
    erring,
    memory_items,
    path,
    present,
    start,
    start_on,
)
from tests.contract.service import Service, Tenant
from tests.contract.transport import MovableClock


def test_entries_are_listed_newest_first_to_a_limit(ada: httpx.Client, clock: MovableClock) -> None:
    maker = start(ada)
    for number in range(7):
        maker.put(f"{number}")
        clock.advance(ms=number % 2)
    run = start(ada)
    assert run.contents() == run.contents(limit=0) == run.contents(limit=7) == list("6543210")
    assert run.contents(limit=3) == list("654")
    assert present(ada, run.reference, limit=1) == ["6"]


def test_one_lists_the_runs_that_one_started_and_no_others(
    ada: httpx.Client, alice: httpx.Client, clock: MovableClock
) -> None:
    runs = []
    for _ in range(5):
        clock.advance(ms=1)
        runs.append(start(ada))
    runs[0].end()
    theirs = start(alice)
    listed = ok(ada.get(RUNS))["runs"]
    assert [each["runId"] for each in listed] == [each.id for each in reversed(runs)]
    assert listed == [ok(ada.get(f"{RUNS}/{each['runId']}")) for each in listed]
    assert [each["state"] for each in listed] == ["open"] * 4 + ["ended"]
    first = ok(ada.get(RUNS, params={"limit": 2}))
    start(ada)
    rest = ok(ada.get(RUNS, params={"limit": 9, "after": first["next"]}))
    assert first["runs"] + rest["runs"] == listed
    assert "next" not in rest
    assert [each["runId"] for each in ok(alice.get(RUNS))["runs"]] == [theirs.id]


def test_a_tag_filters_before_the_limit(ada: httpx.Client) -> None:
    maker = start(ada)
    for number in range(9):
        maker.put(f"{number}", tags=["even" if number % 2 == 0 else "odd", "all", "ä,#/ %"])
    gone = maker.put("gone", tags=["even"])
    run = start(ada)
    maker.delete(gone["id"])
    assert run.contents(tag="even", limit=3) == ["gone", "8", "6"]
    assert present(ada, run.reference, tag="even", limit=2) == ["8", "6"]
    assert run.contents(tag="ä,#/ %") == list("876543210")
    assert run.contents(tag="Even") == run.contents(tag="eve") == run.contents(tag="x") == []


def test_before_continues_a_list(ada: httpx.Client) -> None:
    maker = start(ada)
    for number in range(10):
        maker.put(f"{number}", tags=["t"])
    run = start(ada)
    for query in ({}, {"tag": "t"}):
        seen: list[str] = []
        page = run.entries(limit=4, **query)
        while page:
            seen += [entry["content"] for entry in page]
            maker.put("later", tags=["t"])
            page = run.entries(limit=4, before=page[-1]["id"], **query)
        assert seen == list("9876543210")
    erring(ada.get(path(run.reference), params={"before": "x"}), 400, "validation_error")


@pytest.mark.parametrize("query", [{}, {"tag": "t"}])
def test_a_limited_list_names_where_it_goes_on(ada: httpx.Client, query: dict[str, str]) -> None:
    maker = start(ada)
    for number in range(5):
        maker.put(f"{number}", tags=["t"])
    run = start(ada)
    for list_path in (path(run.reference), f"{RUNS}/{run.id}/entries"):
        asked = query | {"limit": "2", "total": "none"}
        whose = {"runId": run.id} if list_path == path(run.reference) else {}
        seen: list[str] = []
        while True:
            page = ok(ada.get(list_path, params=asked | whose))
            seen += [each["content"] for each in page["entries"]]
            if "next" not in page:
                break
            asked["after"] = page["next"]
        assert seen == list("43210")
        both = {"after": asked["after"], "before": asked["after"]}
        erring(ada.get(list_path, params=both), 400, "validation_error")
        heads = ok(ada.get(list_path, params=whose | {"values": "omit"}))["entries"]
        assert [each["tags"] for each in heads] == [["t"]] * 5
        assert not any("content" in each for each in heads)


@pytest.mark.usefixtures("volume")
def test_a_full_response_names_the_next_page(ada: httpx.Client) -> None:
    run = start(ada)
    for number in range(90):
        run.put(f"{number:02d}" + "x" * 65_000)
    later = start(ada)
    seen: list[str] = []
    query = {"runId": later.id}
    while True:
        page = ok(ada.get(path(run.reference), params=query))
        seen += [entry["content"][:2] for entry in page["entries"]]
        if "next" not in page:
            break
        query["before"] = page["next"]
    assert seen == [f"{number:02d}" for number in reversed(range(90))]
    assert len(page["entries"]) < 90


def test_a_limit_is_a_number(ada: httpx.Client) -> None:
    run = start(ada)
    for limit in ("-1", "1001", "x", "1.5", ""):
        answer = ada.get(path(run.reference), params={"limit": limit})
        erring(answer, 400, "validation_error")


def test_wrong_parameters_are_named(ada: httpx.Client) -> None:
    reference = start(ada).reference
    for query in ("tag=", "tag=a&tag=b", "colour=red", "limit=1&limit=2"):
        envelope = erring(ada.get(f"{path(reference)}?{query}"), 400, "validation_error")
        assert envelope["details"]["errors"][0]["field"] == query.partition("=")[0]


def test_an_entry_is_returned_as_it_was_stored(ada: httpx.Client, clock: MovableClock) -> None:
    run = start(ada)
    expires = clock.time(seconds=60)
    made = run.put("content \u0000 \U0001f9e0", tags=["", "a", "", "b", "a"], expiresAt=expires)
    assert made == {
        "id": made["id"],
        "content": "content \u0000 \U0001f9e0",
        "tags": ["a", "b"],
        "createdAt": made["createdAt"],
        "expiresAt": expires,
    }
    plain = run.put("")
    assert plain == {"id": plain["id"], "content": "", "tags": [], "createdAt": plain["createdAt"]}
    later = start(ada)
    assert later.entries() == [plain, made]
    assert later.get(made["id"]) == made


def test_secrets_that_are_too_large_together_are_refused(ada: httpx.Client) -> None:
    large = [{"label": "a", "value": f"{number}" + "é" * 4_000} for number in range(9)]
    answer = ada.post(RUNS, json={"agent": "planner", "secrets": large})
    errors = erring(answer, 400, "validation_error")["details"]["errors"]
    assert errors[0]["field"] == "secrets"


@pytest.mark.in_process
def test_a_page_has_a_most_of_entries_and_names_the_next(
    ada: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert MAX_PAGE_ITEMS == 1000
    monkeypatch.setattr("functions.api.routes.openwop.MAX_PAGE_ITEMS", 10)
    run = start(ada)
    for number in range(13):
        run.put(str(number))
    page = ok(ada.get(path(run.reference)))
    assert [entry["content"] for entry in page["entries"]] == [str(n) for n in range(12, 2, -1)]
    rest = ok(ada.get(path(run.reference), params={"before": page["next"]}))
    assert [entry["content"] for entry in rest["entries"]] == ["2", "1", "0"]
    assert "next" not in rest


def _names(client: httpx.Client) -> list[tuple[str, str | None]]:
    found = ok(client.get("/v1/memories"))["memories"]
    return [(each["agent"], each.get("scope")) for each in found]


def test_one_lists_ones_own_memories_and_those_of_ones_type(
    tenant: Tenant, ada: httpx.Client, clock: MovableClock
) -> None:
    own = start(ada, scope="x")
    clock.advance(ms=1)
    other = ok(ada.post("/v1/memories", json={"agent": "other"}))
    start(ada, scope="x")
    own.end()
    first, second = (tenant.agent(name, agent_type="sdr") for name in ("first", "second"))
    shared = start(first, "leads")
    start_on(second, own.reference)
    page = ok(ada.get("/v1/memories", params={"limit": 1}))
    assert [each["memoryRef"] for each in page["memories"]] == [other["memoryRef"]]
    rest = ok(ada.get("/v1/memories", params={"after": page["next"]}))
    (found,) = rest["memories"]
    assert (found["memoryRef"], found["principal"], "agentType" in found, "next" in rest) == (
        own.reference,
        "ada",
        False,
        False,
    )
    (found,) = ok(second.get("/v1/memories"))["memories"]
    assert (found["memoryRef"], found["agentType"]) == (shared.reference, "sdr")
    assert _names(first) == [("leads", None)]
    assert _names(tenant.admin) == _names(tenant.agent("bob")) == []
    ok(tenant.admin.patch("/api/v1/principals/ada", json={"agent_type": "sdr"}))
    assert sorted(_names(ada), key=str) == [("leads", None), ("other", None), ("planner", "x")]


def test_a_memory_whose_name_holds_a_secret_is_in_no_list(
    ada: httpx.Client, service: Service
) -> None:
    for learns in (False, True):
        start(ada, scope="hunter2-hunter2").end()
        assert _names(ada) == [("planner", "hunter2-hunter2")]
        secrets = [] if learns else [{"label": "mail", "value": "hunter2-hunter2"}]
        run = start(ada, scope="hunter2-hunter2", secrets=secrets)
        if learns:
            run.learn("mail", "hunter2-hunter2")
        assert _names(ada) == []
        heads = memory_items(service, "o")
        assert "hunter2" not in str(heads)
        run.end()
