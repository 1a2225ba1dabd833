"""Report each banned word with its file and line; the exit code is 1 if there is one."""

import json
import re
import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from tools.language.source import Text, find_texts

ROOT = Path(__file__).parents[2]
CHECKED = (
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "benchmarks",
    "console/src",
    "docs",
    "functions",
    "functions/api/openapi.json",
    "infra",
    "operations",
    "sdk",
    "tests",
    "tools",
)
_DATA = "tests"  # strings there are the data of a test, not sentences
_GENERATED = ("sdk/agent_memory/_sync", "sdk/typescript/dist", "sdk/typescript/src/schema.ts")
_WORDS = Path(__file__).with_name("words.txt").read_text(encoding="utf-8").splitlines()
_COMMENT_IN_TYPESCRIPT = re.compile(r"(?<=/\*\*)(?:[^*]|\*(?!/))+|(?<=[ \t]//).+")
_CODE_IN_MARKDOWN = re.compile(r"^( *)```.*?^\1```|`[^`\n]*`|<!--.*?-->", re.DOTALL | re.MULTILINE)


def _compile(phrases: list[str], end: str = r"\b") -> re.Pattern[str]:
    found = "|".join(re.escape(each).replace(r"\ ", r"\s+") for each in phrases)
    return re.compile(rf"\b(?:{found}){end}", re.IGNORECASE)


_LISTED = [each for each in _WORDS if not each.startswith("#")]
_BANNED = _compile([each for each in _LISTED if not each.endswith(" ...")])
_OPENING = _compile([each.removesuffix(" ...") for each in _LISTED if each.endswith(" ...")])


def find_problems(text: Text) -> Iterator[tuple[int, str]]:
    """Yield each banned phrase of a text, with its line."""
    if text.is_docstring and (opening := _OPENING.match(text.text.lstrip())):
        yield text.line, f"docstring begins with {opening[0]!r}"
    for found in _BANNED.finditer(text.text):
        line = text.line + text.text.count("\n", 0, found.start())
        yield line, f"{' '.join(found[0].lower().split())!r} is banned"


def read_page(page: str) -> Text:
    """Return a Markdown page without its code; lines keep their numbers."""
    return Text(1, _CODE_IN_MARKDOWN.sub(lambda code: "\n" * code[0].count("\n"), page))


def find_descriptions(document: Any) -> Iterator[Text]:
    """Yield all summaries and descriptions of an OpenAPI document."""
    if isinstance(document, list):
        for each in document:
            yield from find_descriptions(each)
    if isinstance(document, dict):
        for name, value in document.items():
            if name in ("summary", "description") and isinstance(value, str):
                yield Text(1, value)
            else:
                yield from find_descriptions(value)


def read_texts(file: Path) -> Iterator[Text]:
    """Yield the texts of a Python or TypeScript file, a Markdown page or an OpenAPI document."""
    content = file.read_text(encoding="utf-8")
    if file.suffix == ".py":
        is_data = file.relative_to(ROOT).parts[0] == _DATA
        yield from find_texts(content, with_strings=not is_data)
    elif file.suffix in (".ts", ".tsx"):
        for found in _COMMENT_IN_TYPESCRIPT.finditer(content):
            line = content.count("\n", 0, found.start()) + 1
            yield Text(line, found[0], is_docstring=content[found.start() - 1] == "*")
    elif file.suffix == ".md":
        yield read_page(content)
    else:
        yield from find_descriptions(json.loads(content))


def list_files(path: Path) -> Iterator[Path]:
    """Yield the files to check under a path."""
    if path.is_file():
        yield path
        return
    for file in sorted(chain(*map(path.rglob, ("*.py", "*.md", "*.ts", "*.tsx")))):
        relative = file.relative_to(ROOT)
        if "node_modules" not in relative.parts and not str(relative).startswith(_GENERATED):
            yield file


def main(paths: Sequence[str]) -> int:
    """Check the paths, which are relative to the project; return 1 if a text has a problem."""
    has_problem = False
    for file in chain.from_iterable(list_files(ROOT / path) for path in paths):
        for text in read_texts(file):
            for line, problem in find_problems(text):
                has_problem = True
                sys.stdout.write(f"{file.relative_to(ROOT)}:{line}: {problem}\n")
    return 1 if has_problem else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or CHECKED))
