"""Check the files of `make release` in `dist`, and write their checksums. Nothing is uploaded."""

import hashlib
import json
import re
import subprocess
import sys
import tarfile
import tomllib
from email.parser import Parser
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

_ROOT = Path(__file__).parents[1]
_PROJECTS = ("pyproject.toml", "sdk/pyproject.toml", "infra/agent_memory_cdk/pyproject.toml")
_PACKAGES = (
    "package.json",
    "console/package.json",
    "sdk/typescript/package.json",
    "tools/language/package.json",
)
_NPM_FILES = frozenset({"package/package.json", "package/README.md", "package/dist/index.js"})
_MATERIALS = ("sbom.cdx.json", "licenses.txt")
_SUMS = "SHA256SUMS"
_COMMANDS = (
    ("agent-memory", "--help"),
    ("agent-memory-mcp", "--help"),
    ("python", "-c", "import agent_memory_service.local.settings, agent_memory"),
)


class ReleaseError(Exception):
    """The built files can't be released; the message has the reason."""


def find_versions(root: Path) -> dict[str, str]:
    """Return the version that each file of the project states."""
    versions = {
        name: tomllib.loads((root / name).read_text("utf-8"))["project"]["version"]
        for name in _PROJECTS
    }
    for name in _PACKAGES:
        for file in (name, name.replace("package.json", "package-lock.json")):
            versions[file] = json.loads((root / file).read_text("utf-8"))["version"]
    pool = (root / "sdk/agent_memory/_async/pool.py").read_text("utf-8")
    versions["User-Agent of the SDK"] = re.findall(r"agent-memory-python/([\d.]+)", pool)[0]
    openapi = json.loads((root / "functions/api/openapi.json").read_text("utf-8"))
    versions["functions/api/openapi.json"] = openapi["info"]["version"]
    return versions


def find_version(root: Path) -> str:
    """Return the version of the project.

    Raises:
        ReleaseError: two files state different versions, or the changelog has no such version.
    """
    versions = find_versions(root)
    if len(set(versions.values())) != 1:
        raise ReleaseError(f"the files state different versions: {versions}")
    version = versions[_PROJECTS[0]]
    heading = re.compile(rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$", re.MULTILINE)
    if not heading.search((root / "CHANGELOG.md").read_text("utf-8")):
        raise ReleaseError(f"CHANGELOG.md has no heading '## [{version}] - YYYY-MM-DD'")
    return version


def check(folder: Path, version: str) -> list[Path]:
    """Check the built files.

    Returns:
        The files, sorted by name.

    Raises:
        ReleaseError: a file is missing or has another version.
    """
    wheels = [_find(folder, f"{_read_name(name)}-{version}-*.whl") for name in _PROJECTS]
    for wheel in wheels:
        _check_wheel(wheel, version)
    npm = _find(folder, f"*-{version}.tgz")
    _check_npm(npm, version)
    return sorted([*wheels, npm, *(_find(folder, name) for name in _MATERIALS)])


def _read_name(project: str) -> str:
    name: str = tomllib.loads((_ROOT / project).read_text("utf-8"))["project"]["name"]
    return name.replace("-", "_")


def _find(folder: Path, pattern: str) -> Path:
    found = list(folder.glob(pattern))
    if len(found) != 1:
        raise ReleaseError(f"{folder} has {len(found)} files {pattern} instead of one")
    return found[0]


def _check_wheel(wheel: Path, version: str) -> None:
    with ZipFile(wheel) as zipped:
        (name,) = (each for each in zipped.namelist() if each.endswith(".dist-info/METADATA"))
        about = Parser().parsestr(zipped.read(name).decode())
    if about["Version"] != version or not about.get_payload():
        raise ReleaseError(f"{wheel.name} has version {about['Version']}, or no description")


def _check_npm(package: Path, version: str) -> None:
    with tarfile.open(package) as archive:
        missing = _NPM_FILES - set(archive.getnames())
        about = archive.extractfile("package/package.json")
        stated = json.load(about)["version"] if about else None
    if missing or stated != version:
        raise ReleaseError(f"{package.name} has version {stated}, and lacks {sorted(missing)}")


def install(files: list[Path]) -> None:
    """Install the wheels of the SDK and of the service in a new environment, and start them.

    Raises:
        subprocess.CalledProcessError: the installation or a command failed.
    """
    wheels = [str(each) for each in files if each.suffix == ".whl" and "_cdk-" not in each.name]
    wheels = [f"{each}[local]" if "_runtime-" in each else f"{each}[mcp]" for each in wheels]
    with TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)  # noqa: S603
        programs = Path(folder) / "bin"
        pip = [
            str(programs / "python"),
            "-m",
            "pip",
            "install",
            "-q",
            "--disable-pip-version-check",
        ]
        subprocess.run([*pip, *wheels], check=True)  # noqa: S603
        for program, *arguments in _COMMANDS:
            command = [str(programs / program), *arguments]
            subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)  # noqa: S603


def write_checksums(files: list[Path]) -> Path:
    """Write the file that `sha256sum --check` reads."""
    sums = files[0].parent / _SUMS
    lines = (f"{hashlib.sha256(each.read_bytes()).hexdigest()}  {each.name}\n" for each in files)
    sums.write_text("".join(lines))
    return sums


def main(folder: str) -> int:
    """Check a folder, and print the commands to upload its files."""
    try:
        version = find_version(_ROOT)
        files = check(Path(folder), version)
        install(files)
    except (ReleaseError, subprocess.CalledProcessError) as error:
        print(f"make release: {error}", file=sys.stderr)
        return 1
    sums = write_checksums(files)
    print(sums.read_text(), end="")
    print(f"Version {version} is checked. Nothing was uploaded. To publish it:")
    print(f"  git tag v{version}")
    print(f"  python -m twine upload {folder}/*.whl")
    print(f"  npm publish {folder}/*-{version}.tgz")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
