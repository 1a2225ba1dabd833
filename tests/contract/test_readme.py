"""README and docs hold: their commands run and are answered as they say, tables are complete."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from functions.event_log.model import EventType
from functions.local.engine import find_binary
from functions.local.settings import LocalSettings
from functions.platform.errors import ERROR_CODES
from tests.contract.local_server import PATIENCE, ROOT, LocalServer, running

README = (ROOT / "README.md").read_text(encoding="utf-8")
_PAGES = (
    "README.md",
    "docs/openwop.md",
    "docs/conversations.md",
    "docs/runs.md",
    "docs/facts.md",
    "docs/procedures.md",
)
_ADDRESS = "http://127.0.0.1:8080"
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$(?:\n\n→ (\d+(?:, \d+)*))?", re.MULTILINE | re.DOTALL)
_SHELL = r"""
set -euo pipefail
curl() { command curl -w '%{stderr}STATUS %{http_code}\n' "$@"; }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the reader is: the data folder is in here."""
    return tmp_path_factory.mktemp("readme")


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[LocalServer]:
    """The service as `make run` starts it."""
    if find_binary(ROOT) is None:
        pytest.skip("no embedded database for this platform")
    with running(folder / ".agent-memory") as ready:
        yield ready


def blocks(language: str, page: str = "README.md") -> list[tuple[str, str]]:
    """The code of a language, each block with the statuses that the page says come of it."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [(code, said) for of, code, said in _BLOCK.findall(text) if of == language]


def followed(command: list[str], folder: Path) -> "subprocess.CompletedProcess[str]":
    """A command that must end well."""
    ended = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended


def table(heading: str) -> list[list[str]]:
    """The cells of the first table under a heading, without its head."""
    _, _, section = README.partition(f"\n## {heading}\n")
    rows = re.findall(r"^\|(.+)\|$", section.partition("\n## ")[0], re.MULTILINE)
    return [[cell.strip() for cell in row.split("|")] for row in rows[2:]]


@pytest.mark.parametrize("page", _PAGES)
def test_the_shell_commands_are_answered_as_it_says(
    server: LocalServer, folder: Path, page: str
) -> None:
    offered = blocks("bash", page)
    script = "".join(f"echo BLOCK >&2\n{code}" for code, _ in offered)
    script = _SHELL + script.replace(_ADDRESS, server.address)
    said = followed(["bash", "-c", script], folder).stderr
    answers = [re.findall(r"STATUS (\d+)", part) for part in said.split("BLOCK\n")[1:]]
    assert [", ".join(each) for each in answers] == [statuses for _, statuses in offered]


@pytest.mark.parametrize("page", _PAGES)
def test_the_python_code_runs(server: LocalServer, folder: Path, page: str) -> None:
    (offered,) = blocks("python", page)
    code = offered[0].replace(_ADDRESS, server.address)
    followed([sys.executable, "-c", code], folder)


def test_it_shows_what_the_server_prints(server: LocalServer) -> None:
    (shown,) = blocks("console")
    command, *lines = shown[0].splitlines()
    assert command == "$ make run"
    printed = server.greeting.partition("\n\n")[0].splitlines()
    assert [line[:14] for line in lines] == [line[:14] for line in printed]


def test_it_lists_every_setting_with_its_default() -> None:
    settings = (ROOT / "functions/local/settings.py").read_text(encoding="utf-8")
    variables = re.compile(r"\b(?:AGENT_MEMORY|AWS)_[A-Z_]+\b")
    rows = table("Settings")
    listed = {name for row in rows for name in variables.findall(row[0])}
    assert listed == set(variables.findall(settings))
    defaults = " ".join(row[1] for row in rows)
    for field in ("host", "port", "data", "sweep_seconds"):
        assert str(LocalSettings.model_fields[field].default) in defaults


def test_it_lists_every_error_with_its_status() -> None:
    listed = [
        (code, status)
        for statuses, codes in table("Errors")
        for code in re.findall(r"`([A-Z_]+)`", codes)
        for status in map(int, statuses.split(", "))
        if ERROR_CODES[code].status == status
    ]
    assert dict(listed) == {code: kind.status for code, kind in ERROR_CODES.items()}


def test_it_lists_every_event() -> None:
    types = " ".join(row[0] for row in table("Events and logs"))
    assert sorted(re.findall(r"`([a-z.]+)`", types)) == sorted(get_args(EventType))


def test_it_names_every_room_and_nothing_that_is_not_there() -> None:
    named = {row[0].strip("`") for row in table("The house")}
    assert [folder for folder in named if not (ROOT / folder).is_dir()] == []
    rooms = {f"functions/{each.parent.name}" for each in (ROOT / "functions").glob("*/__init__.py")}
    assert rooms <= named


def test_every_make_target_is_there() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"`make (\w+)`", README))
    assert targets >= {"run", "test", "check", "bench"}
    assert [name for name in targets if not re.search(f"^{name}:", makefile, re.MULTILINE)] == []


def test_the_changelog_tells_of_this_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\n## [{version['version']}]" in changelog


def test_each_decision_has_the_form_and_is_in_the_index() -> None:
    folder = ROOT / "docs/decisions"
    index = (folder / "index.md").read_text(encoding="utf-8")
    decisions = sorted(folder.glob("[0-9]*.md"))
    assert len({each.name[:4] for each in decisions}) == len(decisions)
    for decision in decisions:
        text = decision.read_text(encoding="utf-8")
        number, title = re.findall(r"\A# (\d+)\. (.+)$", text, re.MULTILINE)[0]
        assert int(number) == int(decision.name[:4])
        (status,) = re.findall(
            r"^- Status: (accepted|superseded|no longer holds)\b", text, re.MULTILINE
        )
        assert re.search(r"^- Date: 20\d\d-\d\d-\d\d\b", text, re.MULTILINE)
        assert f"| {number} | [{title}]({decision.name}) | {status} |" in index
        assert re.findall(r"^## (.+)$", text, re.MULTILINE) == [
            "Context",
            "Decision",
            "Alternatives",
            "Consequences",
        ]
