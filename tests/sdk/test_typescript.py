"""The TypeScript client: its types, its calls against the local server, and its package."""

import json
import os
import subprocess
from datetime import UTC, datetime
from inspect import getmembers
from pathlib import Path

import pytest
from agent_memory import Client
from agent_memory._sync.resource import Resource
from agent_memory.openwop import MemoryAdapter, MemoryRun

from functions.vectors import wordllama
from tests.contract.local_server import LocalServer

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "sdk/typescript"
GUIDE = ROOT / "docs/how-to/use-typescript.md"
pytestmark = pytest.mark.skipif(
    not (PACKAGE / "dist/index.js").exists(), reason="it is not built; run make typescript"
)


def run(
    *command: str,
    folder: Path = PACKAGE,
    variables: dict[str, str] | None = None,
    seconds: int = 120,
) -> str:
    """Run a command that must succeed; return what it writes."""
    ended = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | (variables or {}),
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


@pytest.fixture
def variables(server: LocalServer, admin: Client) -> dict[str, str]:
    """The environment of a program that uses a new tenant."""
    chosen = {"AGENT_MEMORY_URL": server.address, "AGENT_MEMORY_API_KEY": admin.settings.api_key}
    return chosen if wordllama.is_installed() else chosen | {"WITHOUT_SEARCH": "1"}


def test_its_own_tests_pass_against_the_local_server(variables: dict[str, str]) -> None:
    assert "# fail 0" in run("node", "--test", "--test-reporter=tap", "test/", variables=variables)


@pytest.mark.skipif(not (PACKAGE / "node_modules/vitest").exists(), reason="run make typescript")
def test_langgraphs_own_validation_of_checkpointers_passes(variables: dict[str, str]) -> None:
    command = (
        "node",
        "node_modules/vitest/vitest.mjs",
        "run",
        "--globals",
        "checks/langgraph.spec.mjs",
    )
    assert "failed" not in run(*command, variables=variables | {"NO_COLOR": "1"}, seconds=500)


def list_python_methods() -> dict[str, set[str]]:
    """The public methods of each part of the Python client, by its name."""
    client = Client("http://127.0.0.1:1", "am_key")
    adapter = MemoryAdapter(client)
    parts: dict[str, object] = {
        "client": client,
        "forUser": client.for_user("ada"),
        "openwop": MemoryRun(client, "run", "ref", datetime(2026, 1, 1, tzinfo=UTC)),
        **{
            to_camel(name): part
            for name, part in vars(client).items()
            if isinstance(part, Resource)
        },
    }
    assert not {name for name in dir(adapter) if name[0] != "_"} - set(dir(parts["openwop"]))
    return {
        name: {to_camel(each) for each, _ in getmembers(type(part), callable) if each[0] != "_"}
        for name, part in parts.items()
    }


def to_camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


def test_it_has_every_part_and_every_method_of_the_python_client() -> None:
    listed = json.loads(run("node", "checks/parts.mjs"))
    missing = {
        f"{part}.{method}"
        for part, methods in list_python_methods().items()
        for method in methods - set(listed.get(part, ()))
    }
    assert missing == {"client.close"}  # `fetch` has no connections to close


def test_five_mistakes_are_five_errors_of_the_compiler() -> None:
    source = (PACKAGE / "test/types.ts").read_text()
    assert source.count("@ts-expect-error") == 5
    run("node", "node_modules/typescript/bin/tsc", "-p", "test/tsconfig.json")


@pytest.mark.skipif(not wordllama.is_installed(), reason="an example searches")
def test_the_guides_example_runs(variables: dict[str, str], admin: Client, tmp_path: Path) -> None:
    me = admin.principals.me().id
    admin.namespaces.set_permissions("users/*", default="none", allow={me: "write"})
    code = GUIDE.read_text("utf-8").partition("```js\n")[2].partition("```")[0]
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules/agent-memory").symlink_to(PACKAGE)
    (tmp_path / "example.mjs").write_text(code)
    said = run("node", "example.mjs", folder=tmp_path, variables=variables)
    assert "Ada pays by card" in said
    assert "{ completed: 24 }" in said
    assert "somebody else was faster: { completed: 24 }" in said


def test_the_published_package_has_what_it_exports_and_nothing_else() -> None:
    (packed,) = json.loads(run("npm", "pack", "--dry-run", "--json", "--ignore-scripts"))
    files = {each["path"] for each in packed["files"]}
    package = json.loads((PACKAGE / "package.json").read_text())
    exported = {path for each in package["exports"].values() for path in each.values()}
    assert {path.removeprefix("./") for path in exported} <= files
    assert {Path(path).suffix for path in files} == {".js", ".ts", ".json", ".md"}
    assert {path.partition("/")[0] for path in files} == {"dist", "package.json", "README.md"}
    assert "dependencies" not in package
