"""Run type checkers on programs that use the SDK; `make lint` runs mypy on them, strict."""

import json
import subprocess
import sys
from pathlib import Path

from tests.contract.local_server import ROOT

PROGRAM = ROOT / "tests/sdk/typed_use.py"
PYRIGHT = ROOT / "node_modules/pyright/index.js"


def test_strict_pyright_finds_each_mistake_and_nothing_else() -> None:
    config = Path(__file__).with_name("pyrightconfig.json")
    command = ["node", str(PYRIGHT), "-p", str(config), "--pythonpath", sys.executable]
    ran = subprocess.run([*command, "--outputjson"], capture_output=True, text=True, check=False)
    found = json.loads(ran.stdout)["generalDiagnostics"]
    lines = PROGRAM.read_text("utf-8").splitlines()
    mistakes = {number for number, line in enumerate(lines) if "# type: ignore" in line}
    assert len(mistakes) >= 5
    told = {(each["file"], each["range"]["start"]["line"]) for each in found}
    assert told == {(str(PROGRAM), line) for line in mistakes}
