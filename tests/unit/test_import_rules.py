"""Each import rule of pyproject.toml is broken by the import that it forbids.

The rules are also proven here for what import-linter doesn't see: DynamoDB's expressions.
"""

import ast
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_SERVICE = _ROOT / "functions"
_BROKEN = {
    "Only the platform and the local server use the AWS SDK": [
        ("procedures/rules.py", "from botocore.exceptions import ClientError"),
        ("container.py", "from botocore.session import get_session"),
    ],
    "Models and rules do no I/O": [
        ("tasks/rules.py", "from functions.platform.table import Table"),
        ("tasks/model.py", "from functions.tasks.store import TaskStore"),
    ],
    "Entry points reach the tables only through services": [
        ("api/paging.py", "from functions.platform.writes import put"),
        ("api/filters.py", "from functions.entries.store import EntryStore"),
        ("schedule/handler.py", "from functions.tasks.store import TaskStore"),
    ],
    "Entry points use the container": [
        ("entries/create.py", "from functions.api.http import Request"),
        ("platform/clock.py", "from functions.entries.model import Entry"),
        ("api/app.py", "from functions.local.engine import find_binary"),
    ],
    "Nothing deployed uses what is for development": [
        ("api/static_files.py", "from tools.openapi.document import PATH"),
    ],
}
_BUILDERS = {"put", "put_new", "put_version", "update", "delete", "check"}
_STORES = {"entries/archive.py", "events/items.py"}  # that have another name


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the functions and of the rules."""
    shutil.copytree(_SERVICE, tmp_path / "functions", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(_ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def _lint(tree: Path) -> str:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-logo", "--no-cache"]
    environment = {"PYTHONPATH": str(tree), "COLUMNS": "500"}
    done = subprocess.run(command, check=False, cwd=tree, env=environment, capture_output=True)
    return done.stdout.decode()


def test_each_forbidden_import_breaks_its_rule(tree: Path) -> None:
    wanted = []
    for rule, imports in _BROKEN.items():
        for path, line in imports:
            module = tree / "functions" / path
            module.write_text(f"{module.read_text('utf-8')}\n{line}\n", encoding="utf-8")
            name = f"functions.{path.removesuffix('.py').replace('/', '.')}"
            imported = line.split()[1]
            wanted.append((rule, name, imported if "functions" in line else imported.split(".")[0]))
    report = _lint(tree)
    summary, _, details = report.partition("Broken contracts")
    assert summary.count("BROKEN") == len(_BROKEN)
    missing = [each for each in wanted if f"{each[1]} -> {each[2]}" not in details]
    assert missing == []


def test_expressions_are_only_in_stores() -> None:
    holding = {
        str(path.relative_to(_SERVICE)) for path in _list_modules() if _has_expressions(path)
    }
    assert holding == _STORES


def test_an_expression_is_found(tmp_path: Path) -> None:
    module = tmp_path / "service.py"
    for source in (
        "from functions.platform.writes import Write, put",
        'CONDITION = "attribute_not_exists(pk)"',
        'CHANGE = f"SET {name} = :value"',
    ):
        module.write_text(source, encoding="utf-8")
        assert _has_expressions(module), source
    module.write_text('TEXT = "Set a: b"', encoding="utf-8")
    assert not _has_expressions(module)


def _list_modules() -> Iterator[Path]:
    for path in _SERVICE.rglob("*.py"):
        package, *rest = path.relative_to(_SERVICE).parts
        is_route = package == "api" and rest[0] == "routes"  # `DELETE /…`; it can't write anyway
        is_store = path.name.endswith("store.py")
        if package not in ("platform", "local") and not is_store and not is_route:
            yield path


def _has_expressions(path: Path) -> bool:
    """Tell whether a module builds writes, or writes an expression of DynamoDB."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "functions.platform.writes":
            if _BUILDERS & {each.name for each in node.names}:
                return True
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
            if "attribute_exists(" in text or "attribute_not_exists(" in text:
                return True
            if text.startswith(("SET ", "ADD ", "REMOVE ", "DELETE ")):
                return True
    return False
