"""Objects as programs use them by the client."""

import asyncio
import secrets
from collections.abc import Iterator
from datetime import timedelta

import pytest
from agent_memory import AsyncClient, Client
from agent_memory.exceptions import MemoryConflictError, MemoryNotFoundError, TooLargeError


@pytest.fixture
def alice(admin: Client) -> Iterator[Client]:
    """A coordinator, since agents create no shared spaces."""
    made = admin.principals.create("alice", "coordinator")
    with Client(admin.settings.server_url, made.api_key) as client:
        yield client


def test_an_object_comes_back_as_it_was_stored(alice: Client) -> None:
    for data in (b"", b"{", bytes(range(256)), secrets.token_bytes(100_000)):
        version = alice.objects.put(
            "files", "a/b#ü.bin", data, content_type="image/png", metadata={"n": "ü"}, ttl=60
        )
        found = alice.objects.get("files", "a/b#ü.bin")
        assert found is not None
        assert (found.data, found.version) == (data, version)
        assert (found.content_type, found.metadata) == ("image/png", {"n": "ü"})
        assert found.expires_at
    assert alice.objects.get("files", "none") is None


def test_what_is_no_bytes_or_list_is_refused(alice: Client) -> None:
    put, given = alice.objects.put, bytearray(b"1234")
    put("files", "view", memoryview(given).cast("H"), ttl=timedelta(hours=1))
    found = alice.objects.get("files", "view")
    assert found is not None
    assert (found.data, bool(found.expires_at)) == (b"1234", True)
    with pytest.raises(TypeError, match="bytes, not str"):
        put("files", "text", "text")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a list of texts"):
        alice.objects.get_many("files", "view")
    with pytest.raises(TypeError, match="must be a dict, not str"):
        alice.memory.batch("abc")  # type: ignore[arg-type]


def test_a_conflict_is_told(alice: Client) -> None:
    first = alice.objects.put("files", "k", b"1")
    alice.objects.put("files", "k", b"2", version=first)
    with pytest.raises(MemoryConflictError):
        alice.objects.put("files", "k", b"3", version=first)
    with pytest.raises(MemoryConflictError):
        alice.objects.put("files", "k", b"3", only_new=True)
    with pytest.raises(TooLargeError):
        alice.objects.put("files", "k", bytes(104_857_601))


def test_a_large_object_goes_by_an_address(alice: Client) -> None:
    data = secrets.token_bytes(12_000_000)
    first = alice.objects.put("files", "k", data, metadata={"n": 1}, sensitivity="restricted")
    found = alice.objects.get("files", "k")
    assert found is not None
    assert (found.data, found.version, found.metadata) == (data, first, {"n": 1})
    assert alice.objects.get_many("files", ["k"]) == {"k": data}
    with pytest.raises(MemoryConflictError):
        alice.objects.put("files", "k", data, only_new=True)


def test_one_asynchronous_client_serves_several_event_loops_and_threads(alice: Client) -> None:
    client = AsyncClient(alice.settings.server_url, alice.settings.api_key)

    async def use(key: str) -> None:
        await client.objects.put("loops", key, b"1")
        await asyncio.gather(*(client.objects.get("loops", key) for _ in range(5)))

    def run(number: int) -> None:
        for turn in range(3):
            asyncio.run(use(f"{number}/{turn}"))

    async def count() -> int:
        async with asyncio.timeout(30):
            await asyncio.gather(*(asyncio.to_thread(run, number) for number in range(4)))
            found = [each.key async for each in client.objects.list("loops")]
            await client.close()
            return len(found)

    assert asyncio.run(count()) == 12


def test_objects_are_listed_read_renamed_and_deleted(alice: Client) -> None:
    for number in range(3):
        alice.objects.put("files", f"t/{number}", b"%d" % number)
    assert [each.key for each in alice.objects.list("files", "t/")] == ["t/0", "t/1", "t/2"]
    alice.objects.rename("files", "t/2", "u")
    with pytest.raises(MemoryNotFoundError):
        alice.objects.rename("files", "t/2", "v")
    assert alice.objects.get_many("files", ["u", "t/0", "no"]) == {"u": b"2", "t/0": b"0"}
    assert alice.objects.delete("files", "u")
    assert not alice.objects.delete("files", "u")
    assert alice.objects.delete_all("files", "") == 2


def test_a_shared_space_is_read_by_others(alice: Client, admin: Client) -> None:
    alice.objects.put("files", "k", b"1")
    alice.objects.share("files", default="read")
    found = admin.objects.get("files", "k")
    assert found is not None
    assert found.data == b"1"
