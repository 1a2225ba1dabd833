"""The verbs remember, say, recall and forget, for the caller and for a user of its app."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any

import pytest
from agent_memory import Client
from agent_memory.exceptions import ConversationNotOwned, MemoryAccessError, ValidationError
from agent_memory.message_pieces import split_messages

from tests.contract.local_server import LocalServer


@pytest.fixture
def assistant(admin: Client, agent: Callable[[str], Client]) -> Client:
    client = agent("assistant")
    admin.namespaces.set_permissions("users/*", default="none", allow={"assistant": "write"})
    return client


@pytest.mark.usefixtures("assistant")
def test_an_agent_that_may_not_remember_users_is_told_who_allows_it(
    agent: Callable[[str], Client],
) -> None:
    with pytest.raises(MemoryAccessError, match=r"PATCH /api/v1/memory/namespaces/.* users/\*"):
        agent("other").for_user("ada").remember("Likes tea")


def test_a_session_of_others_is_refused_with_what_to_do(
    assistant: Client, agent: Callable[[str], Client]
) -> None:
    assistant.say("theirs", user="Hello")
    with pytest.raises(MemoryAccessError, match="use another session_id"):
        agent("stranger").say("theirs", user="Hi")


def test_what_was_said_is_recalled_and_forgotten(assistant: Client) -> None:
    ada = assistant.for_user("ada")
    ada.say("chat", user="Can I have a refund?", assistant="We promise a refund in March.")
    ada.say("chat", user="Thanks")
    answer = ada.recall("What did we promise?", top_k=1)
    assert answer.items[0].text == "We promise a refund in March."
    assert [each.text for each in answer.items[0].neighbours][-1] == "Thanks"
    assert "We promise a refund" in answer.text
    assert assistant.get_recalled(answer.items[0].reference).session_id == "chat"
    assert ada.forget(answer.items[0].reference).items == 1
    assert "refund in March" not in ada.recall("What did we promise?").text
    assistant.facts.learn("ada", "likes", "tulips", user_id="ada")
    assert ada.recall("what does ada like").items[0].object == "tulips"
    done = ada.forget()
    assert (done.conversations, done.facts) == (1, 1)
    assert ada.recall("refund").items == ()


def test_an_item_knows_in_which_answers_it_was_used(assistant: Client) -> None:
    ada = assistant.for_user("ada")
    ada.say("chat", user="I moved to Bristol")
    found = ada.recall("Where does she live?")
    ada.say("chat", user="Where do I live?", assistant="In Bristol", uses=found)
    assistant.say("notes", assistant="Ada lives in Bristol", uses=found.items[0])
    assistant.say("other", assistant="Bristol", uses=[found.items[0], found.items[0].reference])
    reference = found.items[0].reference
    answers = assistant.list_answers(reference)
    assert [each.session_id for each in answers] == ["other", "notes", "chat"]
    assert [each.text for each in assistant.list_answers(found.items[0], limit=1)] == ["Bristol"]
    question, answer = assistant.conversations.get_last("chat", 2)
    assert (question.uses, answer.uses) == ((), (reference,))
    assert list(assistant.list_answers("f.nothing")) == []
    with pytest.raises(ValueError, match="uses needs assistant"):
        ada.say("chat", user="Hello", uses=found)
    with pytest.raises(ValidationError, match="must be references"):
        ada.say("chat", assistant="Hello", uses="tea")


def test_many_messages_with_uses_are_appended_in_several_requests(assistant: Client) -> None:
    named = [f"f.{number}" for number in range(30)]
    said = [{"role": "assistant", "content": f"{n}", "uses": named} for n in range(10)]
    assert assistant.conversations.extend("chat", said).message_count == 10
    assert len(list(assistant.list_answers("f.7"))) == 10
    pieces = split_messages(said * 40)
    assert [len(each) for each in pieces] == [333, 67]  # 10,000 uses
    assistant.conversations.put("many", "ada", said * 4)
    assert len(list(assistant.list_answers("f.7", page_size=20))) == 50


def test_the_callers_own_conversation_is_recalled(assistant: Client) -> None:
    assistant.say("notes", user="The build broke on Tuesday")
    found = assistant.recall("When did the build break?", since=datetime(2020, 1, 1, tzinfo=UTC))
    assert [each.role for each in found.items] == ["user"]
    assert assistant.conversations.search("build", session_id="notes").items
    for before in (datetime(2020, 1, 1, tzinfo=UTC), date(2020, 1, 1), "2020-01-01"):
        assert assistant.recall("build", until=before).items == ()
    assert assistant.recall("build", since="2020-01-01", until="2100-01-01T00:00:00Z").items


def test_each_kind_of_item_is_forgotten_by_its_reference(assistant: Client) -> None:
    fact = assistant.facts.learn("Acme", "likes", "tulips")
    run = assistant.runs.start("sdr")
    assistant.runs.append(run.id, "Acme got tulips")
    answer = assistant.recall("tulips for Acme")
    assert {each.source for each in answer.items} == {"facts", "episodes"}
    assert all(assistant.forget(each.reference) for each in answer.items)
    assert assistant.facts.get(fact.fact_id) is None
    assert not assistant.forget(answer.items[0].reference)
    assert assistant.recall("tulips for Acme").items == ()


def test_nobody_is_drawn_into_the_conversation_of_another(
    assistant: Client, agent: Callable[[str], Client], admin: Client, server: LocalServer
) -> None:
    planter = agent("planter")
    planter.conversations.put("chat", "ada", agent_participants=["assistant"])
    with pytest.raises(ConversationNotOwned):
        assistant.for_user("ada").say("chat", user="Hello")
    assistant.for_user("ada").say("chat", user="Hello", join=True)
    assert planter.conversations.get("chat").messages[0].content == "Hello"
    with pytest.raises(ValueError, match="user, assistant"):
        assistant.say("chat")
    planter.conversations.put("closed", "ada")
    for continue_it in (assistant.say, assistant.for_user("ada").say):
        with pytest.raises(ConversationNotOwned, match="use another session_id"):
            continue_it("closed", user="Hello")
    with pytest.raises(MemoryAccessError):
        assistant.say("closed", user="Hello", join=True)
    reader = admin.principals.create("reader", permissions=["memory.read"])
    with (
        Client(server.address, reader.api_key) as client,
        pytest.raises(MemoryAccessError) as refused,
    ):
        client.say("chat", user="Hello")
    assert not isinstance(refused.value, ConversationNotOwned)


def test_a_session_of_one_user_does_not_get_the_words_of_another(assistant: Client) -> None:
    assistant.for_user("ada").say("chat", user="My order is late")
    with pytest.raises(
        ConversationNotOwned, match="belongs to another user; use another session_id"
    ):
        assistant.for_user("ben").say("chat", user="I am Ben")
    assert len(assistant.conversations.get("chat").messages) == 1
    assistant.for_user("ben").say("chat", user="We share this", join=True)
    assistant.say("chat", assistant="Hello")
    assert assistant.conversations.get("chat").user_id == "ada"


def test_an_assistant_continues_what_its_coordinator_has_begun(
    assistant: Client, admin: Client
) -> None:
    admin.conversations.put("chat", "ada", agent_participants=["assistant"])
    assistant.for_user("ada").say("chat", user="Hello")
    assert assistant.conversations.get("chat").messages[0].content == "Hello"


@pytest.mark.parametrize(
    "wrong", ["messages", "message", "metadata", "reference", "session", "list", "blank"]
)
def test_a_wrong_call_is_told_the_right_one(assistant: Client, wrong: str) -> None:
    several: Any = [{"role": "user", "content": "Hi"}]
    say: Any = assistant.say
    forget: Any = assistant.forget
    calls: dict[str, tuple[Callable[[], object], str]] = {
        "messages": (lambda: say("chat", several), r'write say\(session_id, user="'),
        "message": (lambda: say("chat", said="Hi"), r"write say\("),
        "metadata": (lambda: assistant.remember("x", metadata={"a": 1}), r"remember a dict"),
        "reference": (forget, r"for_user\(user_id\)\.forget\(\)"),
        "session": (lambda: say("", user="Hi"), "at least one character"),
        "list": (lambda: assistant.remember(several), r"client\.say\("),
        "blank": (lambda: assistant.remember("  "), "must not be blank"),
    }
    call, hint = calls[wrong]
    with pytest.raises((TypeError, ValueError, ValidationError), match=hint):
        call()
