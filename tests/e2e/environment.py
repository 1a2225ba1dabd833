"""The emulator's own virtual environment, in `.venv-emulator`: made once, kept between runs."""

import fcntl
import hashlib
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
_LOCK = ROOT / "requirements/emulator.lock"
_FOLDER = ROOT / ".venv-emulator"
_STAMP = _FOLDER / "installed"
_PYTHON = _FOLDER / "bin/python"


def emulator_python() -> Path:
    """The interpreter of an environment that holds what requirements/emulator.lock names.

    Raises:
        AssertionError: the packages could not be installed.
    """
    wanted = f"{sys.version}\n{hashlib.sha256(_LOCK.read_bytes()).hexdigest()}\n"
    with _alone():
        if not (_STAMP.exists() and _STAMP.read_text() == wanted):
            _install()
            _STAMP.write_text(wanted)
    return _PYTHON


def _install() -> None:
    shutil.rmtree(_FOLDER, ignore_errors=True)
    venv.create(_FOLDER, with_pip=True, symlinks=True)
    pip = [str(_PYTHON), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    command = [*pip, "--require-hashes", "-r", str(_LOCK)]
    installed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert installed.returncode == 0, f"the emulator can't be installed:\n{installed.stderr}"


@contextmanager
def _alone() -> Iterator[None]:
    """One process at a time; the operating system lets go of the lock when the process ends."""
    with _FOLDER.with_suffix(".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
