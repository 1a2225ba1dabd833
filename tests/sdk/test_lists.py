"""Every call that lists things gives the same kind of list, over both clients."""

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

import pytest
from agent_memory import AsyncClient, AsyncPages, Client, Pages
from agent_memory.openwop import MemoryAdapter

from tests.sdk.crew import until

COUNT = 3
Listing = Callable[[Any], Any]
LISTINGS: dict[str, Listing] = {
    "entries": lambda c: c.memory.query(namespace="lists", page_size=2),
    "tasks": lambda c: c.tasks.list("lists", page_size=2),
    "assigned tasks": lambda c: c.tasks.list_assigned("alice", page_size=2),
    "namespaces": lambda c: c.namespaces.list(page_size=2),
    "conversations": lambda c: c.conversations.list("ada", page_size=2),
    "messages": lambda c: c.conversations.list_messages("s0", page_size=2),
    "states": lambda c: c.states.list("admin", "ada", page_size=2),
    "facts": lambda c: c.facts.query(page_size=2),
    "runs": lambda c: c.runs.query(agent_type="sdr", page_size=2),
    "objects": lambda c: c.objects.list("lists", page_size=2),
    "workflows": lambda c: c.procedures.list("sdr", "mail", page_size=2),
    "events": lambda c: c.events.list_for_agent("admin", page_size=2),
}


def _fill(admin: Client) -> None:
    """Make three of each."""
    admin.principals.create("alice")
    admin.conversations.put("s0", "ada", [{"role": "user", "content": n} for n in range(COUNT)])
    for number in range(COUNT):
        name = f"n{number}"
        admin.memory.put("lists", name, {"n": number})
        admin.tasks.create("lists", id=f"task_{name}", assigned_agent="alice")
        admin.namespaces.set_permissions(name, default="read")
        if number:
            admin.conversations.put(f"s{number}", "ada")
        admin.states.put("admin", "ada", name, number)
        admin.facts.learn("acme", "has", f"the number {number}")
        admin.runs.start("sdr")
        admin.objects.put("lists", name, b"x")
        admin.procedures.put("sdr", "mail", name, {})
    until(lambda: len(admin.events.list_for_agent("admin").list()) == COUNT)


def test_every_list_has_a_first_page_and_goes_on(admin: Client) -> None:
    _fill(admin)
    for name, listing in LISTINGS.items():
        found = listing(admin)
        assert (len(found.items), bool(found)) == (2, True), name
        pages = [len(page) for page in found.pages()]
        assert (pages[:2], sum(pages)) == ([2, 1], COUNT), name
        assert found.items == found.list()[:2] == list(found)[:2], name
    assert admin.tasks.list("lists", limit=1).list() == admin.tasks.list("lists").items[:1]
    memories = MemoryAdapter(admin)
    assert not memories.list(memories.start("planner").memory_ref)

    async def use() -> None:
        async with AsyncClient(admin.settings.server_url, admin.settings.api_key) as client:
            for name, listing in LISTINGS.items():
                page = await listing(client)
                assert (len(page.items), page.next) == (2, listing(admin).next), name
                assert len([each async for each in listing(client)]) == COUNT, name

    asyncio.run(use())


def test_a_position_goes_on_behind_a_page(admin: Client) -> None:
    for number in range(COUNT):
        admin.tasks.create("lists", id=f"task_{number}")
    first = admin.tasks.list("lists", page_size=2)
    rest = admin.tasks.list("lists", after=first.next)
    assert [each.id for each in [*first.items, *rest]] == ["task_2", "task_1", "task_0"]
    assert rest.next is None


@pytest.mark.parametrize(("kind", "client"), [(Pages, Client), (AsyncPages, AsyncClient)])
def test_all_lists_are_of_one_kind(kind: type, client: type) -> None:
    parts = [*vars(client(api_key="am_x")).values(), client(api_key="am_x").for_user("ada")]
    for part in (each for each in parts if each.__class__.__module__.startswith("agent_memory._")):
        for name, method in inspect.getmembers(part, inspect.ismethod):
            if name.startswith("list") or name == "query":
                returned = inspect.signature(method).return_annotation
                assert returned.__origin__ is kind, f"{part.__class__.__name__}.{name}"


def test_a_list_says_what_it_does_not_take() -> None:
    client = Client(api_key="am_x")
    with pytest.raises(TypeError, match="unexpected keyword argument 'pagesize'"):
        client.tasks.list("i", pagesize=5)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="limit must be 0 or more"):
        client.tasks.list("i", limit=-1)
    with pytest.raises(TypeError, match="read the first page"):
        _ = AsyncClient(api_key="am_x").tasks.list("i").items


def test_logs_are_read_from_either_end(admin: Client) -> None:
    for number in range(COUNT):
        admin.memory.put("logs", f"k{number}", {})
    until(lambda: len(admin.events.list_for_agent("admin").list()) == COUNT)
    names = [each.data["key"] for each in admin.events.list_for_agent("admin", newest_first=True)]
    assert names == ["k2", "k1", "k0"]
    first = admin.events.list_for_agent("admin", limit=1, newest_first=True).items[0]
    about = admin.events.list_for_agent("admin", entry_id=first.data["entry_id"]).list()
    assert [each.id for each in about] == [first.id]
    admin.principals.create("bob")
    (newest,) = admin.audit.list(newest_first=True, limit=1)
    assert (newest.action, newest.actor.id) == ("principal.create", "admin")
    with pytest.raises(ValueError, match="newest_first"):
        admin.events.list_for_agent("admin", follow=True, newest_first=True)
