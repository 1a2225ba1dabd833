"""Users' pages are short."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
FOLDERS = ("tutorials", "how-to", "reference")
PAGES = [ROOT / "README.md", DOCS / "index.md", DOCS / "glossary.md"]
PAGES += [page for name in FOLDERS for page in sorted((DOCS / name).glob("*.md"))]


def count_words(page: Path) -> int:
    """Count the words of a page and of its code; marks of tables and lists are none."""
    text = page.read_text(encoding="utf-8")
    return sum(any(map(str.isalnum, word)) for word in text.split())


def test_all_pages_of_users_have_35_000_words_or_fewer() -> None:
    assert sum(map(count_words, PAGES)) <= 35_000


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_has_1_500_words_or_fewer(page: Path) -> None:
    limit = 2_000 if page.name == "http-api.md" else 1_500  # the list of operations is generated
    assert count_words(page) <= limit
