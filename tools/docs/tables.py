"""Write the tables of the reference that are derived from the code.

Each table is between `<!-- begin NAME -->` and `<!-- end NAME -->` of a page. A test compares the
checked-in pages with what this module renders.
"""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from functions.platform.errors import ERROR_CODES
from functions.platform.item_types import ITEM_TYPES, ItemType
from tools.docs.limits import fill_limits

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
    listed = (f"`{index}`: `{partition}`" for index, partition in type.listed.items())
    indexes = "<br>".join([*(f"`{index}`" for index in type.indexes), *listed])
    key = f"{partition}<br>`{type.sort}`"
    return f"{type.name}{table}", key, type.purpose, fill_limits(type.lifetime), indexes


def render_operations() -> str:
    """Render the paths of the API and their methods, by tag."""
    document = json.loads((ROOT / "functions/api/openapi.json").read_text(encoding="utf-8"))
    groups: dict[str, list[tuple[str, str]]] = {}
    for path, operations in document["paths"].items():
        methods = [name for name in operations if name != "parameters"]
        row = (f"`{path}`", " ".join(f"`{each.upper()}`" for each in methods))
        groups.setdefault(operations[methods[0]]["tags"][0], []).append(row)
    return "\n\n".join(
        f"### {name}\n\n{_table(('path', 'methods'), rows)}" for name, rows in groups.items()
    )


@dataclass(frozen=True, slots=True)
class Protocol:
    """A row of the page of protocols."""

    number: int
    name: str
    invariant: str
    packages: tuple[str, ...]
    decision: str


def parse_protocols(page: str) -> list[Protocol]:
    """Parse the table of protocols."""
    rows = re.findall(
        r"^\| (\d+) \| (.+?) \| (.+?) \| (.+?) \| \[\d+\]\((.+?)\) \|$", page, re.MULTILINE
    )
    return [
        Protocol(int(number), name, invariant, tuple(re.findall(r"`(\w+)`", packages)), decision)
        for number, name, invariant, packages, decision in rows
    ]


def render_protocols() -> str:
    """Render the protocols of each package."""
    page = (ROOT / "docs/explanation/protocols.md").read_text(encoding="utf-8")
    protocols = parse_protocols(page)
    packages = sorted({each for protocol in protocols for each in protocol.packages})
    return _table(
        ("package", "protocols"),
        (
            (f"`{name}`", ", ".join(each.name for each in protocols if name in each.packages))
            for name in packages
        ),
    )


def render_decisions() -> str:
    """Render the list of decisions."""
    rows = []
    for path in sorted((ROOT / "docs/decisions").glob("[0-9]*.md")):
        text = path.read_text(encoding="utf-8")
        number, title = re.findall(r"\A# (\d+)\. (.+)$", text, re.MULTILINE)[0]
        (status,) = re.findall(r"^- Status: ([\w ]+)", text, re.MULTILINE)
        rows.append((number, f"[{title}]({path.name})", status))
    return _table(("", "decision", "status"), rows)


TABLES: dict[str, tuple[str, Callable[[], str]]] = {
    "decisions": ("decisions/index.md", render_decisions),
    "errors": ("reference/errors.md", render_errors),
    "item-types": ("contributing/item-types.md", render_item_types),
    "protocols": ("explanation/protocols.md", render_protocols),
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
