"""The emulator's own virtual environment, in `.venv-emulator`: `make` makes it."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
_FOLDER = ROOT / ".venv-emulator"


def emulator_python() -> Path:
    """The interpreter of an environment that holds what requirements/emulator.lock names.

    Raises:
        AssertionError: the environment has not been made.
    """
    assert (_FOLDER / "stamp").exists(), "run: make .venv-emulator/stamp"
    return _FOLDER / "bin/python"
