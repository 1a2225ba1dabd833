"""The usual mistakes of newcomers: each error says what to do."""

from collections.abc import Callable
from typing import Any

import agent_memory
import pytest
from agent_memory import AsyncClient, Client
from agent_memory.cli.arguments import Parser
from agent_memory.cli.failures import UsageFailure
from agent_memory.cli.program import build_parser

_CLIENT: Any = Client("http://127.0.0.1:1", "am_key", max_retries=0)
_ASYNC: Any = AsyncClient("http://127.0.0.1:1", "am_key")
_MESSAGE = {"role": "user", "content": "Hello"}


@pytest.mark.parametrize(
    ("mistake", "remedy"),
    [
        (lambda: _CLIENT.add("x"), r"use remember\(text\)"),
        (lambda: _CLIENT.search("x"), r"use recall\(query\)"),
        (lambda: _CLIENT.get_all("x"), r"use client\.memory\.query\(\)"),
        (lambda: _CLIENT.delete_all("x"), r"for_user\(user_id\)\.forget\(\)"),
        (lambda: _CLIENT.memory.add("x"), r"use remember\(text\)"),
        (lambda: _CLIENT.memory.recall("x"), r"use client\.recall\(query\)"),
        (lambda: _CLIENT.for_user("ada").add("x"), r"use remember\(text\)"),
        (lambda: _ASYNC.add("x"), r"use remember\(text\)"),
    ],
)
def test_a_name_of_another_memory_is_answered_with_ours(
    mistake: Callable[[], object], remedy: str
) -> None:
    with pytest.raises(AttributeError, match=remedy):
        mistake()


def test_an_import_of_another_memorys_client_names_ours() -> None:
    with pytest.raises(ImportError, match="use Client or AsyncClient"):
        from agent_memory import MemoryClient  # noqa: F401, PLC0415


def test_an_unknown_name_has_no_hint() -> None:
    with pytest.raises(AttributeError, match=r"'Client' has no attribute 'frobnicate'$"):
        _CLIENT.frobnicate()
    assert not hasattr(_CLIENT, "add")


@pytest.mark.parametrize(
    ("mistake", "remedy"),
    [
        (lambda: _CLIENT.memory.put("ns", "k", "text"), r"wrap it, .*or use client\.remember"),
        (lambda: _CLIENT.remember([_MESSAGE]), r"for messages, use client\.say"),
        (lambda: _CLIENT.conversations.put("s", "ada", ["hi"]), "a list of dicts"),
        (lambda: _CLIENT.conversations.put("s", "ada", "hi"), r"client\.say.* takes a text"),
        (lambda: _CLIENT.conversations.append("s", _MESSAGE), "a list of dicts"),
        (
            lambda: _CLIENT.tasks.create(name="x"),
            r"name the intent .*tasks\.create\(\"invoices\"\)",
        ),
        (lambda: _CLIENT.for_user(7), r"use str\(user_id\)"),
        (lambda: _CLIENT.recall("x", limit=5), "'limit'; use 'top_k'"),
        (lambda: _CLIENT.recall("x", user="ada"), "'user'; use 'user_id'"),
        (lambda: _CLIENT.recall("x", souces=["facts"]), "'souces'; use 'sources'"),
    ],
)
def test_a_wrong_argument_is_answered_with_a_right_one(
    mistake: Callable[[], object], remedy: str
) -> None:
    with pytest.raises(TypeError, match=remedy):
        mistake()


@pytest.mark.parametrize(
    ("typed", "remedy"),
    [
        ("add", "no command add; did you mean remember?"),
        ("recal", "no command recal; did you mean recall?"),
        ("zzz", "no command zzz; see agent-memory --help"),
        ("remember", "unrecognized arguments: world; put a text of several words in quotes"),
    ],
)
def test_the_command_line_names_the_command_that_is_meant(typed: str, remedy: str) -> None:
    parser: Parser = build_parser()
    with pytest.raises(UsageFailure) as failure:
        parser.parse_args([typed, "hello", "world"])
    assert remedy in str(failure.value)


def test_groups_have_the_parts_and_leave_the_verbs_in_front() -> None:
    for group in (_CLIENT.admin, _CLIENT.protocols):
        for name in group.__slots__:
            assert getattr(group, name) is getattr(_CLIENT, name)
            assert name not in dir(_CLIENT)
    assert {"remember", "say", "recall", "forget", "for_user", "admin", "protocols"} <= {
        *dir(_CLIENT)
    }
    assert "Client" in dir(agent_memory)
    assert "Any" not in dir(agent_memory)
