"""`python -m infra.package FOLDER`: build the construct's wheel, with the functions' code in it."""

import json
import re
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

from infra.asset.build import Asset, build
from infra.asset.target import Target

_PACKAGE = Path(__file__).parent / "agent_memory_cdk"
_TARGET = Target("python3.14", "arm64")
_FUNCTIONS = re.compile(r"^from functions\b", re.MULTILINE)
_SERVICE = "agent_memory_service"  # the name of the package `functions` in the service's wheel


def build_wheel(asset: Asset, target: Target, folder: Path) -> None:
    """Build the wheel into a folder.

    Raises:
        subprocess.CalledProcessError: hatchling can't build it, and has printed the reason.
    """
    with TemporaryDirectory() as staged:
        source = Path(staged) / _PACKAGE.name
        shutil.copytree(_PACKAGE, source, ignore=shutil.ignore_patterns("__pycache__"))
        for module in source.glob("*.py"):
            module.write_text(_FUNCTIONS.sub(f"from {_SERVICE}", module.read_text("utf-8")))
        _write_bundle(asset, target, source / "bundle")
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
        subprocess.run(command, cwd=source, check=True)  # noqa: S603


def _write_bundle(asset: Asset, target: Target, bundle: Path) -> None:
    """Write an asset, and its description for `find_bundled_code` of the package."""
    bundle.mkdir()
    file = Path(shutil.make_archive(str(bundle / "functions"), "zip", asset.folder))
    details = asdict(asset) | {"runtime": target.runtime, "architecture": target.architecture}
    details = {name: value for name, value in details.items() if name != "folder"}
    (bundle / "manifest.json").write_text(json.dumps({"file": file.name, **details}))


if __name__ == "__main__":
    build_wheel(build(_TARGET), _TARGET, Path(sys.argv[1]).absolute())
