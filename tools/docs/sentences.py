"""Split pages into sentences, and find those that are too long."""

import re
from collections.abc import Iterator

MOST_WORDS, MOST_WORDS_ON_AVERAGE = 28, 20
_CODE_BLOCK = re.compile(r"^ *```.*?^ *```$|<!--.*?-->", re.DOTALL | re.MULTILINE)
_ITEM = re.compile(r"^\s*(?:[-*]|\d+\.) ")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_CODE = re.compile(r"`[^`]*`")
_END = re.compile(r"(?<=[.!?:;])[*)\"]*\s+(?=[*(\"]*[A-Z\d])")  # a colon ends a sentence, too
_WORD = re.compile(r"[\w'-]+")


def split_sentences(page: str) -> Iterator[str]:
    """Yield the sentences of a page; code is one word, a cell of a table a paragraph."""
    for paragraph in _split_paragraphs(_CODE_BLOCK.sub("", page)):
        text = _CODE.sub("CODE", _LINK.sub(r"\1", paragraph))
        yield from filter(_WORD.search, _END.split(text))


def count_words(sentence: str) -> int:
    """Count the words of a sentence."""
    return len(_WORD.findall(sentence))


def _split_paragraphs(text: str) -> Iterator[str]:
    lines: list[str] = []
    for line in [*text.splitlines(), ""]:
        is_table = line.startswith("|")
        if is_table or not line.strip() or _ITEM.match(line) or line.startswith("#"):
            yield " ".join(lines).strip()
            lines = []
        if is_table:
            yield from line.strip("| ").split(" | ")
        elif not line.startswith("#"):
            lines.append(_ITEM.sub("", line).strip())
