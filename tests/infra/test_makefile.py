"""Python, make and bash are enough: the Makefile installs Node where the machine has none."""

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_TOOLS = ("bash", "make", "env", "uname", "tr", "sed", "getconf", "find", "dirname", "touch")
_OLD, _SUPPORTED = "18.20.4", "20.0.0"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A fresh checkout: nothing is installed in it."""
    checkout = tmp_path / "checkout"
    shutil.copytree(
        _ROOT,
        checkout,
        ignore=shutil.ignore_patterns(
            ".git", ".venv*", "node_modules", ".build", "docs", "tests", "dist", "site", ".*_cache"
        ),
    )
    shutil.rmtree(checkout / "functions/api/console", ignore_errors=True)
    return checkout


def make(checkout: Path, *arguments: str, node: str | None = None, **variables: str) -> str:
    """Run make with only Python, make, bash, and the tools of any system; its output."""
    tools = checkout.parent / "bin"
    tools.mkdir(exist_ok=True)
    for name in _TOOLS:
        found = shutil.which(name)
        assert found, name
        (tools / name).unlink(missing_ok=True)
        (tools / name).symlink_to(found)
    (tools / "python3").unlink(missing_ok=True)
    (tools / "python3").symlink_to(sys.executable)
    for name in ("node", "npm"):
        (tools / name).unlink(missing_ok=True)
        if node is not None:
            supported = str(int(node.partition(".")[0]) >= 20).lower()
            (tools / name).write_text(f"#!/bin/sh\necho {supported}\n")
            (tools / name).chmod(0o755)
    environment = {
        k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "MAKE", "MFLAGS"))
    }
    ended = subprocess.run(
        ["make", *arguments],
        cwd=checkout,
        env=environment | {"PATH": str(tools), "AGENT_MEMORY_PORT": "0"} | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    return ended.stdout + ended.stderr


@pytest.mark.parametrize(
    "target", ["node_modules/.stamp", "test", "console", "synth", "typescript"]
)
def test_without_node_it_is_installed_into_the_projects_environment(
    checkout: Path, target: str
) -> None:
    planned = make(checkout, "-n", target)
    assert "requirements/node.lock" in planned
    assert planned.index("requirements/node.lock") < planned.index("npm ci")


def test_an_unsupported_node_is_replaced(checkout: Path) -> None:
    assert "requirements/node.lock" in make(checkout, "-n", "test", node=_OLD)


def test_a_supported_node_is_used_without_a_warning(checkout: Path) -> None:
    planned = make(checkout, "-n", "test", node=_SUPPORTED)
    assert "npm ci" in planned
    assert "node.lock" not in planned
    assert "security fixes" not in planned


def test_recipes_find_the_installed_node(checkout: Path) -> None:
    installed = checkout / ".venv/bin"
    installed.mkdir(parents=True)
    (checkout / "probe.mk").write_text("include Makefile\nprobe:\n\t@echo $$PATH\n")
    found = make(checkout, "-f", "probe.mk", "probe").strip()
    assert found.split(os.pathsep)[0] == str(installed)


def test_a_taken_port_is_reported_before_anything_is_installed(checkout: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        said = make(checkout, "run", AGENT_MEMORY_PORT=port)
    assert f"port {port}" in said
    assert "AGENT_MEMORY_PORT" in said
    assert not (checkout / ".venv").exists()
    assert "Installing" not in said
