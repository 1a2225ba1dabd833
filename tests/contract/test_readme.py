"""The documentation is right: its commands run and answer as it says, its tables are complete."""

import json
import os
import re
import runpy
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest
from agent_memory import Client, exceptions

from functions.events.model import LogEventType
from functions.local.engine import find_binary
from functions.local.settings import VARIABLES, LocalSettings
from functions.platform.settings import Settings
from infra.config import Config
from tests.contract.local_server import PATIENCE, ROOT, LocalServer, running
from tests.sdk.pages import CREWAI_PAGE, FRAMEWORKS_PAGES
from tools.docs import diagrams, tables
from tools.docs.check_site import find_external_loads
from tools.docs.widths import find_browser, find_wide_pages

_SITE = sorted((ROOT / "docs").rglob("*.md"))
_PAGES = [ROOT / "README.md", ROOT / "sdk/README.md", ROOT / "events/README.md"]
_PAGES += [ROOT / "CONTRIBUTING.md", *_SITE]
_TUTORIALS = sorted((ROOT / "docs/tutorials").glob("*.md"))
_ADDRESS = "http://127.0.0.1:8080"
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$(?:\n\n→ (\d+(?:, \d+)*))?", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s#]*)(?:#([^)\s]+))?\)")
_PATH = re.compile(r"`((?:functions|sdk|infra|operations|tests|events|benchmarks|docs)/[\w./-]+)`")
_ALARM_ENDINGS = ("Fail", "Slow", "Late", "Missing", "Lost", "Invoked", "Refused")
_SHELL = r"""
set -euo pipefail
curl() { command curl -w '%{stderr}STATUS %{http_code}\n' "$@"; }
"""


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def find_blocks(page: Path, language: str) -> list[tuple[str, str]]:
    """Find the blocks of a language, each with the statuses that the page says it answers."""
    found = _BLOCK.findall(page.read_text(encoding="utf-8"))
    return [(code, statuses) for of, code, statuses in found if of == language]


def find_examples(language: str) -> list[Path]:
    """Find the pages with examples of a language that run here: tests of a user's own run with the
    plugin's, and those of agent frameworks in the frameworks' environment.
    """
    return [
        page
        for page in _PAGES
        if page not in (CREWAI_PAGE, *FRAMEWORKS_PAGES, *_TUTORIALS)
        and any("def test_" not in code for code, _ in find_blocks(page, language))
    ]


def name_page(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def parse_table(page: str, heading: str) -> list[list[str]]:
    """Parse the cells of the first table under a heading, without its head."""
    _, _, section = read(page).partition(f"\n## {heading}\n")
    rows = re.findall(r"^\|(.+)\|$", section.partition("\n## ")[0], re.MULTILINE)
    return [[cell.strip() for cell in row.split("|")] for row in rows[2:]]


@cache
def list_anchors(page: Path) -> set[str]:
    """List the anchors of a page's headings, as the site makes them."""
    prose = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", prose, re.MULTILINE)
    plain = (re.sub(r"[^\w\s-]", "", heading).strip().lower() for heading in headings)
    return {re.sub(r"[-\s]+", "-", heading) for heading in plain}


def run_shell(script: str, folder: Path) -> str:
    """Run a script that must succeed, with the service's Python first on the PATH; its stderr."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ended = subprocess.run(
        ["bash", "-c", _SHELL + script],
        cwd=folder,
        env=os.environ | {"PATH": path, "XDG_CONFIG_HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reader's folder, with the data folder and the SDK."""
    folder = tmp_path_factory.mktemp("readme")
    (folder / "sdk").symlink_to(ROOT / "sdk")
    return folder


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[LocalServer]:
    """The service as `make run` starts it."""
    if find_binary(ROOT) is None:
        pytest.skip("no embedded database for this platform")
    with running(folder / ".agent-memory") as ready:
        yield ready


@pytest.fixture(scope="module")
def openapi(server: LocalServer) -> dict[str, Any]:
    with server.client() as client:
        document: dict[str, Any] = client.get("/openapi.json").json()
    return document


@pytest.mark.parametrize("page", find_examples("bash"), ids=name_page)
def test_shell_commands_are_answered_as_the_page_says(
    server: LocalServer, folder: Path, page: Path
) -> None:
    blocks = find_blocks(page, "bash")
    script = "".join(f"echo BLOCK >&2\n{code}" for code, _ in blocks)
    said = run_shell(script.replace(_ADDRESS, server.address), folder)
    answers = [re.findall(r"STATUS (\d+)", part) for part in said.split("BLOCK\n")[1:]]
    assert [", ".join(each) for each in answers] == [statuses for _, statuses in blocks]


def run_python(code: str, server: LocalServer) -> str:
    """Run a program of a user of the server; what it prints."""
    environment = {"AGENT_MEMORY_URL": server.address, "AGENT_MEMORY_API_KEY": server.api_key}
    ended = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.parametrize("page", find_examples("python"), ids=name_page)
def test_python_code_runs(
    server: LocalServer, folder: Path, page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "\n".join(each for each, _ in find_blocks(page, "python") if "def test_" not in each)
    code = code.replace(_ADDRESS, server.address).replace("am_...", server.api_key)
    script = folder / "example.py"
    script.write_text(code, encoding="utf-8")
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", [str(script)])
    monkeypatch.setenv("AGENT_MEMORY_URL", server.address)
    monkeypatch.setenv("AGENT_MEMORY_API_KEY", server.api_key)
    runpy.run_path(str(script), run_name="__main__")


@pytest.mark.parametrize("page", _TUTORIALS, ids=name_page)
def test_a_tutorial_prints_what_it_shows(server: LocalServer, page: Path) -> None:
    printed = run_python("\n".join(code for code, _ in find_blocks(page, "python")), server)
    assert [shown for shown, _ in find_blocks(page, "text") if shown not in printed] == []


def test_json_is_json() -> None:
    for page in _PAGES:
        for code, _ in find_blocks(page, "json"):
            assert json.loads(code)


def test_the_page_shows_the_example_that_it_runs() -> None:
    ((shown, _),) = find_blocks(ROOT / "docs/how-to/hand-over-a-task.md", "python")
    assert shown == read("sdk/examples/resumable_agent.py")


def test_the_support_agent_knows_what_was_said_in_another_session(server: LocalServer) -> None:
    environment = {"AGENT_MEMORY_URL": server.address, "AGENT_MEMORY_API_KEY": server.api_key}
    command = [sys.executable, "sdk/examples/support_agent.py", "ada"]
    for session, message in (("1", "You promised two monthly fees"), ("2", "What did we promise?")):
        ended = subprocess.run(
            [*command, session, message],
            cwd=ROOT,
            env=os.environ | environment,
            capture_output=True,
            text=True,
            check=True,
        )
    assert "[m.1.0]" in ended.stdout
    assert "user: You promised two monthly fees" in ended.stdout
    assert len(read("sdk/examples/support_agent.py").splitlines()) <= 21


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "docs/index.md"], ids=name_page)
def test_the_first_example_prints_what_the_page_shows(server: LocalServer, page: Path) -> None:
    (code, _), (shown, _) = find_blocks(page, "python")[0], find_blocks(page, "text")[0]
    own = code.replace('"ada"', f'"{page.parent.name}"').replace("ticket", page.parent.name)
    assert _hide_names(run_python(own, server)) == _hide_names(shown)


def _hide_names(text: str) -> str:
    """Hide references and times, which differ each time."""
    return re.sub(r"\[[^\]]+\]|\d{4}-\d\d-\d\d \d\d:\d\d", "", text)


def test_the_readme_shows_what_the_server_prints(server: LocalServer) -> None:
    shown = next(code for code, _ in find_blocks(ROOT / "README.md", "console"))
    command, *lines = shown.splitlines()
    assert command == "$ make run"
    printed = server.greeting.partition("\n\n")[0].splitlines()
    assert [line[:14] for line in lines] == [line[:14] for line in printed]


def test_the_readme_is_short_and_lists_make_targets() -> None:
    readme, makefile = read("README.md"), read("Makefile")
    assert len(readme.splitlines()) <= 120
    targets = set(re.findall(r"`make (\w+)`", readme))
    assert targets >= {"run", "test"}
    targets |= set(re.findall(r"`make (\w+)`", read("CONTRIBUTING.md")))
    assert [name for name in targets if not re.search(f"^{name}:", makefile, re.MULTILINE)] == []


@pytest.mark.parametrize("page", [*_PAGES, ROOT / "CHANGELOG.md"], ids=name_page)
def test_links_lead_somewhere(page: Path) -> None:
    prose = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target, anchor in _LINK.findall(prose):
        if "://" not in target:
            linked = page.parent / target if target else page
            assert linked.exists(), target
            assert not anchor or anchor in list_anchors(linked), f"{target}#{anchor}"


@pytest.mark.parametrize("page", _PAGES, ids=name_page)
def test_paths_are_there(page: Path) -> None:
    found = _PATH.findall(page.read_text(encoding="utf-8"))
    assert [path for path in found if not (ROOT / path).exists()] == []


def test_navigation_has_each_page_once() -> None:
    _, _, navigation = read("mkdocs.yml").partition("\nnav:\n")
    listed = re.findall(r"[\w/.-]+\.md", navigation)
    assert sorted(listed) == [page.relative_to(ROOT / "docs").as_posix() for page in _SITE]


def test_tables_and_diagrams_are_made_from_their_sources() -> None:
    for name, (path, render) in tables.TABLES.items():
        page = read(f"docs/{path}")
        assert tables.replace_table(page, name, render()) == page, "run python -m tools.docs"
    for name, draw in diagrams.DIAGRAMS.items():
        assert read(f"docs/assets/{name}") == draw().render(), "run python -m tools.docs"


def test_a_site_that_loads_a_file_from_elsewhere_is_refused(tmp_path: Path) -> None:
    own = '<link href="a.css"><script src="a.js"></script><a href="https://example.com">there</a>'
    (tmp_path / "own.html").write_text(own, encoding="utf-8")
    assert list(find_external_loads(tmp_path)) == []
    (tmp_path / "a.html").write_text('<img src="//example.com/a.png">', encoding="utf-8")
    (tmp_path / "b.html").write_text('<pre class="mermaid">a --> b</pre>', encoding="utf-8")
    (tmp_path / "c.css").write_text("a { src: url(https://example.com/a) }", encoding="utf-8")
    found = [each.partition(":")[0] for each in find_external_loads(tmp_path)]
    assert found == [str(tmp_path / name) for name in ("a.html", "b.html", "c.css")]


def test_a_page_that_is_wider_than_a_phone_is_refused(tmp_path: Path) -> None:
    if (browser := find_browser()) is None:
        pytest.skip("no Chromium is installed")
    (tmp_path / "narrow.html").write_text("<article><p>text</p></article>", encoding="utf-8")
    wide = '<meta name="viewport" content="width=device-width"><div style="width: 800px">x</div>'
    (tmp_path / "wide.html").write_text(wide, encoding="utf-8")
    (found,) = find_wide_pages(tmp_path, browser)
    assert found.startswith("wide.html at 390: the page needs 8")


def test_every_operation_is_listed(openapi: dict[str, Any]) -> None:
    served = {
        f"{method.upper()} {path}"
        for path, operations in openapi["paths"].items()
        for method in operations
        if method != "parameters"
    }
    rows = re.findall(
        r"^\| `(/[^`]*)` \| (.*) \|$", read("docs/reference/http-api.md"), re.MULTILINE
    )
    listed = [f"{each.strip('`')} {path}" for path, methods in rows for each in methods.split()]
    assert sorted(listed) == sorted(served)


def test_every_error_of_openwop_is_listed(openapi: dict[str, Any]) -> None:
    shared = openapi["components"]["responses"]
    responses = [
        shared[response["$ref"].rpartition("/")[2]] if "$ref" in response else response
        for path, operations in openapi["paths"].items()
        if path.startswith("/v1/")
        for method, operation in operations.items()
        if method != "parameters"
        for status, response in operation["responses"].items()
        if int(status) >= 400
    ]
    codes = {code for each in responses for code in re.findall(r"`([a-z_]+)`", each["description"])}
    rows = parse_table("docs/reference/openwop.md", "Errors")
    listed = {code for row in rows for code in re.findall(r"`([a-z_]+)`", row[1])}
    assert listed == codes | {"internal_error", "method_not_allowed"}  # of any call


def test_every_limit_is_listed(server: LocalServer) -> None:
    with server.client() as client:
        capabilities = client.get("/api/v1/capabilities").json()
    limits = {
        f"{family}.{group}.{name}": limit
        for family, members in capabilities.items()
        if isinstance(members, dict)
        for group in ("limits", "default_capacities")
        for name, limit in members.get(group, {}).items()
    }
    rows = re.findall(
        r"^\| `([\w.]+)` \| ([\d,]+) \|", read("docs/reference/limits.md"), re.MULTILINE
    )
    assert {name: int(limit.replace(",", "")) for name, limit in rows} == limits


def test_every_setting_is_listed_with_its_default() -> None:
    variables = re.compile(r"\b(?:AGENT_MEMORY|AWS)_[A-Z_]+\b")
    rows = parse_table("docs/reference/settings.md", "Local server")
    listed = {name for row in rows for name in variables.findall(row[0])}
    assert listed == set(VARIABLES.values())
    defaults = " ".join(row[1] for row in rows)
    for field in ("host", "port", "data", "sweep_seconds"):
        assert str(LocalSettings.model_fields[field].default) in defaults
    rows = parse_table("docs/reference/settings.md", "Functions")
    listed = {name for row in rows for name in re.findall(r"`([A-Z_]+)`", row[0])}
    assert listed == {each.name.upper() for each in fields(Settings)}


def test_every_option_of_a_deployment_is_listed() -> None:
    rows = parse_table("docs/reference/deployment.md", "Options")
    listed = [name for row in rows for name in re.findall(r"`(\w+)`", row[0])]
    assert sorted(listed) == sorted(Config.model_fields)


@pytest.mark.parametrize(
    ("module", "page"), [("agent_memory.cli", "cli.md"), ("operations", "deployment.md")]
)
def test_every_command_is_listed(module: str, page: str) -> None:
    command = [sys.executable, "-m", module, "--help"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    commands = re.findall(r"^    ([a-z][a-z-]*)  ", said, re.MULTILINE)
    listed = re.findall(r"`([a-z][a-z-]*)[ `]", read(f"docs/reference/{page}"))
    assert len(commands) > 5
    assert set(commands) <= set(listed)


def test_every_call_of_the_sdk_is_listed() -> None:
    rows = parse_table("docs/reference/sdk.md", "Parts")
    listed = {
        row[0].strip("`").removeprefix("client."): set(row[1].strip("`").split()) for row in rows
    }
    with Client(_ADDRESS, "am_unused") as client:
        public = {name for name in vars(client) if not name.startswith("_")}
        parts = public - {"settings", "pool"}
        calls = {
            name: {call for call in dir(getattr(client, name)) if not call.startswith("_")}
            for name in parts
        }
    assert listed == calls


def test_every_exception_of_the_sdk_is_listed() -> None:
    public = {name for name in vars(exceptions) if name.endswith("Error")}
    assert public <= set(re.findall(r"\b\w+Error\b", read("docs/reference/sdk.md")))


def test_every_alarm_is_listed() -> None:
    listed = set(re.findall(r"`([A-Z]\w+)`", read("docs/how-to/read-the-alarms.md")))
    defined = set(re.findall(r'"([A-Z][a-z]+[A-Z]\w+)"', read("infra/agent_memory_cdk/alarms.py")))
    assert {name for name in defined if name.endswith(_ALARM_ENDINGS)} <= listed


def test_every_event_is_listed() -> None:
    types = " ".join(row[0] for row in parse_table("docs/reference/events.md", "Types"))
    assert sorted(re.findall(r"`([a-z.]+)`", types)) == sorted(get_args(LogEventType))


def test_every_package_is_listed() -> None:
    named = {row[0].strip("`") for row in parse_table("docs/architecture.md", "Packages")}
    packages = {each.parent.name for each in (ROOT / "functions").glob("*/__init__.py")}
    assert {f"functions/{name}" for name in packages} <= named


def test_the_changelog_has_this_version() -> None:
    version = tomllib.loads(read("pyproject.toml"))["project"]["version"]
    assert f"\n## [{version}]" in read("CHANGELOG.md")


def test_each_decision_has_the_form_and_is_in_the_index() -> None:
    folder = ROOT / "docs/decisions"
    index = (folder / "index.md").read_text(encoding="utf-8")
    decisions = sorted(folder.glob("[0-9]*.md"))
    assert len({each.name[:4] for each in decisions}) == len(decisions)
    for decision in decisions:
        text = decision.read_text(encoding="utf-8")
        number, title = re.findall(r"\A# (\d+)\. (.+)$", text, re.MULTILINE)[0]
        assert int(number) == int(decision.name[:4])
        form = r"^- Status: (accepted|superseded|no longer holds)\b"
        (status,) = re.findall(form, text, re.MULTILINE)
        assert re.search(r"^- Date: 20\d\d-\d\d-\d\d\b", text, re.MULTILINE)
        assert f"| {number} | [{title}]({decision.name}) | {status} |" in index
        assert re.findall(r"^## (.+)$", text, re.MULTILINE) == [
            "Context",
            "Decision",
            "Alternatives",
            "Consequences",
        ]
