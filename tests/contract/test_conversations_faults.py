"""Conversations under concurrency and crashes: nothing lost or doubled, no half ever shown."""

import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import count
from typing import NamedTuple

import httpx
import pytest

from functions.api.app import App
from functions.container import Container
from tests.contract.conversation_calls import (
    CONVERSATIONS,
    append,
    put,
    residue,
    said,
    stored_messages,
)
from tests.contract.expect import assert_no_content, ok
from tests.contract.faults import Killed, When, faulty
from tests.contract.service import Service, Tenant
from tests.contract.sweeping import items, sweep
from tests.contract.transport import HandlerTransport, open_client, turns

KEY = {"Idempotency-Key": "the-same"}
LARGE = secrets.token_hex(100_000)
OLD, NEW = [f"old {n}" for n in range(55)], [f"new {n}" for n in range(60)]


def dying(service: Service, key: str, at: int, when: When) -> httpx.Client:
    """A client of an API function that is killed at its n-th write."""
    with faulty(at, when):
        handler = App(Container(service.settings(), service.clock))
    return open_client(HandlerTransport(handler, turns(parallel=service.engine.parallel)), key)


@pytest.fixture
def key(tenant: Tenant) -> str:
    made: str = tenant.principal("agent", "alice")["api_key"]
    return made


@pytest.mark.usefixtures("parallel")
def test_concurrent_appends_lose_and_double_nothing(service: Service, tenant: Tenant) -> None:
    alice = tenant.agent("alice")
    ok(put(alice, "s1", "first"), 201)
    with ThreadPoolExecutor(8) as pool:
        texts = [f"{writer}-{number}" for number in range(10) for writer in range(8)]
        answers = list(pool.map(partial(append, alice, "s1"), texts))
    places = {
        ok(each, 201)["messages"][0]["index"]: text
        for each, text in zip(answers, texts, strict=True)
    }
    assert said(alice, "s1") == ["first", *(places[index] for index in range(1, 81))]
    assert stored_messages(service) == 81


@pytest.mark.usefixtures("parallel")
def test_concurrent_appends_of_large_restricted_messages_are_readable(tenant: Tenant) -> None:
    alice = tenant.agent("alice")
    ok(put(alice, "s1", sensitivity="restricted"), 201)
    texts = [f"{number}{LARGE}" for number in range(4)]
    with ThreadPoolExecutor(4) as pool:
        for each in pool.map(partial(append, alice, "s1"), texts):
            ok(each, 201)
    assert sorted(said(alice, "s1")) == texts


def test_a_large_append_to_an_old_conversation_is_not_swept_meanwhile(
    service: Service, key: str
) -> None:
    ok(put(service.client(key), "s1", "first"), 201)
    service.clock.advance(seconds=3600)
    with faulty() as dynamodb:
        handler = App(Container(service.settings(), service.clock))
        dynamodb.interrupt("transact_write_items", lambda _: True, lambda: sweep(service))
    alice = open_client(HandlerTransport(handler, turns(parallel=service.engine.parallel)), key)
    before = dynamodb.writes
    ok(append(alice, "s1", LARGE), 201)
    assert said(alice, "s1") == ["first", LARGE]
    assert dynamodb.writes - before == 3  # the parts and their marker, and what shows them


@pytest.mark.usefixtures("parallel")
def test_concurrent_retries_append_once(tenant: Tenant) -> None:
    alice = tenant.agent("alice")
    ok(put(alice, "s1", "first"), 201)
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: append(alice, "s1", "once", **KEY), range(4)))
    assert {ok(each, 201)["messages"][0]["index"] for each in answers} == {1}
    assert said(alice, "s1") == ["first", "once"]


@pytest.mark.usefixtures("parallel", "volume")
def test_readers_see_whole_conversations_during_replacements(tenant: Tenant) -> None:
    alice = tenant.agent("alice")
    wholes = [[f"{version}"] * (85 + version) for version in range(10)]
    ok(put(alice, "s1", *wholes[0]), 201)
    with ThreadPoolExecutor(4) as pool:
        writing = pool.submit(lambda: [ok(put(alice, "s1", *whole)) for whole in wholes[1:]])
        while not writing.done():
            assert said(alice, "s1") in wholes
        writing.result()
    assert said(alice, "s1") == wholes[-1]


@pytest.mark.parametrize("when", ["before", "after"])
def test_an_append_killed_at_any_write_is_stored_once_by_its_retry(
    service: Service, tenant: Tenant, key: str, when: When
) -> None:
    alice = service.client(key)
    ok(put(alice, "s1", "first"), 201)
    with pytest.raises(Killed):
        append(dying(service, key, 1, when), "s1", "second", **KEY)
    ok(append(alice, "s1", "second", **KEY), 201)
    assert said(alice, "s1") == ["first", "second"]
    assert tenant.id


class Change(NamedTuple):
    """A change of a conversation that takes at least `least` writes."""

    before: list[str]
    after: list[str]
    send: Callable[[httpx.Client, str], httpx.Response]
    least: int
    late_seconds: int = 16 * 60  # until the schedule removes what was left


CHANGES = {
    "append": Change(["first"], ["first", LARGE], lambda c, session: append(c, session, LARGE), 3),
    "replacement": Change(OLD, NEW, lambda c, session: put(c, session, *NEW), 5),
    "removal": Change(
        OLD,
        OLD[:5] + OLD[50:],
        lambda c, session: c.delete(f"{CONVERSATIONS}/{session}/messages?from=5&to=50"),
        least=3,
        late_seconds=0,
    ),
}


@pytest.mark.usefixtures("volume")
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_killed_at_any_write_is_never_half_visible_and_leaves_nothing(
    service: Service, key: str, name: str, when: When
) -> None:
    alice, change = service.client(key), CHANGES[name]
    is_done = False
    for nth in count(1):
        session = f"s{nth}"
        ok(put(alice, session, *change.before), 201)
        with suppress(Killed):
            is_done = change.send(dying(service, key, nth, when), session).is_success
        shown = said(alice, session)
        assert shown in (change.before, change.after)
        service.clock.advance(seconds=change.late_seconds)
        sweep(service)
        assert said(alice, session) == shown
        assert stored_messages(service) == len(shown)
        assert len(items(service, "y#")) == shown.count(LARGE)
        assert_no_content(alice.delete(f"{CONVERSATIONS}/{session}"))
        assert residue(service) == []
        if is_done:
            break
    assert shown == change.after
    assert nth > change.least


@pytest.mark.usefixtures("volume")
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_deletion_killed_at_any_write_is_finished_by_the_schedule(
    service: Service, key: str, when: When
) -> None:
    alice = service.client(key)
    for nth in range(1, 40):
        ok(put(alice, "s1", *OLD), 201)
        try:
            assert_no_content(dying(service, key, nth, when).delete(f"{CONVERSATIONS}/s1"))
        except Killed:
            if alice.get(f"{CONVERSATIONS}/s1").status_code == 200:
                assert said(alice, "s1") == OLD
                assert_no_content(alice.delete(f"{CONVERSATIONS}/s1"))
            sweep(service)
            assert residue(service) == []
        else:
            break
    assert nth > 5


@pytest.mark.usefixtures("volume")
def test_messages_left_by_a_crash_are_never_visible(service: Service, key: str) -> None:
    alice = service.client(key)
    ok(put(alice, "s1", *OLD), 201)
    with pytest.raises(Killed):
        dying(service, key, 2, "before").delete(f"{CONVERSATIONS}/s1")
    ok(put(alice, "s1", "fresh"), 201)
    assert said(alice, "s1") == ["fresh"]
    sweep(service)
    assert said(alice, "s1") == ["fresh"]
    assert stored_messages(service) == 1
