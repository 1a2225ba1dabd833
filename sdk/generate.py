"""Makes `agent_memory/_sync` of `agent_memory/_async`: one logic, two transports.

Run `python sdk/generate.py` after a change there; a test compares.
"""

import sys
import tokenize
from pathlib import Path

import unasync

_PACKAGE = Path(__file__).parent / "agent_memory"
_NAMES = {
    "_async": "_sync",
    "_waiting_async": "_waiting",
    "async_sleep": "sleep",
    "aclose": "close",
}
_PREFIX = "Async"


def generate(target: Path) -> None:
    """Writes all modules of the sync client into the folder `target/_sync`."""
    sources = sorted((_PACKAGE / "_async").glob("*.py"))
    rule = unasync.Rule(
        fromdir=str(_PACKAGE / "_async") + "/",
        todir=str(target / "_sync") + "/",
        additional_replacements=_NAMES | _classes(sources),
    )
    unasync.unasync_files([str(source) for source in sources], [rule])


def _classes(sources: list[Path]) -> dict[str, str]:
    """Every name that begins with Async, without it."""
    found = set()
    for source in sources:
        with source.open("rb") as file:
            names = [token.string for token in tokenize.tokenize(file.readline)]
        found |= {name.strip("\"'") for name in names if name.strip("\"'").startswith(_PREFIX)}
    return {name: name.removeprefix(_PREFIX) for name in found if name.isidentifier()}


if __name__ == "__main__":
    generate(_PACKAGE)
    sys.stdout.write("agent_memory/_sync is made\n")
