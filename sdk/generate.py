"""Generate the parts of the SDK that follow from others; a test fails when they are stale.

- `agent_memory/_sync` from `agent_memory/_async`: one logic, two transports.
- `agent_memory/model.py` from the service's OpenAPI document: literals, models and fields.

Run `python sdk/generate.py` after a change of either source.
"""

import subprocess
import sys
import tokenize
from pathlib import Path

import unasync

sys.path.insert(0, str(Path(__file__).parent))

from generate_models import render_models

_PACKAGE = Path(__file__).parent / "agent_memory"
_NAMES = {
    "_async": "_sync",
    "_waiting_async": "_waiting",
    "async_sleep": "sleep",
    "aclose": "close",
}
_PREFIX = "Async"


def generate(target: Path) -> None:
    """Write the generated modules into the folder `target`."""
    generate_sync(target)
    model = target / "model.py"
    model.write_text(render_models(), encoding="utf-8")
    subprocess.run([sys.executable, "-m", "ruff", "format", "-q", str(model)], check=True)  # noqa: S603


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
    sys.stdout.write("agent_memory/_sync and agent_memory/model.py are generated\n")
