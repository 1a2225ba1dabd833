"""Builds the asset: pinned wheels for Lambda's platform beside the functions.

Both parts are cached by the digest of their sources, so that the same input gives the same asset.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import mkdtemp

from infra.asset.bytecode import compile_all, interpreter
from infra.asset.target import Target
from infra.asset.trim import trim
from tools import embedding_model

_ROOT = Path(__file__).parents[2]
_LOCK = _ROOT / "requirements/lambda.lock"
_FUNCTIONS = _ROOT / "functions"
_CACHE = _ROOT / ".build"
_NODE_LOCK = _ROOT / "package-lock.json"
_SWAGGER_UI = _ROOT / "node_modules/swagger-ui-dist"
_SWAGGER_UI_FILES = ("swagger-ui-bundle.js", "swagger-ui.css")
_LAPTOP_ONLY = "local"
_RUN_LOCK = _ROOT / "requirements/run.lock"
_TO_EMBED = "tokenizers"  # its dependencies are not used
_LAMBDAS_OWN = ("botocore", "python-dateutil", "six", "urllib3")  # comes with its boto3
_REQUIREMENT = re.compile(r"(?m)^([a-z0-9-]+)==.*\n(?:[ \t]+.*\n)*")
_PYTHON_MARKER = re.compile(r" ; python_full_version (<|>=) '3\.(\d+)'")
_MAC_MARKER = re.compile(r" ; [^\\\n]*sys_platform (==|!=) 'darwin'")


@dataclass(frozen=True, slots=True)
class Asset:
    """A folder for Lambda, the digest of its sources, and whether it has bytecode."""

    folder: Path
    digest: str
    compiled: bool


def build(target: Target, cache: Path = _CACHE) -> Asset:
    """Build the asset for a target, unless its sources are unchanged.

    Raises:
        subprocess.CalledProcessError: pip can't install the packages, and has printed the reason.
    """
    compiler = interpreter(target.python)
    compiled = compiler is not None
    digest = digest_of(target, compiled=compiled)
    packages = cache / f"packages-{_digest_of_packages(target, compiled=compiled)}"
    _cached(packages, partial(_install, target, compiler))
    folder = _cached(cache / digest, partial(_assemble, packages, compiler))
    return Asset(folder, digest, compiled)


def digest_of(target: Target, *, compiled: bool) -> str:
    """Compute the digest of an asset's sources."""
    return _digest(_digest_of_packages(target, compiled=compiled), [*sources(), _NODE_LOCK])


def _digest_of_packages(target: Target, *, compiled: bool) -> str:
    recipe = sorted(Path(__file__).parent.glob("*.py"))
    model = [embedding_model.LOCK, Path(embedding_model.__file__)]
    start = f"{target} {compiled} {_pinned(_TO_EMBED)}"
    return _digest(start, [_LOCK, *model, *recipe])


def sources() -> list[Path]:
    """List the files of the functions, without the development server."""
    return sorted(
        path
        for path in _FUNCTIONS.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
        if path.relative_to(_FUNCTIONS).parts[0] != _LAPTOP_ONLY
    )


def unzipped_bytes(folder: Path) -> int:
    """Sum the sizes of the files under `folder`, as Lambda counts them."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _digest(start: str, files: Iterable[Path]) -> str:
    digest = hashlib.sha256(start.encode())
    for path in files:
        content = path.read_bytes()
        digest.update(f"\n{path.relative_to(_ROOT)} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def _cached(folder: Path, fill: Callable[[Path], None]) -> Path:
    """Fill the folder if it does not exist; an interruption leaves nothing under its name."""
    if folder.exists():
        return folder
    folder.parent.mkdir(exist_ok=True)
    fresh = Path(mkdtemp(dir=folder.parent, prefix="unfinished-"))
    try:
        fill(fresh)
        _make_readable(fresh)
        fresh.rename(folder)
    except OSError:
        if not folder.exists():  # else another build has filled it with the same files
            raise
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return folder


def _make_readable(folder: Path) -> None:
    """Let all users read: Lambda runs the code as another user than the one that unpacks it."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def _install(target: Target, compiler: str | None, folder: Path) -> None:
    _unpack(_requirements(target) + _pinned(_TO_EMBED), target, folder)
    embedding_model.take_model(folder)
    trim(folder)
    if compiler is not None:
        compile_all(compiler, folder)


def _unpack(requirements: str, target: Target, folder: Path) -> None:
    wanted = folder / "requirements.txt"
    wanted.write_text(requirements)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", "--no-deps"]
    pinned = ["--only-binary=:all:", "--require-hashes", "--requirement", str(wanted)]
    platforms = [f"--platform={tag}" for tag in target.platforms]
    python = ["--implementation=cp", f"--python-version={target.python}"]
    where = ["--disable-pip-version-check", "--target", str(folder)]
    subprocess.run([*command, *pinned, *platforms, *python, *where], check=True)  # noqa: S603
    wanted.unlink()


def _requirements(target: Target) -> str:
    """Select what a target needs. Pip would evaluate markers for the Python that builds."""
    left_out = () if target.boto3 else _LAMBDAS_OWN
    found = [each for each in _REQUIREMENT.finditer(_LOCK.read_text()) if each[1] not in left_out]
    wanted = [each.group() for each in found if _is_for_target(target, each.group())]
    return "".join(_MAC_MARKER.sub("", _PYTHON_MARKER.sub("", each)) for each in wanted)


def _is_for_target(target: Target, requirement: str) -> bool:
    """Tell whether a requirement's marker, if it has one, is true in Lambda."""
    system = _MAC_MARKER.search(requirement)
    if system is not None:
        return system[1] == "!="
    marker = _PYTHON_MARKER.search(requirement)
    if marker is None:
        return True
    is_older = int(target.python.removeprefix("3.")) < int(marker[2])
    return is_older == (marker[1] == "<")


def _pinned(package: str) -> str:
    """Find a package's pin in the development server's lock."""
    found = _REQUIREMENT.finditer(_RUN_LOCK.read_text())
    return next(each.group() for each in found if each[1] == package)


def _assemble(packages: Path, compiler: str | None, folder: Path) -> None:
    shutil.copytree(packages, folder, dirs_exist_ok=True, copy_function=os.link)
    for source in sources():
        place = folder / source.relative_to(_ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, place)
    for name in _SWAGGER_UI_FILES:
        shutil.copyfile(_SWAGGER_UI / name, folder / "functions/api/docs" / name)
    if compiler is not None:
        compile_all(compiler, folder, "functions")
