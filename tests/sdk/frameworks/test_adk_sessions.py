"""ADK's sessions: what all session services owe, and what strains them."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from agent_memory import Client

from tests.sdk.conftest import RunExample

pytest.importorskip("google.adk", reason="`make frameworks` runs these with Google's ADK")

from agent_memory.adapters.google_adk import AgentMemorySessionService
from agent_memory.adapters.google_adk.session_log import SessionLog
from agent_memory.adapters.google_adk.shared_states import StateChange
from google.adk.errors._stale_session_error import StaleSessionError
from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.errors.session_not_found_error import SessionNotFoundError
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.sessions import InMemorySessionService
from google.adk.sessions.base_session_service import GetSessionConfig
from google.genai import types

from tests.sdk.frameworks.adk import HERE, IMAGE, WHERE, say, wait


@pytest.fixture(params=["ADK's", "ours"])
def sessions(request: pytest.FixtureRequest) -> Any:
    if request.param == "ADK's":
        return InMemorySessionService()
    return AgentMemorySessionService(request.getfixturevalue("alice"))


@pytest.fixture
def ours(alice: Client) -> AgentMemorySessionService:
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
        crash.setattr(SessionLog, "_finish", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            wait(ours.append_event(session, say("hello", own=1, user__u=1)))
    if reader == "append":
        with pytest.raises(StaleSessionError):
            wait(ours.append_event(before, say("other")))
    found = wait(ours.get_session(**HERE))
    assert (len(found.events), found.state) == (1, {"own": 1, "user:u": 1})
    assert wait(ours.get_user_state(**WHERE)) == {"u": 1}


def test_a_late_change_does_not_undo_a_later_one() -> None:
    first = StateChange("s", 0, {"u": 1})({})
    assert first is not None
    second = StateChange("s", 1, {"u": 2})(first)
    assert second is not None
    assert StateChange("s", 0, {"u": 1})(second) is None
    for number in range(200):
        second = StateChange(f"{number}", 0, {"u": 3})(second or {})
    assert second is not None
    assert len(second["applied"]) == 100


def test_an_agent_of_adk_goes_on_in_its_next_run(alice: Client, run_example: RunExample) -> None:
    first = run_example(alice, "google_adk_services.py", "My name is Ada.")
    second = run_example(alice, "google_adk_services.py", "I like tea.")
    assert first == ["You said: My name is Ada."]
    assert second == ["You said: My name is Ada.; I like tea."]
