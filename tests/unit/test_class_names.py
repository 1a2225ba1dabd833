"""Two public classes of one distribution have different names."""

import ast
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_GENERATED = "_sync"  # from the classes of `_async`, some under their names


def find_shared_names(folder: Path) -> dict[str, list[str]]:
    """Find the names that several public classes have, with the files of these."""
    files = defaultdict(list)
    for path in (each for each in folder.rglob("*.py") if _GENERATED not in each.parts):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                files[node.name].append(path.name)
    return {name: sorted(each) for name, each in files.items() if len(each) > 1}


@pytest.mark.parametrize("folder", ["functions", "infra", "operations", "sdk/agent_memory"])
def test_a_class_has_a_name_of_its_own(folder: str) -> None:
    assert (ROOT / folder).is_dir()
    assert find_shared_names(ROOT / folder) == {}


def test_a_shared_name_is_found(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.py").write_text("class Space: ...\nclass _Own: ...\n")
    assert find_shared_names(tmp_path) == {"Space": ["a.py", "b.py"]}
