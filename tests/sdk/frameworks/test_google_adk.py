"""The services of Google's ADK: what all session services owe, and what strains them."""

import asyncio
import itertools
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from agent_memory import Client

from tests.contract.local_server import PATIENCE
from tests.sdk.conftest import RunExample

pytest.importorskip("google.adk", reason="`make frameworks` runs these with Google's ADK")

from agent_memory.adapters import adk_sessions
from agent_memory.adapters.google_adk import (
    AgentMemoryArtifactService,
    AgentMemoryMemoryService,
    AgentMemorySessionService,
)
from google.adk.artifacts import InMemoryArtifactService
from google.adk.errors._stale_session_error import StaleSessionError
from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.errors.input_validation_error import InputValidationError
from google.adk.errors.session_not_found_error import SessionNotFoundError
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions import InMemorySessionService
from google.adk.sessions.base_session_service import GetSessionConfig
from google.genai import types

IMAGE = bytes(range(256)) * 20_000  # 5 MB
WHERE: dict[str, Any] = {"app_name": "app", "user_id": "ada"}
HERE: dict[str, Any] = WHERE | {"session_id": "s"}
_serial = itertools.count(1)


def wait(coroutine: Any) -> Any:
    """What a coroutine gives, on an event loop of its own."""
    return asyncio.run(coroutine)


def say(text: str = "", *, at: float | None = None, **delta: Any) -> Event:
    """An event that says something and changes the state; `user__tea` stands for `user:tea`."""
    content = types.Content(role="user", parts=[types.Part(text=text)]) if text else None
    changes = {name.replace("__", ":"): value for name, value in delta.items()}
    timestamp = {} if at is None else {"timestamp": at}
    return Event(
        author="user",
        invocation_id=f"i{next(_serial)}",
        content=content,
        actions=EventActions(state_delta=changes),
        **timestamp,
    )


@pytest.fixture(params=["ADK's", "ours"])
def sessions(request: pytest.FixtureRequest) -> Any:
    """A service without sessions."""
    if request.param == "ADK's":
        return InMemorySessionService()
    return AgentMemorySessionService(request.getfixturevalue("alice"))


@pytest.fixture
def ours(alice: Client) -> AgentMemorySessionService:
    """Our service without sessions."""
    return AgentMemorySessionService(alice)


def test_a_session_comes_back_as_it_was_left(sessions: Any) -> None:
    session = wait(sessions.create_session(**WHERE, session_id=" s\n", state={"k": 1}))
    event = Event(
        author="model",
        content=types.Content(
            role="model", parts=[types.Part.from_bytes(data=b"\xff\0", mime_type="image/png")]
        ),
        long_running_tool_ids={"tool"},
        grounding_metadata=types.GroundingMetadata(web_search_queries=["q"]),
        custom_metadata={"k": {"n": 1.5}},
        timestamp=1_900_000_000.123,
        actions=EventActions(artifact_delta={"f": 0}, escalate=True),
    )
    wait(sessions.append_event(session, event))
    assert session.id == "s"
    assert wait(sessions.get_session(**HERE)) == session
    assert wait(sessions.get_session(**WHERE, session_id="other")) is None
    assert wait(sessions.get_session(**HERE)).last_update_time == 1_900_000_000.123
    with pytest.raises(AlreadyExistsError):
        wait(sessions.create_session(**HERE))


def test_each_state_has_its_scope(sessions: Any) -> None:
    start = {"own": 1, "user:u": 1, "app:a": 1, "temp:t": 1}
    session = wait(sessions.create_session(**HERE, state=start))
    assert session.state == {"own": 1, "user:u": 1, "app:a": 1}
    event = say(own=2, user__u=2, app__b=2, temp__t=2)
    wait(sessions.append_event(session, event))
    assert session.state["temp:t"] == 2
    assert "temp:t" not in event.actions.state_delta
    found = wait(sessions.get_session(**HERE))
    assert found.state == {"own": 2, "user:u": 2, "app:a": 1, "app:b": 2}
    other = wait(sessions.create_session(**WHERE, session_id="t"))
    assert other.state == {"user:u": 2, "app:a": 1, "app:b": 2}
    bob = wait(sessions.create_session(app_name="app", user_id="bob", session_id="s"))
    assert bob.state == {"app:a": 1, "app:b": 2}
    elsewhere = wait(sessions.create_session(app_name="app2", user_id="ada"))
    assert elsewhere.state == {}
    assert wait(sessions.get_user_state(**WHERE)) == {"u": 2}
    assert wait(sessions.get_user_state(app_name="app", user_id="nobody")) == {}


def test_events_are_chosen_by_number_and_time(sessions: Any) -> None:
    session = wait(sessions.create_session(**HERE))
    for at in range(1, 6):
        wait(sessions.append_event(session, say(at=at)))
    for config, expected in (
        ({}, [1, 2, 3, 4, 5]),
        ({"num_recent_events": 0}, []),
        ({"num_recent_events": 2}, [4, 5]),
        ({"num_recent_events": 9}, [1, 2, 3, 4, 5]),
        ({"after_timestamp": 4.0}, [4, 5]),
        ({"after_timestamp": 50.0}, []),
        ({"after_timestamp": 4.0, "num_recent_events": 3}, [4, 5]),
    ):
        found = wait(sessions.get_session(**HERE, config=GetSessionConfig(**config)))
        assert [event.timestamp for event in found.events] == expected


def test_sessions_are_listed_by_their_last_update_with_state(sessions: Any) -> None:
    made = {}
    for user, id in (("ada", "1"), ("ada", "2"), ("bob", "3")):
        made[id] = wait(
            sessions.create_session(
                app_name="app", user_id=user, session_id=id, state={"k": id, "user:u": user}
            )
        )
    wait(sessions.append_event(made["1"], say(at=time.time() + 60, k="new")))  # noqa: TID251
    listed = wait(sessions.list_sessions(app_name="app")).sessions
    assert [(each.user_id, each.id) for each in listed] == [
        ("ada", "2"),
        ("bob", "3"),
        ("ada", "1"),
    ]
    assert [each.state for each in listed] == [
        {"k": "2", "user:u": "ada"},
        {"k": "3", "user:u": "bob"},
        {"k": "new", "user:u": "ada"},
    ]
    assert not any(each.events for each in listed)
    assert [each.id for each in wait(sessions.list_sessions(**WHERE)).sessions] == ["2", "1"]
    assert wait(sessions.list_sessions(app_name="ap")).sessions == []


def test_what_is_not_to_be_stored_is_not(sessions: Any) -> None:
    session = wait(sessions.create_session(**HERE))
    wait(sessions.append_event(session, Event(author="model", partial=True)))
    event = say("once", k=1)
    wait(sessions.append_event(session, event))
    wait(sessions.append_event(session, event.model_copy(deep=True)))
    assert len(session.events) == 1
    assert wait(sessions.get_session(**HERE)) == session


def test_a_deleted_session_takes_no_event(sessions: Any) -> None:
    session = wait(sessions.create_session(**HERE, state={"user:u": 1}))
    wait(sessions.append_event(session, say("hello")))
    wait(sessions.delete_session(**HERE))
    wait(sessions.delete_session(**HERE))
    with pytest.raises(SessionNotFoundError):
        wait(sessions.append_event(session, say()))
    again = wait(sessions.create_session(**HERE))
    assert (again.events, again.state) == ([], {"user:u": 1})


def test_an_event_may_be_large(ours: AgentMemorySessionService) -> None:
    session = wait(ours.create_session(**HERE))
    part = types.Part.from_bytes(data=IMAGE, mime_type="image/png")
    wait(ours.append_event(session, Event(author="u", content=types.Content(parts=[part]))))
    (event,) = wait(ours.get_session(**HERE)).events
    assert event.content.parts == [part]


def test_who_has_not_seen_the_last_event_is_told(ours: AgentMemorySessionService) -> None:
    wait(ours.create_session(**HERE))
    first, second = (wait(ours.get_session(**HERE)) for _ in range(2))
    event = say("mine")
    wait(ours.append_event(first, event))
    with pytest.raises(StaleSessionError, match="modified in storage"):
        wait(ours.append_event(second, say("lost")))
    wait(ours.append_event(second, event))
    byhand = wait(ours.get_session(**HERE))
    byhand._storage_update_marker = None  # noqa: SLF001 - as sessions that others have made
    wait(ours.append_event(byhand, say("more")))
    assert len(wait(ours.get_session(**HERE)).events) == 2


def test_of_two_that_append_at_once_one_wins(alice: Client) -> None:
    services = [AgentMemorySessionService(alice) for _ in range(4)]
    wait(services[0].create_session(**HERE))
    copies = [wait(service.get_session(**HERE)) for service in services]

    def append(number: int) -> bool:
        try:
            wait(services[number].append_event(copies[number], say("", **{f"k{number}": number})))
        except StaleSessionError:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        won = list(pool.map(append, range(4)))
    assert won.count(True) == 1
    found = wait(services[0].get_session(**HERE))
    assert (len(found.events), found.state) == (1, {f"k{won.index(True)}": won.index(True)})


def test_agents_append_side_by_side_to_one_live_session(ours: AgentMemorySessionService) -> None:
    session = wait(ours.create_session(**HERE))

    async def append_all() -> None:
        await asyncio.gather(*(ours.append_event(session, say(f"{n}")) for n in range(8)))

    wait(append_all())
    assert wait(ours.get_session(**HERE)) == session
    assert len(session.events) == 8


def test_sessions_of_a_user_lose_no_change_of_the_users_state(alice: Client) -> None:
    services = [AgentMemorySessionService(alice) for _ in range(6)]

    def run(number: int) -> None:
        service = services[number]
        session = wait(service.create_session(**WHERE, session_id=f"{number}"))
        wait(service.append_event(session, say("", **{f"user__k{number}": number})))

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(run, range(6)))
    assert wait(services[0].get_user_state(**WHERE)) == {f"k{n}": n for n in range(6)}


@pytest.mark.parametrize("reader", ["get", "append"])
def test_what_a_crash_left_undone_is_done_by_the_next(
    ours: AgentMemorySessionService, monkeypatch: pytest.MonkeyPatch, reader: str
) -> None:
    session = wait(ours.create_session(**HERE))
    before = wait(ours.get_session(**HERE))
    with monkeypatch.context() as crash:
        crash.setattr(AgentMemorySessionService, "_finish", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            wait(ours.append_event(session, say("hello", own=1, user__u=1)))
    if reader == "append":
        with pytest.raises(StaleSessionError):
            wait(ours.append_event(before, say("other")))
    found = wait(ours.get_session(**HERE))
    assert (len(found.events), found.state) == (1, {"own": 1, "user:u": 1})
    assert wait(ours.get_user_state(**WHERE)) == {"u": 1}


def test_a_late_change_does_not_undo_a_later_one() -> None:
    first = adk_sessions._Change("s", 0, {"u": 1})({})  # noqa: SLF001 - the rule by itself
    assert first is not None
    second = adk_sessions._Change("s", 1, {"u": 2})(first)  # noqa: SLF001
    assert second is not None
    assert adk_sessions._Change("s", 0, {"u": 1})(second) is None  # noqa: SLF001
    for number in range(200):
        second = adk_sessions._Change(f"{number}", 0, {"u": 3})(second or {})  # noqa: SLF001
    assert second is not None
    assert len(second["applied"]) == 100


def test_an_agent_of_adk_goes_on_in_its_next_run(alice: Client, run_example: RunExample) -> None:
    first = run_example(alice, "google_adk_services.py", "My name is Ada.")
    second = run_example(alice, "google_adk_services.py", "I like tea.")
    assert first == ["You said: My name is Ada."]
    assert second == ["You said: My name is Ada.; I like tea."]


@pytest.fixture(params=["ADK's", "ours"])
def artifacts(request: pytest.FixtureRequest) -> Any:
    """A service without artifacts."""
    if request.param == "ADK's":
        return InMemoryArtifactService()
    return AgentMemoryArtifactService(request.getfixturevalue("alice"))


def test_artifacts_have_versions_from_0_on(artifacts: Any) -> None:
    parts = [
        types.Part.from_bytes(data=b"\0\xff", mime_type="image/png"),
        types.Part(text="two"),
        types.Part.from_bytes(data=b"", mime_type="text/plain"),
    ]
    file = HERE | {"filename": "a/b ü.png"}
    for number, part in enumerate(parts):
        saved = artifacts.save_artifact(**file, artifact=part, custom_metadata={"n": number})
        assert wait(saved) == number
    assert wait(artifacts.list_versions(**file)) == [0, 1, 2]
    for number, part in enumerate(parts):
        assert wait(artifacts.load_artifact(**file, version=number)) == part
    assert wait(artifacts.load_artifact(**file)) == parts[-1]
    for missing in (3, -1):
        assert wait(artifacts.load_artifact(**file, version=missing)) is None
    described = wait(artifacts.list_artifact_versions(**file))
    assert [(each.version, each.mime_type) for each in described] == [
        (0, "image/png"),
        (1, "text/plain"),
        (2, "text/plain"),
    ]
    latest = wait(artifacts.get_artifact_version(**file))
    assert (latest.version, latest.custom_metadata) == (2, {"n": 2})
    assert wait(artifacts.get_artifact_version(**file, version=7)) is None
    assert wait(artifacts.list_artifact_keys(**HERE)) == ["a/b ü.png"]
    wait(artifacts.delete_artifact(**file))
    wait(artifacts.delete_artifact(**file))
    assert wait(artifacts.load_artifact(**file)) is None
    assert wait(artifacts.list_artifact_keys(**HERE)) == []
    assert wait(artifacts.save_artifact(**file, artifact=parts[0])) == 0


def test_names_of_a_user_are_seen_by_all_sessions(artifacts: Any) -> None:
    part = {"inlineData": {"mimeType": "text/plain", "data": "aGk="}}
    wait(artifacts.save_artifact(**HERE, filename="user:a", artifact=part))
    wait(artifacts.save_artifact(**HERE, filename="b", artifact=part))
    other = WHERE | {"session_id": "t"}
    assert wait(artifacts.list_artifact_keys(**HERE)) == ["b", "user:a"]
    assert wait(artifacts.list_artifact_keys(**other)) == ["user:a"]
    assert wait(artifacts.list_artifact_keys(**WHERE)) == ["user:a"]
    assert wait(artifacts.load_artifact(**other, filename="user:a")).inline_data.data == b"hi"
    assert wait(artifacts.load_artifact(**other, filename="b")) is None
    bob = {"app_name": "app", "user_id": "bob", "session_id": "s"}
    assert wait(artifacts.list_artifact_keys(**bob)) == []


def test_references_stay_in_their_scope(artifacts: Any) -> None:
    def refer(uri: str) -> types.Part:
        return types.Part(file_data=types.FileData(file_uri=uri, mime_type="text/plain"))

    here = "artifact://apps/app/users/ada/sessions/s/artifacts"
    wait(artifacts.save_artifact(**HERE, filename="a", artifact=types.Part(text="hi")))
    link = refer(f"{here}/a/versions/0")
    wait(artifacts.save_artifact(**HERE, filename="b", artifact=link))
    assert wait(artifacts.load_artifact(**HERE, filename="b")) == types.Part(text="hi")
    wait(artifacts.save_artifact(**HERE, filename="c", artifact=refer(f"{here}/c/versions/0")))
    with pytest.raises(InputValidationError):
        wait(artifacts.load_artifact(**HERE, filename="c"))
    outside = refer("artifact://apps/app/users/bob/artifacts/a/versions/0")
    for refused in (outside, types.Part()):
        with pytest.raises(InputValidationError):
            wait(artifacts.save_artifact(**HERE, filename="d", artifact=refused))
    removed = types.Part.from_bytes(data=b"", mime_type="application/octet-stream")
    wait(artifacts.save_artifact(**HERE, filename="a", artifact=removed))
    assert wait(artifacts.load_artifact(**HERE, filename="a")) is None


def test_an_artifact_of_20_mb_and_saves_at_once(alice: Client) -> None:
    service = AgentMemoryArtifactService(alice)
    part = types.Part.from_bytes(data=IMAGE * 4, mime_type="image/png")
    wait(service.save_artifact(**HERE, filename="big", artifact=part))
    assert wait(service.load_artifact(**HERE, filename="big")) == part

    def save(number: int) -> int:
        small = types.Part(text=str(number))
        return int(wait(service.save_artifact(**HERE, filename="small", artifact=small)))

    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(save, range(6))) == [*range(6)]


def find(service: AgentMemoryMemoryService, query: str, enough: Callable[[Any], bool]) -> Any:
    """What a search gives once it is enough."""
    deadline = time.monotonic() + PATIENCE
    while not enough(found := wait(service.search_memory(**WHERE, query=query)).memories):
        assert time.monotonic() < deadline
    return found


def test_what_was_said_is_found_and_replaced(
    alice: Client, ours: AgentMemorySessionService
) -> None:
    memory = AgentMemoryMemoryService(alice)
    session = wait(ours.create_session(**HERE))
    for text in ("Ada drinks green tea", "Ada plays chess"):
        wait(ours.append_event(session, say(text, at=1.5)))
    for _ in range(2):
        wait(memory.add_session_to_memory(session))
    first, *rest = find(memory, "what tea does she drink", lambda found: len(found) == 2)
    assert first.content.parts[0].text == "Ada drinks green tea"
    assert (first.id, first.author) == (session.events[0].id, "user")
    assert first.timestamp == "1970-01-01T00:00:01.500000+00:00"
    assert len(rest) == 1
    wait(memory.delete_memory(**WHERE, memory_id=session.events[0].id))
    session.events.pop()
    wait(memory.add_session_to_memory(session))
    assert find(memory, "tea or chess", lambda found: not found) == []
    assert wait(memory.search_memory(app_name="app", user_id="bob", query="tea")).memories == []


def test_memories_and_events_are_added_beside_a_session(alice: Client) -> None:
    memory = AgentMemoryMemoryService(alice, namespace="agents")
    long = " ".join(f"word{number}" for number in range(3000))
    events = [say("The code is 4711"), say(long), say()]
    wait(memory.add_events_to_memory(**WHERE, events=events, custom_metadata={"k": "v"}))
    entry = MemoryEntry(content=types.Content(parts=[types.Part(text="The cat is Tom")]), id="m")
    wait(memory.add_memory(**WHERE, memories=[entry]))
    found = find(memory, "4711", lambda found: len(found) == 6)
    assert (found[0].content.parts[0].text, found[0].custom_metadata) == (
        "The code is 4711",
        {"k": "v"},
    )
    assert find(memory, "which cat", bool)[0].id == "m"
    wait(memory.delete_memory(**WHERE, memory_id=events[1].id))
    find(memory, "word1", lambda found: len(found) == 2)
