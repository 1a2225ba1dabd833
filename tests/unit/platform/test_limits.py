"""The numeric limits of requests stand in one module."""

import ast
from collections.abc import Iterator
from pathlib import Path

_ROOT = Path(__file__).parents[3]
_BOUNDS = {"max_length", "le", "lt"}
_LAST_STATUS = 599
_SIZES = {16_384, 65_536, 131_072, 262_144, 5_000_000}


def _list_literals(path: Path) -> Iterator[int]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.keyword(arg=name, value=ast.Constant(value=int(bound))) if name in _BOUNDS:
                if bound > 1 and bound != _LAST_STATUS:
                    yield bound
            case ast.Constant(value=int(size)) if size in _SIZES:
                yield size


def test_no_other_module_holds_a_limit() -> None:
    service = _ROOT / "functions"
    files = set(service.rglob("*.py")) - set((service / "local").rglob("*.py"))
    files.remove(service / "platform/limits.py")
    found = {str(path): literals for path in files if (literals := list(_list_literals(path)))}
    assert found == {}


def test_a_limit_in_another_module_is_found(tmp_path: Path) -> None:
    module = tmp_path / "requests.py"
    module.write_text("Tags = Field(max_length=50)\nMAX_BYTES = 65_536\n", encoding="utf-8")
    assert set(_list_literals(module)) == {50, 65_536}
