"""The code that the console copies of a view runs: Python, curl, command line and MCP call."""

import json
import re
import shlex
import shutil
import subprocess
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import agent_memory
import httpx
import pytest
from agent_memory.cli.program import build_parser
from agent_memory.exceptions import AgentMemoryError
from agent_memory.mcp.tools import TOOLS
from agent_memory.mcp.verbs import VERBS

from functions.api.route_index import build_router
from functions.platform.errors import ServiceError

CONSOLE = Path(__file__).parents[2] / "console"
_SCRIPT = """
import { readFileSync } from "node:fs";
import ts from "typescript";
const compile = (name) => ts.transpileModule(readFileSync(`src/ui/${name}.ts`, "utf8"),
  { compilerOptions: { module: "esnext", target: "esnext" } }).outputText;
const address = (code) => `data:text/javascript,${encodeURIComponent(code)}`;
globalThis.window = { location: { origin: "http://127.0.0.1:1" } };
const code = compile("code").replace("./time", address(compile("time")));
const { toViewCode, toRecallCode } = await import(address(code));
const found = JSON.parse(process.argv.at(-1)).map(([screen, id, query]) =>
  [`${screen}/${id}?${query}`, toViewCode(screen, id, new URLSearchParams(query)) ?? null]);
const asked = { query: "it's", user_id: "ada", agent_id: "reader" };
const past = { ...asked, as_of: "2026-01-01T00:00:00Z" };
found.push(["recall", toRecallCode(asked)], ["past", toRecallCode(past)]);
console.log(JSON.stringify(found));
"""
_QUERIES = {
    "agent": ["", "show=eviction", "show=tasks", "show=log&type=memory.created"],
    "access": ["", "principal=ada&kind=task&id=t", "kind=entry&id=mem_1"],
    "audit": ["", "actor=ada&action=agent.configure"],
    "conversations": ["", "user_id=ada"],
    "facts": ["", "subject=Ada&predicate=pays&agent_type=sdr&user_id=ada"],
    "memory": ["", "memory_type=episodic&agent_id=reader&namespace=n*&tags=a,b&pinned=true"],
    "procedures": ["", "agent_type=sdr", "agent_type=sdr&task_type=write"],
    "runs": ["", "agent_type=sdr&status=completed"],
    "task": ["", "show=entries"],
    "tasks": ["", "intent_id=month", "agent_id=reader"],
    "timeline": [f"log={kind}&name=a/b" for kind in ("agent", "intent", "namespace")],
}


@pytest.fixture(scope="module")
def codes() -> dict[str, dict[str, str]]:
    """The code of each view that has one."""
    if shutil.which("node") is None or not (CONSOLE / "node_modules/typescript").exists():
        pytest.skip("the packages of the console are not installed; run make console")
    screens = re.findall(
        r'^  "?([\w-]+)"?: \{ title', (CONSOLE / "src/App.tsx").read_text("utf-8"), re.MULTILINE
    )
    views = [[s, "ada's", query] for s in screens for query in _QUERIES.get(s, [""])]
    command = ["node", "--input-type=module", "-e", _SCRIPT, "--", json.dumps(views)]
    ended = subprocess.run(command, cwd=CONSOLE, capture_output=True, text=True, check=True)
    return {name: code for name, code in json.loads(ended.stdout) if code is not None}


def check_request(method: str, url: str) -> None:
    """Check that the API has the path of a request, and its parameters."""
    address = urlsplit(url)
    try:
        route, _ = build_router().find(method, unquote(address.path))
    except ServiceError as error:
        pytest.fail(f"{method} {url}: {error}")
    known = {each.name for each in route.query}
    assert {name for name, _ in parse_qsl(address.query)} <= known, url


def test_each_view_has_code(codes: dict[str, dict[str, str]]) -> None:
    assert len(codes) >= 40


def test_curl_calls_what_the_api_has(codes: dict[str, dict[str, str]]) -> None:
    for code in codes.values():
        words = shlex.split(code["curl"].replace("\\\n", " "))
        assert words[:3] == ["curl", "-sS", "-X"]
        check_request(words[3], words[4])


def test_python_calls_what_the_client_has(
    codes: dict[str, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []

    def refuse(request: httpx.Request) -> httpx.Response:
        sent.append(str(request.url))
        check_request(request.method, f"http://s{request.url.raw_path.decode()}")
        return httpx.Response(404, json={"code": "NOT_FOUND", "message": "gone"})

    transport: Any = httpx.MockTransport(refuse)
    client = partial(agent_memory.Client, "http://s", "key", transport=transport, max_retries=0)
    monkeypatch.setattr(agent_memory, "Client", client)
    for name, code in codes.items():
        sent.clear()
        with suppress(AgentMemoryError):
            exec(compile(code["python"], name, "exec"), {})  # noqa: S102
        assert sent, name


def test_commands_are_parsed(codes: dict[str, dict[str, str]]) -> None:
    commands = [code["cli"] for code in codes.values() if "cli" in code]
    assert len(commands) >= 30
    for each in commands:
        program, *arguments = shlex.split(each)
        assert program == "agent-memory"
        build_parser().parse_args(arguments)


def test_tools_exist_and_take_their_arguments(codes: dict[str, dict[str, str]]) -> None:
    calls = [json.loads(code["mcp"])["params"] for code in codes.values() if "mcp" in code]
    assert calls
    for each in calls:
        (VERBS | TOOLS)[each["name"]].arguments.model_validate(each["arguments"])
