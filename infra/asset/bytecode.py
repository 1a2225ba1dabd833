"""Compiled modules for the asset.

Lambda's code folder is read-only, so a module that isn't compiled is compiled at each cold start.
"""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

_UNPACKED_AT = "/var/task"


@cache
def interpreter(python: str) -> str | None:
    """Find an interpreter on this machine that writes bytecode for `python` (as in `3.13`).

    Bytecode is the same for all patch releases of a version.
    """
    on_path = (str(Path(folder) / f"python{python}") for folder in os.get_exec_path())
    candidates = (sys.executable, *filter(os.path.exists, on_path))
    return next((each for each in candidates if _version(each) == python), None)


def _version(executable: str) -> str:
    """Ask an interpreter for its version; empty if it doesn't run."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    asked = subprocess.run([executable, "-c", code], capture_output=True, text=True, check=False)  # noqa: S603
    return asked.stdout.strip()


def compile_all(executable: str, folder: Path, part: str = "") -> None:
    """Compile the modules of an asset as unchecked bytecode: they do not change in Lambda."""
    command = [executable, "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash"]
    where = ["-s", str(folder), "-p", _UNPACKED_AT, str(folder / part)]
    same_each_time = {**os.environ, "PYTHONHASHSEED": "0"}
    subprocess.run([*command, *where], check=True, env=same_each_time)  # noqa: S603
