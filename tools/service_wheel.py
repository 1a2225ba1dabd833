"""Build the service's wheel: `pip wheel .` and `pip install .` call this hook of hatchling.

In the wheel, the package `functions` is called `agent_memory_service`: other projects have packages
called `functions`. It also has npm's files of a checkout: the console, Swagger UI, and on
Linux/x86_64 the embedded database. The wheel is then for this platform only. Missing files are
built or installed by npm first; without npm, the wheel omits them.
"""

import os
import platform
import re
import runpy
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE = "agent_memory_service"
_IMPORT = re.compile(r"^(\s*(?:from|import)) functions\b", re.MULTILINE)
_MODULE = re.compile(r"(?<=-m )functions\b")
_ENGINE = "node_modules/@dynoxide/linux-x64"
_SWAGGER_UI = ("swagger-ui-bundle.js", "swagger-ui.css")
_TAG = "py3-none-manylinux_2_17_x86_64.musllinux_1_1_x86_64"  # the engine's binary is static
_NPM_CI = ("ci", "--omit=dev", "--silent", "--no-audit", "--no-fund")


class ServiceWheel(BuildHookInterface[Any]):
    """The hook that hatchling calls before it writes the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Stage the package, and name it in `build_data`; `version` is the kind of wheel."""
        root = Path(self.root)
        if version == "editable":
            raise NotImplementedError(
                "the service can't be installed in editable mode; use `make run`"
            )
        self._staged = TemporaryDirectory()
        staged = Path(self._staged.name)
        for reason in _install_missing(root, staged):
            self.app.display_warning(f"{reason}; the wheel is built without it")
        has_engine = stage_package(root, staged / PACKAGE)
        for package in staged.iterdir():
            build_data["force_include"][str(package)] = package.name
        if has_engine:
            build_data["tag"] = _TAG
            build_data["pure_python"] = False

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove the staged files."""
        self._staged.cleanup()


def stage_package(root: Path, target: Path) -> bool:
    """Write the wheel's package into `target`; return whether it has the engine."""
    shutil.copytree(root / "functions", target, ignore=shutil.ignore_patterns("__pycache__"))
    for module in target.rglob("*.py"):
        source = module.read_text("utf-8")
        renamed = _MODULE.sub(PACKAGE, _IMPORT.sub(rf"\1 {PACKAGE}", source))
        module.write_text(renamed, "utf-8")
    for name in _SWAGGER_UI:
        file = root / "node_modules/swagger-ui-dist" / name
        if file.is_file():
            shutil.copy(file, target / "api/docs" / name)
    engine = root / _ENGINE / "dynoxide"
    if not (_has_engine_build() and engine.is_file()):
        return False
    shutil.copy(engine, target / "local/dynoxide")
    shutil.copy(root / _ENGINE / "package.json", target / "local/dynoxide.package.json")
    return True


def _install_missing(root: Path, target: Path) -> list[str]:
    """Install and build missing files of a fresh checkout, the model into `target`.

    Returns:
        The files that are still missing.
    """
    missing = [] if _take_model(root, target) else ["pip can't download the embedding model"]
    if not (root / "node_modules/swagger-ui-dist").is_dir() and not run_npm(root, _NPM_CI):
        missing.append("npm can't install the embedded database and Swagger UI")
    console = root / "console"
    built = (root / "functions/api/console/index.html").is_file() or not console.is_dir()
    if not built and not (run_npm(console, _NPM_CI) and run_npm(console, ("run", "build"))):
        missing.append("npm can't build the console")
    return missing


def _take_model(root: Path, target: Path) -> bool:
    """Copy the installed embedding model, or download it."""
    tool = runpy.run_path(str(root / "tools/embedding_model.py"))
    installed = find_spec(tool["FOLDER"])
    if installed is not None and installed.submodule_search_locations:
        shutil.copytree(installed.submodule_search_locations[0], target / tool["FOLDER"])
        return True
    try:
        tool["take_model"](target)
    except subprocess.CalledProcessError:
        return False
    return True


def run_npm(folder: Path, arguments: tuple[str, ...]) -> bool:
    """Run npm in a folder with a lock file; return whether npm exists and succeeded."""
    npm = shutil.which("npm")
    if npm is None or not (folder / "package-lock.json").is_file():
        return False
    # In an isolated build, PYTHONPATH would hide the packages that an npm from PyPI needs.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [npm, *arguments]
    ended = subprocess.run(command, cwd=folder, env=environment, stdout=sys.stderr, check=False)  # noqa: S603
    return ended.returncode == 0


def _has_engine_build() -> bool:
    return (sys.platform, platform.machine()) == ("linux", "x86_64")
