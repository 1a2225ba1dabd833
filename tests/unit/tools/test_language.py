"""The check of words, as `make lint` runs it."""

import json
from pathlib import Path

import pytest

from tools.language import __main__ as language


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(language, "ROOT", tmp_path)
    return tmp_path


def check(project: Path, name: str, text: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return the lines that the check prints about a file."""
    (project / name).write_text(text)
    failed = language.main([name])
    printed = capsys.readouterr().out.splitlines()
    assert failed == bool(printed)
    return printed


CODE = '''\
"""What a module is."""
# written
# anew
limit = 5
"""How many; nobody knows."""


def f(x):
    """Return x."""
    return f"at {x} no\\n more"
'''


def test_docstrings_comments_and_strings_are_checked(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sorted(check(project, "code.py", CODE, capsys)) == [
        "code.py:10: 'no more' is banned",
        "code.py:1: docstring begins with 'What'",
        "code.py:3: 'anew' is banned",
        "code.py:5: 'nobody' is banned",
        "code.py:5: docstring begins with 'How'",
    ]


def test_strings_of_a_test_are_its_data(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "tests").mkdir()
    text = 'def test_a():\n    """Read anew."""\n    assert find("nobody")  # told\n'
    assert check(project, "tests/test_a.py", text, capsys) == [
        "tests/test_a.py:2: 'anew' is banned",
        "tests/test_a.py:3: 'told' is banned",
    ]


def test_plain_words_pass(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = '"""Whatever renews the likelihood."""\nx = "What is this?"\nnobody = 1\n'
    assert check(project, "code.py", text, capsys) == []


def test_the_code_of_a_page_is_not_checked(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = "Run `nobody`.\n\n```bash\nnobody\n```\n\nIt is told\nby\nnow.\n"
    assert check(project, "page.md", page, capsys) == [
        "page.md:7: 'told' is banned",
        "page.md:8: 'by now' is banned",
    ]


def test_descriptions_of_the_api_are_checked(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = {"paths": [{"summary": "Read anew", "description": "Fine", "title": "whoever"}]}
    assert check(project, "api.json", json.dumps(document), capsys) == [
        "api.json:1: 'anew' is banned"
    ]


def test_comments_of_typescript_are_checked(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = '/** What it does. */\nconst nobody = "anew"; // read anew\n/**\n * Fine.\n */\n'
    assert check(project, "code.ts", text, capsys) == [
        "code.ts:1: docstring begins with 'What'",
        "code.ts:2: 'anew' is banned",
    ]
