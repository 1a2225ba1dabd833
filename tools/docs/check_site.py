"""Fail if a page of the built site loads a file of another server, or is wider than its window.

Usage: python -m tools.docs.check_site SITE
"""

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

from tools.docs.widths import find_browser, find_wide_pages

_LOADING = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
_ELSEWHERE = re.compile(r"(https?:)?//")
_CSS = re.compile(r"""(?:url\(|@import)\s*["']?((?:https?:)?//[^"')\s]+)""")
_FETCHED_BY_SCRIPT = {
    "mermaid",
    "glightbox",
    "pyodide",
}  # classes that the theme's script looks for


class _Page(HTMLParser):
    """Collects the files that a page loads from other servers."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        target = given.get(_LOADING.get(tag, "")) or ""
        if _ELSEWHERE.match(target):
            self.found.append(target)
        for name in _FETCHED_BY_SCRIPT & set((given.get("class") or "").split()):
            self.found.append(f'class="{name}", which a script loads a library for')


def find_external_loads(site: Path) -> Iterator[str]:
    """Yield each file that loads from another server, with what it loads."""
    for page in sorted(site.rglob("*.html")):
        parser = _Page()
        parser.feed(page.read_text(encoding="utf-8"))
        yield from (f"{page}: {each}" for each in parser.found)
    for sheet in sorted(site.rglob("*.css")):
        found = _CSS.findall(sheet.read_text(encoding="utf-8"))
        yield from (f"{sheet}: {each}" for each in found)


def main() -> int:
    """Check the site that the command line names; return 1 if a page fails."""
    site = Path(sys.argv[1])
    found = list(find_external_loads(site))
    if browser := find_browser():
        found += find_wide_pages(site, browser)
    else:
        sys.stderr.write("No Chromium is installed: the widths of the pages were not checked.\n")
    sys.stderr.writelines(f"{each}\n" for each in found)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
