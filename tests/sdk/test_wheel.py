"""The wheel that `pip install ./sdk` makes: whole, typed, and with nothing of AWS."""

import os
import subprocess
import sys
from importlib.metadata import PathDistribution
from pathlib import Path
from zipfile import ZipFile

import pytest

SDK = Path(__file__).parents[2] / "sdk"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the wheel's files are."""
    made, folder = tmp_path_factory.mktemp("dist"), tmp_path_factory.mktemp("site-packages")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(made)]
    subprocess.run(command, cwd=SDK, check=True, capture_output=True)
    (wheel,) = made.glob("agent_memory-*-py3-none-any.whl")
    with ZipFile(wheel) as zipped:
        zipped.extractall(folder)
    return folder


def test_it_has_every_file_of_the_package_and_no_other(installed: Path) -> None:
    def files(root: Path) -> set[Path]:
        every = (path for path in (root / "agent_memory").rglob("*") if path.is_file())
        return {path.relative_to(root) for path in every if path.suffix != ".pyc"}

    assert files(installed) == files(SDK)
    assert {Path("agent_memory/py.typed"), Path("agent_memory/_sync/client.py")} <= files(installed)
    assert {path.name for path in installed.iterdir()} == {
        "agent_memory",
        next(installed.glob("*.dist-info")).name,
    }


def test_it_needs_httpx_alone_and_offers_its_commands(installed: Path) -> None:
    about = PathDistribution(next(installed.glob("*.dist-info")))
    needed = [each for each in about.requires or () if "extra ==" not in each]
    assert [each.partition("<")[0].partition(">")[0] for each in needed] == ["httpx"]
    assert {(each.group, each.name) for each in about.entry_points} == {
        ("console_scripts", "agent-memory"),
        ("console_scripts", "agent-memory-mcp"),
        ("pytest11", "agent_memory"),
    }


@pytest.mark.parametrize(
    "code",
    [
        "import agent_memory; [getattr(agent_memory, name) for name in agent_memory.__all__]",
        "from agent_memory import cli; cli.main()",
    ],
    ids=["names", "command"],
)
def test_it_runs_from_where_it_is_installed(installed: Path, tmp_path: Path, code: str) -> None:
    checked = f"{code}; import sys; assert not {{'boto3', 'functions'}} & sys.modules.keys()"
    ran = subprocess.run(
        [sys.executable, "-c", checked, "profiles"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(installed), "XDG_CONFIG_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
