"""Files that are marked as generated exist: a page that moved is marked under its new name."""

from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_each_mark_of_a_generated_file_has_a_file() -> None:
    lines = (ROOT / ".gitattributes").read_text(encoding="utf-8").splitlines()
    patterns = [line.split()[0] for line in lines if "linguist-generated" in line]
    assert patterns
    missing = [each for each in patterns if not any(ROOT.glob(each.replace("/**", "/*")))]
    assert missing == []


def test_pages_with_generated_tables_alone_are_marked() -> None:
    marked = (ROOT / ".gitattributes").read_text(encoding="utf-8")
    for page in ("reference/http-api", "reference/errors", "contributing/item-types"):
        assert f"docs/{page}.md linguist-generated" in marked
