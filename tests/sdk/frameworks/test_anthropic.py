"""Claude's memory tool answers as the SDK's own on local files, and loses no edit."""

import asyncio
import random
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from agent_memory import Client

from tests.sdk.conftest import RunExample

pytest.importorskip("anthropic", reason="`make frameworks` runs these with Anthropic's SDK")

from agent_memory.adapters.anthropic import AgentMemoryTool, AsyncAgentMemoryTool
from anthropic.lib.tools import ToolError
from anthropic.tools import BetaLocalFilesystemMemoryTool

PATHS = ["", "/", "/a", "/b.md", "/.c", "/d", "/d/e", "/d/e/f", "/d/e/f/g.md", "/d/.h", "/d-e"]
ODD = ["/d/../b.md", "/../x", "/d/e/../../..", "/./a", "//a", "x", "/d/", "/é ü/日.md"]
TEXTS = [
    "",
    "one",
    "one\ntwo\n",
    "one\r\ntwo\r\none\r\n",
    "\n",
    "x" * 1500,
    "é\u2028b\x0cc\n",
    "one\n" * 9,
]
DIRECTORY = re.compile(r"^[^\t\n]+\t(?=/[^\t]*/$)", re.MULTILINE)


def answer(tool: Any, command: dict[str, Any]) -> str:
    """Return the answer to Claude, without the file system's sizes of directories."""
    try:
        said = str(tool.call(command))
    except ToolError as refused:
        return f"error: {refused}"
    except (NotADirectoryError, OSError) as failed:
        return f"failed: {type(failed).__name__}"
    head, line, rest = said.partition("excluding hidden items:\n")
    return head + line + DIRECTORY.sub("\t", rest.partition("\t")[2] if line else rest)


def choose(chance: random.Random) -> dict[str, Any]:
    """A command that Claude might send."""
    path, text = f"/memories{chance.choice(PATHS)}", chance.choice(TEXTS)
    if chance.random() < 0.15:
        path = f"/memories{chance.choice(ODD)}"
    old = chance.choice(["one", "two", "", "n", "x\n"])
    return chance.choice(
        [
            {"command": "create", "path": path, "file_text": text},
            {"command": "create", "path": path, "file_text": text},
            {"command": "view", "path": path},
            {
                "command": "view",
                "path": path,
                "view_range": chance.choice([[1, 2], [2, -1], [-1, 9]]),
            },
            {"command": "str_replace", "path": path, "old_str": old, "new_str": text},
            {
                "command": "insert",
                "path": path,
                "insert_line": chance.randint(-1, 4),
                "insert_text": text,
            },
            {"command": "delete", "path": path},
            {"command": "rename", "old_path": path, "new_path": f"/memories{chance.choice(PATHS)}"},
        ]
    )


@pytest.mark.parametrize("seed", range(2))
def test_each_answer_is_that_of_the_tool_on_local_files(
    alice: Client, tmp_path: Path, seed: int
) -> None:
    local, ours = BetaLocalFilesystemMemoryTool(str(tmp_path)), AgentMemoryTool(alice)
    chance = random.Random(seed)  # noqa: S311 - nothing secret
    for _ in range(100):
        command = choose(chance)
        expected, given = answer(local, command), answer(ours, command)
        if expected.startswith("failed: "):
            assert given.startswith("error: "), command
        else:
            assert given == expected, command
    shown = {"command": "view", "path": "/memories"}
    assert answer(ours, shown) == answer(local, shown)


def test_sizes_are_shown_as_the_local_tool_shows_them(alice: Client) -> None:
    tool = AgentMemoryTool(alice)
    tool.call({"command": "create", "path": "/memories/d/a.md", "file_text": "x" * 1536})
    tool.call({"command": "create", "path": "/memories/b.md", "file_text": ""})
    assert str(tool.call({"command": "view", "path": "/memories"})).splitlines()[1:] == [
        "4K\t/memories",
        "0B\t/memories/b.md",
        "4K\t/memories/d/",
        "1.5K\t/memories/d/a.md",
    ]


def test_edits_at_the_same_time_are_all_kept(alice: Client) -> None:
    tool = AgentMemoryTool(alice)
    lines = "".join(f"<{number}>\n" for number in range(8))
    tool.call({"command": "create", "path": "/memories/a", "file_text": lines})

    def edit(number: int) -> None:
        tool.call(
            {
                "command": "str_replace",
                "path": "/memories/a",
                "old_str": f"<{number}>",
                "new_str": f"[{number}]",
            }
        )

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(edit, range(8)))
    shown = str(tool.call({"command": "view", "path": "/memories/a"}))
    assert all(f"[{number}]" in shown for number in range(8))


def test_a_file_is_created_once(alice: Client) -> None:
    tool = AgentMemoryTool(alice)
    command = {"command": "create", "path": "/memories/a", "file_text": "x"}
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: answer(tool, command), range(8)))
    assert sorted(set(answers)) == [
        "File created successfully at: /memories/a",
        "error: File /memories/a already exists",
    ]


def test_roots_and_principals_see_their_own_files(agent: Callable[[str], Client]) -> None:
    alice, bob = agent("alice"), agent("bob")
    for tool in (AgentMemoryTool(alice, "users/ada"), AgentMemoryTool(alice, "users/ada2")):
        tool.call({"command": "create", "path": "/memories/a", "file_text": "x"})
    AgentMemoryTool(alice, "users/ada").clear_all_memory()
    for tool in (
        AgentMemoryTool(alice, "users/ada"),
        AgentMemoryTool(alice, "users"),
        AgentMemoryTool(bob, "users/ada2"),
    ):
        assert "/memories/a" not in str(tool.call({"command": "view", "path": "/memories"}))
    kept = AgentMemoryTool(alice, "users/ada2")
    assert "\tx" in str(kept.call({"command": "view", "path": "/memories/a"}))


def test_what_the_service_refuses_is_told_to_claude(alice: Client) -> None:
    path = f"/memories/{'x' * 1000}"
    with pytest.raises(ToolError):
        AgentMemoryTool(alice).call({"command": "create", "path": path, "file_text": ""})
    with pytest.raises(TypeError, match="Client"):
        AgentMemoryTool("am_key")  # type: ignore[arg-type]


def test_the_async_tool_answers_the_same_from_any_loop(alice: Client) -> None:
    tool = AsyncAgentMemoryTool(alice, sensitivity="restricted")
    for command, expected in (
        ({"command": "create", "path": "/memories/a", "file_text": "one\n"}, "File created"),
        ({"command": "insert", "path": "/memories/a", "insert_line": 1, "insert_text": "two"}, ""),
        ({"command": "str_replace", "path": "/memories/a", "old_str": "one", "new_str": "1"}, ""),
        ({"command": "rename", "old_path": "/memories/a", "new_path": "/memories/b"}, ""),
        ({"command": "view", "path": "/memories/b"}, "Here's the content"),
        ({"command": "delete", "path": "/memories/b"}, "Successfully deleted"),
    ):
        assert str(asyncio.run(tool.call(command))).startswith(expected)
    assert asyncio.run(tool.clear_all_memory()) == "All memory cleared"
    assert tool.to_dict() == {"type": "memory_20250818", "name": "memory"}


def test_claude_finds_what_it_noted_in_an_earlier_run(
    alice: Client, run_example: RunExample
) -> None:
    first = run_example(alice, "claude_memory.py", "tea")
    second = run_example(alice, "claude_memory.py", "chess")
    assert first[-1] == "     1\ttea"
    assert second[-2:] == ["     1\ttea", "     2\tchess"]
