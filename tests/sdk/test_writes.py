"""`set`, `put` and `update` lose nothing without a word: no argument, no value, no update."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import pytest
from agent_memory import Client
from agent_memory.exceptions import MemoryConflictError, MemoryNotFoundError
from agent_memory.model import Entry
from agent_memory.updates import Retry, assert_in_scope, compute_value

from tests.contract.local_server import ROOT, LocalServer

WRITERS, UPDATES = 10, 30
Call = Callable[..., Any]


def increment(value: dict[str, Any]) -> dict[str, Any]:
    return {"n": value["n"] + 1}


def writes(client: Client) -> list[Call]:
    """The three calls that write one entry, each as `call(value, **fields)`."""
    return [
        lambda value, **fields: client.memory.set("ns", "k", value, **fields),
        lambda value, **fields: client.memory.put("ns", "k", value, **fields),
        lambda value, **fields: client.memory.update(
            "ns", "k", lambda _: value, initial={}, **fields
        ),
    ]


REFUSED: list[dict[str, Any]] = [
    {"tgas": ["x"]},
    {"memory_tpye": "episodic"},
    {"task_id": "t1", "scope": {"task_id": "t2"}},
    {"tags": "batch"},
]


def test_no_argument_is_dropped(alice: Client) -> None:
    alice.memory.put("ns", "k", {"n": 1})
    for write, fields in product(writes(alice), REFUSED):
        with pytest.raises(TypeError):
            write({"n": 2}, **fields)
    unknown: Any = {"version": 77}
    with pytest.raises(TypeError):
        alice.memory.update("ns", "k", increment, **unknown)
    assert alice.memory.get("ns", "k") == {"n": 1}


def test_none_is_no_value(alice: Client) -> None:
    alice.memory.put("ns", "k", {"n": 1})
    for write in writes(alice):
        with pytest.raises(TypeError, match="NoneType"):
            write(None, tags=["z"])
    with pytest.raises(TypeError, match="return the new value"):
        alice.memory.update("ns", "k", lambda value: value.update(n=2), tags=["new"])  # type: ignore[arg-type, return-value]
    entry = alice.memory.get_entry("ns", "k")
    assert entry is not None
    assert (entry.value, entry.version, entry.tags) == ({"n": 1}, 1, ())


def test_an_update_never_writes_into_another_scope(alice: Client) -> None:
    alice.memory.put("ns", "k", {"n": 1})
    with pytest.raises(MemoryConflictError, match="another scope"):
        alice.memory.update("ns", "k", increment, task_id="t9")


def test_a_put_takes_the_place_of_whatever_stands_there(alice: Client, server: LocalServer) -> None:
    alice.memory.set("ns", "k", {"n": 1}, tags=["old"], ttl=3600)
    with Client(server.address, alice.settings.api_key) as other:
        put = other.memory.put("ns", "k", {"n": 2})
    assert (put.version, put.value, put.tags, put.expires_at) == (2, {"n": 2}, (), None)
    with pytest.raises(MemoryConflictError):
        alice.memory.put("ns", "k", {"n": 3}, version=1)
    with pytest.raises(MemoryConflictError):
        alice.memory.put("ns", "k", {"n": 3}, version=0)
    assert alice.memory.put("ns", "k", {"n": 3}, version=2).version == 3
    assert alice.memory.put("ns", "new", {}, version=0).version == 1
    assert alice.memory.set("ns", "k", {"n": 4}).version == 4


def test_times_are_given_as_python_has_them(alice: Client) -> None:
    hour = [
        alice.memory.put("ns", "k", {}, ttl=ttl)
        for ttl in (3600, timedelta(hours=1), "PT1H", "duration:PT1H")
    ]
    assert {each.expires_at and each.expires_at - each.updated_at for each in hour} == {
        timedelta(hours=1)
    }
    end = datetime(2040, 1, 1, 12, tzinfo=UTC)
    entry = alice.memory.set("ns", "k", {}, expires_at=end)
    assert entry.expires_at == end
    assert entry.to_dict()["expires_at"] == "2040-01-01T12:00:00.000Z"
    assert list(alice.memory.query(updated_after=entry.updated_at)) == []
    assert list(alice.memory.query(updated_before=end)) == [entry]
    alice.conversations.put("s", "ada", [{"role": "user", "content": "Hi", "timestamp": end}])
    assert alice.conversations.get("s").messages[0].timestamp == end
    assert alice.memory.set("ns", "k", {}, ttl=None).expires_at is None
    with pytest.raises(ValueError, match="time zone"):
        alice.memory.set("ns", "k", {}, expires_at=datetime(2040, 1, 1))  # noqa: DTZ001


def test_updates_of_many_writers_are_all_counted(alice: Client, server: LocalServer) -> None:
    alice.memory.put("ns", "count", {"n": 0})
    own = threading.local()

    def update(_: int) -> None:
        if not hasattr(own, "client"):
            own.client = Client(server.address, alice.settings.api_key)
        own.client.memory.update("ns", "count", increment)

    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(update, range(UPDATES)))
    assert alice.memory.get("ns", "count") == {"n": UPDATES}


def test_an_update_gives_up_at_its_deadline_and_says_so(alice: Client) -> None:
    alice.memory.put("ns", "k", {"n": 1})

    def be_overtaken(value: dict[str, Any]) -> dict[str, Any]:
        alice.memory.put("ns", "k", {"n": value["n"] + 1})
        return value

    with pytest.raises(MemoryConflictError):
        alice.memory.update("ns", "k", be_overtaken, deadline=0.05)


def test_pauses_between_attempts_grow_and_end_before_the_deadline() -> None:
    refusal = MemoryConflictError("taken")
    with pytest.raises(MemoryConflictError):
        Retry(0).next_pause(refusal)
    retry = Retry(60)
    pauses = [retry.next_pause(refusal) for _ in range(200)]
    assert 0.1 < max(pauses) <= 2.0
    assert Retry(0.2).next_pause(refusal) < 0.2 / 8


def test_the_rules_of_an_update() -> None:
    with pytest.raises(MemoryNotFoundError, match="initial"):
        compute_value(dict, None, None)
    assert compute_value(dict, None, {}) == {}
    assert_in_scope(None, {"task_id": "t"})
    entry = Entry.from_document(
        dict.fromkeys(("id", "agent_id", "namespace", "key"), "x")
        | dict.fromkeys(("created_at", "updated_at", "occurred_at"), "2040-01-01T12:00:00.000Z")
        | {"memory_type": "working", "version": 1, "scope": {"task_id": "t"}}
        | {"priority": "normal", "created_by": "x"}
    )
    assert (entry.tags, entry.pinned) == ((), False)
    assert_in_scope(entry, {"task_id": "t"})
    with pytest.raises(MemoryConflictError):
        assert_in_scope(entry, {"intent_id": "i"})


def test_an_empty_key_is_refused_and_never_taken_from_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AGENT_MEMORY_API_KEY", "am_secret")
    monkeypatch.setenv("AGENT_MEMORY_URL", "http://elsewhere")
    for url, key in (("http://x", ""), ("", "am_key")):
        with pytest.raises(ValueError, match=r"api_key|server_url"):
            Client(url, key)


def test_the_first_program_of_the_readme_runs_twice(
    alice: Client, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (ROOT / "sdk/README.md").read_text("utf-8")
    program = page.partition("```python\n")[2].partition("```")[0]
    monkeypatch.setenv("AGENT_MEMORY_URL", alice.settings.server_url)
    monkeypatch.setenv("AGENT_MEMORY_API_KEY", alice.settings.api_key)
    for _ in range(2):
        exec(program, {})  # noqa: S102 - our own page's
    assert capsys.readouterr().out == (
        "progress 2 {'completed': 24}\nprogress 4 {'completed': 24}\n"
    )
