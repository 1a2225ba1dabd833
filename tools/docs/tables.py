"""Write the tables of the reference that follow from the code.

Each table is between `<!-- begin NAME -->` and `<!-- end NAME -->` of a page. A test compares the
checked-in pages with what this module renders.
"""

import json
import re
from collections.abc import Callable, Iterable
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from functions.platform.error_codes import ERROR_CODES
from functions.platform.item_types import ITEM_TYPES, ItemType

ROOT = Path(__file__).parents[2]


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(each)} |" for each in lines)


def render_errors() -> str:
    """Render the catalog of error codes."""
    return _table(
        ("status", "code", "meaning", "what to do"),
        (
            (str(error.status), f"`{code}`", error.description, error.remedy)
            for code, error in sorted(ERROR_CODES.items(), key=lambda each: each[1].status)
        ),
    )


def render_item_types() -> str:
    """Render the registry of item types: a table for each package, in the order of the registry."""
    head = ("item", "key", "purpose", "lifetime", "indexes")
    return "\n\n".join(
        f"## {package}\n\n{_table(head, map(_render_item_type, types))}"
        for package, types in groupby(ITEM_TYPES, key=attrgetter("package"))
    )


def _render_item_type(type: ItemType) -> tuple[str, ...]:
    partition = type.partition if " " in type.partition else f"`{type.partition}`"
    table = "" if type.table == "memory" else " (log table)"
    indexes = ", ".join(f"`{index}`" for index in type.indexes)
    key = f"{partition}<br>`{type.sort}`"
    return f"{type.name}{table}", key, type.purpose, type.lifetime, indexes


def render_operations() -> str:
    """Render all operations of the API, grouped as its document groups them."""
    document = json.loads((ROOT / "functions/api/openapi.json").read_text(encoding="utf-8"))
    groups: dict[str, list[list[str]]] = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if method != "parameters":
                row = [f"`{method.upper()} {path}`", operation["summary"]]
                groups.setdefault(operation["tags"][0], []).append(row)
    return "\n\n".join(
        f"### {name}\n\n{_table(('operation', 'does'), rows)}" for name, rows in groups.items()
    )


TABLES: dict[str, tuple[str, Callable[[], str]]] = {
    "errors": ("reference/errors.md", render_errors),
    "item-types": ("reference/item-types.md", render_item_types),
    "operations": ("reference/http-api.md", render_operations),
}


def replace_table(page: str, name: str, table: str) -> str:
    """Replace the table of a name in the text of a page."""
    marked = rf"(<!-- begin {name} -->\n).*?(\n<!-- end {name} -->)"
    found, count = re.subn(marked, lambda m: f"{m[1]}\n{table}\n{m[2]}", page, flags=re.DOTALL)
    if count != 1:
        raise ValueError(f"the page has {count} tables {name}")
    return found


def write() -> None:
    """Write all tables into their pages."""
    for name, (path, render) in TABLES.items():
        page = ROOT / "docs" / path
        text = page.read_text(encoding="utf-8")
        page.write_text(replace_table(text, name, render()), encoding="utf-8")
