"""The service as an installable package, and `agent-memory serve`, which starts it."""

import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
from agent_memory import Client
from agent_memory.cli.connection import select_profile
from agent_memory.cli.failures import Failure, UsageFailure
from agent_memory.cli.program import build_parser
from agent_memory.cli.serve import serve
from agent_memory.settings import LOCAL_URL, resolve_settings

from functions.local.engine import find_binary
from tests.contract.local_server import running
from tools.service_wheel import PACKAGE, run_npm, stage_package

ROOT = Path(__file__).parents[2]
_SERVE = (sys.executable, "-m", "agent_memory.cli", "serve", "--port", "0")
needs_engine = pytest.mark.skipif(find_binary(ROOT) is None, reason="no embedded database here")


@needs_engine
def test_the_wheel_has_the_service_its_engine_and_its_command(tmp_path: Path) -> None:
    for file in ROOT.iterdir():
        if file.name not in ("console", "dist"):  # the console would be built
            (tmp_path / file.name).symlink_to(file)
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", "dist"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    (wheel,) = (tmp_path / "dist").glob("agent_memory_runtime-*-manylinux_*_x86_64.whl")
    with ZipFile(wheel) as zipped:
        names = set(zipped.namelist())
        engine = zipped.getinfo(f"{PACKAGE}/local/dynoxide")
        about = next(name for name in names if name.endswith("dist-info/entry_points.txt"))
        assert (
            f"agent-memory-service = {PACKAGE}.local.__main__:main" in zipped.read(about).decode()
        )
    assert engine.external_attr >> 16 & 0o111
    assert f"{PACKAGE}/api/docs/swagger-ui.css" in names
    packages = {PACKAGE, "wordllama_data", about.partition("/")[0]}
    assert {name.partition("/")[0] for name in names} == packages


def test_an_npm_from_pypi_finds_its_packages_in_an_isolated_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    npm = tmp_path / "npm"
    npm.write_text('#!/bin/sh\ntest -z "$PYTHONPATH"\n')
    npm.chmod(0o755)
    (tmp_path / "package-lock.json").touch()
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("PYTHONPATH", "/the/isolated/build")
    assert run_npm(tmp_path, ("ci",))


@needs_engine
def test_serve_runs_the_installed_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stage_package(ROOT, tmp_path / "installed" / PACKAGE)
    (tmp_path / "functions").mkdir()  # a package of the user's own
    monkeypatch.chdir(tmp_path)
    path = f"{tmp_path / 'installed'}:{ROOT / 'sdk'}"
    with running(tmp_path / "data", command=_SERVE, PYTHONPATH=path) as server:
        commands = server.descendants().values()
        assert any(each.startswith(f"{tmp_path}/installed/{PACKAGE}/local") for each in commands)
        with Client(server.address, server.api_key) as client:
            client.memory.put("invoices", "batch", {"completed": 23})
            assert client.memory.get("invoices", "batch") == {"completed": 23}


def test_serve_says_what_to_install() -> None:
    given = build_parser().parse_args(["serve"])
    with pytest.raises(Failure, match=r"dist/agent_memory_runtime-\*\.whl\)\[local\]"):
        serve(given, {})


def test_options_of_serve_are_the_settings_of_the_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Started(Exception):
        pass

    def execute(program: str, command: list[str], environment: object) -> None:
        assert program == command[0] == sys.executable
        raise Started(command[1:], environment)

    (tmp_path / PACKAGE).mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    given = build_parser().parse_args(["serve", "--port", "9000", "--data", "there"])
    with pytest.raises(Started) as started:
        serve(given, {"HOME": "/home/you"}, execute)  # type: ignore[arg-type]
    assert started.value.args == (
        ["-P", "-m", f"{PACKAGE}.local"],
        {"HOME": "/home/you", "AGENT_MEMORY_PORT": "9000", "AGENT_MEMORY_DATA": "there"},
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data folder in the current folder, and an environment that names no service."""
    for name in ("AGENT_MEMORY_URL", "AGENT_MEMORY_API_KEY", "AGENT_MEMORY_DATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / ".agent-memory"
    folder.mkdir()
    return folder


def fill(folder: Path, address: str) -> None:
    """Write the files that a local service keeps in its data folder."""
    (folder / "api-key").write_text("am_local\n")
    (folder / "address").write_text(address)


def resolve(url: str | None = None, key: str | None = None) -> tuple[str, str]:
    """Return the address and the key that a client uses."""
    found = resolve_settings(url, key, 30, 4)
    return found.server_url, found.api_key


def select(tmp_path: Path, **environment: str) -> tuple[str, str]:
    """Return the address and the key that a command uses."""
    found = select_profile(None, {"HOME": str(tmp_path), **environment})
    return found.url, found.api_key


@pytest.mark.parametrize("address", ["http://127.0.0.1:9000", "http://localhost", "http://[::1]:1"])
def test_a_client_finds_the_service_of_its_folder(
    tmp_path: Path, folder: Path, address: str
) -> None:
    fill(folder, address)
    assert resolve() == resolve(address) == select(tmp_path) == (address, "am_local")
    with pytest.raises(ValueError, match="give api_key"):
        resolve("http://127.0.0.1:9001")
    moved = shutil.move(folder, tmp_path / "elsewhere")
    assert select(tmp_path, AGENT_MEMORY_DATA=str(moved)) == (address, "am_local")


@pytest.mark.parametrize(
    "address",
    [
        "http://evil.example:9",
        "http://127.0.0.1:8080@evil.example",
        "http://127.0.0.1.evil.example",
    ],
)
def test_a_folder_directs_no_request_to_another_machine(
    tmp_path: Path, folder: Path, address: str
) -> None:
    fill(folder, address)
    for url in (None, address):
        with pytest.raises(ValueError, match="give api_key"):
            resolve(url)
    with pytest.raises(UsageFailure):
        select(tmp_path)


@pytest.mark.parametrize("missing", ["address", "api-key"])
def test_an_address_and_a_key_of_a_folder_count_only_together(folder: Path, missing: str) -> None:
    fill(folder, LOCAL_URL)
    (folder / missing).unlink()
    with pytest.raises(ValueError, match="give api_key"):
        resolve()


@pytest.mark.parametrize("address", ["http://evil.example:9", "http://127.0.0.1:9000"])
def test_a_key_of_the_user_is_never_sent_to_the_address_of_a_folder(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    fill(folder, address)
    assert resolve(key="am_mine") == (LOCAL_URL, "am_mine")
    assert select(tmp_path, AGENT_MEMORY_API_KEY="am_mine") == (LOCAL_URL, "am_mine")
    monkeypatch.setenv("AGENT_MEMORY_API_KEY", "am_mine")
    assert resolve() == (LOCAL_URL, "am_mine")
