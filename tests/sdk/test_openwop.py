"""OpenWOP RFC 0004 §A in the SDK: the four operations, with the service's guarantees."""

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from agent_memory import AsyncClient, Client
from agent_memory.exceptions import (
    MemoryAccessError,
    MemoryNotFoundError,
    TooLargeError,
    ValidationError,
)
from agent_memory.openwop import (
    AsyncMemoryAdapter,
    AsyncMemoryRun,
    MemoryAdapter,
    MemoryRun,
    RunEndedError,
    SecretLeakageError,
)

SECRETS = {"stripe": "sk_live_51HXyz0042"}
Wait = Callable[[Any], Any]


@pytest.fixture(params=["sync", "async"])
def adapter(request: pytest.FixtureRequest, alice: Client) -> Iterator[tuple[Any, Wait]]:
    """An adapter of alice's, and how to wait for what it answers."""
    if request.param == "sync":
        yield MemoryAdapter(alice), lambda answer: answer
        return
    with asyncio.Runner() as runner:

        async def wait(answer: Any) -> Any:
            return await answer

        client = AsyncClient(alice.settings.server_url, alice.settings.api_key)
        yield AsyncMemoryAdapter(client), lambda answer: runner.run(wait(answer))
        runner.run(client.close())


def contents(entries: list[Any]) -> list[str]:
    return [entry.content for entry in entries]


def test_a_run_sees_what_was_there_at_its_start(adapter: tuple[Any, Wait]) -> None:
    memories, wait = adapter
    first = wait(memories.start("planner"))
    kept = wait(first.put(first.memory_ref, "before", tags=["t", ""]))
    run = wait(memories.start("planner"))
    later = wait(memories.put(run.memory_ref, "later"))
    assert wait(run.list(run.memory_ref).list()) == [kept]
    assert wait(run.get(run.memory_ref, later.id)) is None
    assert wait(memories.delete(run.memory_ref, kept.id)) is True
    assert wait(memories.delete(run.memory_ref, kept.id)) is False
    assert wait(run.list(run.memory_ref, tag="t").list()) == [kept]
    assert wait(run.get(run.memory_ref, kept.id)) == kept
    assert contents(wait(memories.list(run.memory_ref).list())) == ["later"]
    assert wait(memories.get(run.memory_ref, kept.id)) is None
    assert kept.tags == ("t",)
    assert kept.created_at <= run.snapshot_at <= later.created_at


def test_secrets_are_redacted_or_refused(adapter: tuple[Any, Wait]) -> None:
    memories, wait = adapter
    run = wait(memories.start("planner", scope="s", secrets=SECRETS))
    entry = wait(run.put(run.memory_ref, f"it is {SECRETS['stripe']}"))
    assert entry.content == "it is <REDACTED:stripe>"
    strict = wait(memories.start("planner", secrets=SECRETS, on_secret="reject"))
    with pytest.raises(SecretLeakageError) as leak:
        wait(strict.put(strict.memory_ref, SECRETS["stripe"]))
    assert leak.value.labels == ["stripe"]
    assert (leak.value.status, leak.value.code) == (422, "secret_leakage")
    assert SECRETS["stripe"] not in f"{leak.value!r} {leak.value} {leak.value.problem}"
    assert wait(memories.list(strict.memory_ref).list()) == []


def test_what_is_wrong_is_told(adapter: tuple[Any, Wait]) -> None:
    memories, wait = adapter
    run = wait(memories.start("planner"))
    for wrong in ("mref_x", run.memory_ref[:-1], "ü?#%"):
        with pytest.raises(MemoryAccessError):
            wait(memories.list(wrong).list())
        for act, more in ((memories.put, "x"), (run.delete, "mem_x")):
            with pytest.raises(MemoryAccessError):
                wait(act(wrong, more))
    with pytest.raises(ValidationError):
        wait(run.put(run.memory_ref, "x", expires_at="2020-01-01T00:00:00Z"))
    with pytest.raises(TooLargeError):
        wait(run.put(run.memory_ref, "x" * 65_537))
    with pytest.raises(ValidationError):
        wait(memories.start(""))
    with pytest.raises(ValueError, match="limit"):
        wait(memories.list(run.memory_ref, limit=-1).list())
    stray = type(memories)(memories._client, "run_x")  # noqa: SLF001 - of a run that isn't one
    with pytest.raises(MemoryNotFoundError):
        wait(stray.get(run.memory_ref, "mem_x"))


def test_a_run_ends_once(adapter: tuple[Any, Wait]) -> None:
    memories, wait = adapter
    run = wait(memories.start("planner"))
    wait(run.end())
    wait(run.end())
    with pytest.raises(RunEndedError):
        wait(run.list(run.memory_ref).list())
    with pytest.raises(RunEndedError):
        wait(run.put(run.memory_ref, "late"))


def test_a_finished_run_is_replayed(adapter: tuple[Any, Wait]) -> None:
    memories, wait = adapter
    first = wait(memories.start("planner"))
    entry = wait(first.put(first.memory_ref, "before", tags=["t"]))
    other = wait(memories.start("reviewer"))
    run = wait(
        memories.start(
            memory_refs=[first.memory_ref, other.memory_ref],
            ttl=timedelta(hours=1),
            retain_snapshot="P2D",
        )
    )
    assert run.memory_refs == (first.memory_ref, other.memory_ref)
    wait(run.add_secrets(SECRETS))
    later = wait(run.put(run.memory_ref, SECRETS["stripe"]))
    assert later.content == "<REDACTED:stripe>"
    wait(memories.delete(run.memory_ref, entry.id))
    assert wait(memories.get_state(run.run_id)).secrets == ("stripe",)
    wait(run.end())
    replay = wait(memories.replay(run.run_id))
    assert wait(replay.list(replay.memory_ref).list()) == [entry]
    assert wait(replay.get(replay.memory_ref, later.id)) is None
    state = wait(memories.get_state(replay.run_id))
    assert (state.state, state.replay_of, state.is_replayable) == ("open", run.run_id, True)
    (seen,) = wait(memories.list_seen(run.run_id, tag="t").list())
    assert (seen.entry, seen.put_in) == (entry, first.run_id)
    assert seen.deleted_at is not None
    assert wait(memories.list_seen(run.run_id, memory_ref=other.memory_ref).list()) == []
    shared = wait(memories.start(memory_ref=first.memory_ref))
    assert contents(wait(shared.list(shared.memory_ref).list())) == ["<REDACTED:stripe>"]
    with pytest.raises(MemoryNotFoundError):
        wait(memories.replay("run_x"))


def test_with_blocks_end_runs(alice: Client) -> None:
    run = MemoryAdapter(alice).start("planner")
    with contextlib.suppress(KeyError), run:
        assert isinstance(run, MemoryRun)
        raise KeyError
    with pytest.raises(RunEndedError):
        run.list(run.memory_ref).list()

    async def use() -> None:
        async with AsyncClient(alice.settings.server_url, alice.settings.api_key) as client:
            async with await AsyncMemoryAdapter(client).start("planner") as run:
                assert isinstance(run, AsyncMemoryRun)
            with pytest.raises(RunEndedError):
                await run.list(run.memory_ref)

    asyncio.run(use())


@pytest.mark.parametrize("adapter", ["async"], indirect=True)
def test_lists_give_all_that_there_is(adapter: tuple[Any, Wait]) -> None:
    """Beyond the size of one answer, and to any limit."""
    memories, wait = adapter
    run = wait(memories.start("planner"))
    for number in range(85):
        wait(run.put(run.memory_ref, f"{number:02d}" + "x" * 65_000, tags=["t"]))
    later = wait(memories.start("planner"))
    expected = [f"{number:02d}" for number in reversed(range(85))]
    limits = [(None, None), (None, "t"), (0, None), (3, "t"), (84, None), (85, "t"), (2_000, None)]
    for limit, tag in limits:
        found = wait(later.list(later.memory_ref, limit=limit, tag=tag).list())
        assert [text[:2] for text in contents(found)] == expected[: limit or None]
