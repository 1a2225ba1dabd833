"""Generate the derived parts of the SDK; a test fails when they are stale.

- `agent_memory/_sync` from `agent_memory/_async`: one logic, two transports.
- `agent_memory/model` from the service's OpenAPI document: models, literals, keywords.

Run `python sdk/generate.py` after a change of either source.
"""

import subprocess
import sys
import tokenize
from pathlib import Path

import unasync

sys.path.insert(0, str(Path(__file__).parent))

from generator.models import render_modules

_PACKAGE = Path(__file__).parent / "agent_memory"
_NAMES = {
    "_async": "_sync",
    "_waiting_async": "_waiting",
    "async_sleep": "sleep",
    "aclose": "close",
    "aiter_raw": "iter_raw",
}
_PREFIX = "Async"


def generate(target: Path) -> None:
    """Write the generated modules into the folder `target`."""
    generate_sync(target)
    generate_models(target / "model")


def generate_models(folder: Path) -> None:
    """Write the package of models into a folder; ruff removes the imports that they don't need."""
    folder.mkdir(exist_ok=True)
    for name, source in render_modules().items():
        (folder / f"{name}.py").write_text(source, encoding="utf-8")
    ruff = [sys.executable, "-m", "ruff"]
    unused = [
        "check",
        "-q",
        "--fix",
        "--isolated",
        "--select",
        "F401,I,RUF022",
        "--line-length",
        "100",
    ]
    subprocess.run([*ruff, *unused, str(folder)], check=True)  # noqa: S603
    subprocess.run([*ruff, "format", "-q", "--line-length", "100", str(folder)], check=True)  # noqa: S603


def generate_sync(target: Path) -> None:
    """Write all modules of the sync client into the folder `target/_sync`."""
    sources = sorted((_PACKAGE / "_async").glob("*.py"))
    rule = unasync.Rule(
        fromdir=str(_PACKAGE / "_async") + "/",
        todir=str(target / "_sync") + "/",
        additional_replacements=_NAMES | _find_classes(sources),
    )
    unasync.unasync_files([str(source) for source in sources], [rule])


def _find_classes(sources: list[Path]) -> dict[str, str]:
    """Map every name that begins with Async to the rest of it."""
    found = set()
    for source in sources:
        with source.open("rb") as file:
            names = [token.string for token in tokenize.tokenize(file.readline)]
        found |= {name.strip("\"'") for name in names if name.strip("\"'").startswith(_PREFIX)}
    return {name: name.removeprefix(_PREFIX) for name in found if name.isidentifier()}


if __name__ == "__main__":
    generate(_PACKAGE)
    sys.stdout.write("agent_memory/_sync and agent_memory/model are generated\n")
