"""Pages are short, and so are their sentences."""

import re
from pathlib import Path

import pytest

from functions.platform import schema
from tools.docs.sentences import (
    MOST_WORDS,
    MOST_WORDS_ON_AVERAGE,
    count_words,
    split_sentences,
)

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
FOLDERS = ("tutorials", "how-to", "reference")
USERS_PAGES = [ROOT / "README.md", DOCS / "index.md", DOCS / "glossary.md"]
USERS_PAGES += [page for name in FOLDERS for page in sorted((DOCS / name).glob("*.md"))]
GENERATED = ("http-api.md", "item-types.md", "protocols.md", "errors.md")  # tables of other texts
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
PAGES = [page for page in PAGES if page.name not in GENERATED]

TUTORIALS = sorted((DOCS / "tutorials").glob("*.md"))
# Users, sessions, memories, recall, agents and hand-overs are enough for a tutorial.
OTHER_CONCEPTS = re.compile(
    r"\b(?:access lists?|adopt\w*|assignees?|checkpoint\w*|coordinators?|entry|entries|episodes?"
    r"|episodic|eviction|evicted|facts?|fences?|grants?|guardrails?|intents?|namespaces?"
    r"|natural keys?|principals?|procedures?|scopes?|semantic|slots?|snapshots?|states|strateg\w+"
    r"|sub-tasks?|tenants?|tiers?|working memory|working values?)\b",
    re.IGNORECASE,
)


def count_words_of_page(page: Path) -> int:
    """Count the words of a page and of its code; comments and marks of tables are none."""
    text = re.sub(r"<!--.*?-->", "", page.read_text("utf-8"), flags=re.DOTALL)
    return sum(any(map(str.isalnum, word)) for word in text.split())


def name_page(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def test_all_pages_of_users_have_37_000_words_or_fewer() -> None:
    assert sum(map(count_words_of_page, USERS_PAGES)) <= 37_000


def test_tutorials_guides_and_reference_have_35_000_words_or_fewer() -> None:
    assert (
        sum(count_words_of_page(page) for page in USERS_PAGES if page.parent.parent == DOCS)
        <= 35_000
    )


@pytest.mark.parametrize("page", USERS_PAGES, ids=name_page)
def test_a_page_has_1_500_words_or_fewer(page: Path) -> None:
    limit = 2_000 if page.name in GENERATED else 1_500
    assert count_words_of_page(page) <= limit


@pytest.mark.parametrize("page", TUTORIALS, ids=name_page)
def test_a_tutorial_needs_six_words_only(page: Path) -> None:
    prose = re.sub(
        r"^```.*?^```$|`[^`]*`|\]\([^)]*\)|^## Next$.*\Z",
        "",
        page.read_text("utf-8"),
        flags=re.MULTILINE | re.DOTALL,
    )
    assert OTHER_CONCEPTS.findall(prose) == []


@pytest.mark.parametrize("page", PAGES, ids=name_page)
def test_sentences_are_short(page: Path) -> None:
    sentences = list(split_sentences(page.read_text(encoding="utf-8")))
    assert [each for each in sentences if count_words(each) > MOST_WORDS] == []
    words = sum(map(count_words, sentences))
    assert words <= MOST_WORDS_ON_AVERAGE * len(sentences)


def test_sentences_are_split_at_their_ends() -> None:
    page = "# A page\n\nOne. Two (`a b c`) it is.\n\n- An item\n  of two lines\n\n| a | b c |\n"
    expected = ["One.", "Two (CODE) it is.", "An item of two lines", "a", "b c"]
    assert list(split_sentences(page)) == expected


def test_each_term_has_one_meaning() -> None:
    pages = [DOCS / "glossary.md", DOCS / "contributing/terms.md"]
    text = "\n".join(each.read_text("utf-8") for each in pages)
    terms = re.findall(r"^\| ([^|]+) \| (?!meaning)", text, re.MULTILINE)
    assert len(terms) > 80
    assert [each for each in terms if terms.count(each) > 1] == []


def test_the_table_of_indexes_has_each_index() -> None:
    page = (DOCS / "architecture.md").read_text("utf-8")
    named = set(re.findall(r"^\| `(by_\w+)` \|", page, re.MULTILINE))
    assert named == {*schema.INDEX_KEYS, "by_meaning"}  # the vector index
