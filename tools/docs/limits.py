"""Write limits into the pages: `<!-- limit NAME -->64 KB<!-- end -->`.

NAME is a constant of `functions/platform/limits.py`. The name determines its unit. A placeholder
must not begin a line, because Markdown would end the paragraph there. Docstrings and descriptions
of the API name a limit as `{NAME}`.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from functions.platform import limits
from functions.platform.clock import format_duration

ROOT = Path(__file__).parents[2]
PLACEHOLDER = re.compile(r"<!-- limit (\w+) -->(.*?)<!-- end -->")
_IN_A_DESCRIPTION = re.compile(r"\{([A-Z]+_[A-Z_]+)\}")
_SIZES = (("GB", 2**30), ("MB", 2**20), ("KB", 2**10), ("MB", 10**6))
_IN_MILLISECONDS = re.compile(r"_(LIFETIME|RETENTION)$")


def format_bytes(size: int) -> str:
    """Render a size in the largest unit that divides it: `64 KB`; 1 KB is 1,024 bytes.

    Pages and responses are limited to round numbers: 5,000,000 bytes are `5 MB`.
    """
    for unit, factor in _SIZES:
        if size % factor == 0:
            return f"{size // factor:,} {unit}"
    return f"{size:,} bytes"


def format_limit(name: str) -> str:
    """Render a limit with its unit; a limit without a unit is a number."""
    value: int = getattr(limits, name)
    if name.endswith("_BYTES"):
        return format_bytes(value)
    if name.endswith("_KB"):
        return format_bytes(value * 1024)
    if _IN_MILLISECONDS.search(name):
        return format_duration(value)
    if name.endswith("_SECONDS"):
        return format_duration(value * 1000)
    if name.endswith("_DAYS"):
        return format_duration(value * 86_400_000)
    return f"{value:,}"


def render_limits(page: str) -> str:
    """Replace the text of each placeholder of a page by the limit's present value."""
    return PLACEHOLDER.sub(
        lambda found: f"<!-- limit {found[1]} -->{format_limit(found[1])}<!-- end -->", page
    )


def fill_limits(description: str) -> str:
    """Replace `{NAME}` in the descriptions of the API by the limit's present value."""
    return _IN_A_DESCRIPTION.sub(lambda found: format_limit(found[1]), description)


def list_pages() -> Iterator[Path]:
    """Yield the pages that can have placeholders."""
    yield ROOT / "README.md"
    yield from sorted((ROOT / "docs").rglob("*.md"))


def write() -> None:
    """Write the present limits into all pages."""
    for path in list_pages():
        text = path.read_text(encoding="utf-8")
        if (rendered := render_limits(text)) != text:
            path.write_text(rendered, encoding="utf-8")
