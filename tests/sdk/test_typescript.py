"""The TypeScript client: its types, its calls against the local server, and its package."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from agent_memory import Client

from functions.vectors import wordllama
from tests.contract.local_server import LocalServer

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "sdk/typescript"
GUIDES = [ROOT / f"docs/how-to/{name}.md" for name in ("use-typescript", "remember-users")]
pytestmark = pytest.mark.skipif(
    not (PACKAGE / "dist/index.js").exists(), reason="it is not built; run make typescript"
)


def run(*command: str, folder: Path = PACKAGE, variables: dict[str, str] | None = None) -> str:
    """Run a command that must succeed; return what it writes."""
    ended = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | (variables or {}),
        capture_output=True,
        text=True,
        timeout=120,
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


def test_five_mistakes_are_five_errors_of_the_compiler() -> None:
    source = (PACKAGE / "test/types.ts").read_text()
    assert source.count("@ts-expect-error") == 5
    run("node", "node_modules/typescript/bin/tsc", "-p", "test/tsconfig.json")


@pytest.mark.skipif(not wordllama.is_installed(), reason="an example searches")
def test_the_guides_examples_run(variables: dict[str, str], admin: Client, tmp_path: Path) -> None:
    me = admin.principals.me().id
    admin.namespaces.set_permissions("users/*", default="none", allow={me: "write"})
    pages = [page.read_text("utf-8") for page in GUIDES]
    code, of_user = (page.partition("```js\n")[2].partition("```")[0] for page in pages)
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules/agent-memory").symlink_to(PACKAGE)
    (tmp_path / "example.mjs").write_text(f"{code}\n{{{of_user.partition(';')[2]}}}")
    said = run("node", "example.mjs", folder=tmp_path, variables=variables)
    assert admin.for_user("ada@example.com").get("tone") == {"formal": True}
    assert "{ completed: 24 }" in said
    assert "somebody else was faster: { completed: 24 }" in said


def test_the_published_package_has_what_it_exports_and_nothing_else() -> None:
    (packed,) = json.loads(run("npm", "pack", "--dry-run", "--json", "--ignore-scripts"))
    files = {each["path"] for each in packed["files"]}
    package = json.loads((PACKAGE / "package.json").read_text())
    exported = package["exports"]["."]
    assert {path.removeprefix("./") for path in exported.values()} <= files
    assert {Path(path).suffix for path in files} == {".js", ".ts", ".json", ".md"}
    assert {path.partition("/")[0] for path in files} == {"dist", "package.json", "README.md"}
    assert "dependencies" not in package
