"""Find the texts of a Python file: docstrings, comments and string literals."""

import ast
import io
import tokenize
from collections.abc import Iterator
from typing import NamedTuple


class Text(NamedTuple):
    """A text that a person reads, and the line where it begins."""

    line: int
    text: str
    is_docstring: bool = False


def find_texts(source: str, *, with_strings: bool = True) -> Iterator[Text]:
    """Yield docstrings and comments of a module, and optionally its other strings."""
    for text in _find_strings(ast.parse(source)):
        if text.is_docstring or with_strings:
            yield text
    yield from _find_comments(source)


def _find_strings(module: ast.Module) -> Iterator[Text]:
    docstrings = {id(each) for each in _find_docstrings(module)}
    for node in ast.walk(module):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield Text(node.lineno, node.value, id(node) in docstrings)


def _find_docstrings(module: ast.Module) -> Iterator[ast.Constant]:
    """Yield each string that is a statement: a docstring, or the text below an attribute."""
    for node in ast.walk(module):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value


def _find_comments(source: str) -> Iterator[Text]:
    """Yield comments; those on consecutive lines are one text."""
    lines: list[str] = []
    first = last = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        if token.start[0] != last + 1:
            if lines:
                yield Text(first, "\n".join(lines))
            lines, first = [], token.start[0]
        lines.append(token.string.lstrip("# "))
        last = token.start[0]
    if lines:
        yield Text(first, "\n".join(lines))
