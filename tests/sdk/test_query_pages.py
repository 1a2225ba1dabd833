"""Queries continue rightly while others write: what stands throughout comes once, newest first."""

from typing import Any

import pytest
from agent_memory import AsyncClient, Client

PAGE, COUNT = 3, 10


def _write(client: Client, turn: int) -> None:
    """Create, change and delete entries, one that was given among them."""
    client.memory.set("pages", f"new-{turn}", {})
    client.memory.set("pages", f"newer-{turn}", {})
    client.memory.set("pages", f"k{turn}", {"turn": turn})
    client.memory.delete("pages", f"k{COUNT - 1 - turn}")
    client.memory.delete("pages", f"new-{turn}")


@pytest.mark.parametrize("page_size", [1, PAGE])
def test_what_stands_throughout_comes_once(alice: Client, page_size: int) -> None:
    created = [alice.memory.set("pages", f"k{n}", {"n": n}) for n in range(COUNT)]
    found: list[Any] = []
    for turn, entry in enumerate(alice.memory.query(namespace="pages", page_size=page_size)):
        found.append(entry.id)
        _write(alice, turn)
    assert found == [entry.id for entry in reversed(created)]


def test_a_list_that_vanishes_under_way_ends(alice: Client) -> None:
    for number in range(COUNT):
        alice.memory.set("pages", f"k{number}", {})
    found = iter(alice.memory.query(namespace="pages", page_size=PAGE))
    next(found)
    alice.memory.delete_batch(namespace="pages")
    assert len(list(found)) == PAGE - 1


def test_a_query_is_looped_over_as_often_as_one_likes(alice: Client) -> None:
    for number in range(COUNT):
        alice.memory.put("pages", f"k{number}", {})
    found = alice.memory.query(namespace="pages", page_size=PAGE)
    keys = [entry.key for entry in found]
    assert keys == [entry.key for entry in found] == [f"k{n}" for n in reversed(range(COUNT))]
    assert (bool(found), len(found.list())) == (True, COUNT)
    nothing = alice.memory.query(namespace="nothing")
    assert (bool(nothing), list(nothing), nothing.next) == (False, [], None)
    few = alice.memory.query(namespace="pages", page_size=PAGE, limit=PAGE + 1)
    assert [entry.key for entry in few] == keys[: PAGE + 1]
    rest = alice.memory.query(namespace="pages", after=found.next)
    assert [entry.key for entry in found.items + rest.list()] == keys


def test_the_truth_of_an_async_query_is_no_silent_yes() -> None:
    with pytest.raises(TypeError, match="await the query"):
        bool(AsyncClient(api_key="am_x").memory.query())
