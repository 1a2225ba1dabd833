"""A release: one version everywhere, files that are checked, and paths of the container's file."""

import hashlib
import io
import json
import re
import tarfile
from pathlib import Path
from zipfile import ZipFile

import pytest

from tools import release

_ROOT = Path(__file__).parents[3]
_VERSION = release.find_version(_ROOT)


@pytest.fixture
def built(tmp_path: Path) -> Path:
    for name in ("agent_memory", "agent_memory_runtime", "agent_memory_cdk"):
        with ZipFile(tmp_path / f"{name}-{_VERSION}-py3-none-any.whl", "w") as wheel:
            about = f"Metadata-Version: 2.4\nName: {name}\nVersion: {_VERSION}\n\nText\n"
            wheel.writestr(f"{name}-{_VERSION}.dist-info/METADATA", about)
    write_npm(tmp_path, _VERSION)
    for name in ("sbom.cdx.json", "licenses.txt"):
        (tmp_path / name).write_text("{}")
    return tmp_path


def write_npm(folder: Path, version: str) -> None:
    with tarfile.open(folder / f"agent-memory-{_VERSION}.tgz", "w:gz") as archive:
        for name in ("package.json", "README.md", "dist/index.js"):
            content = json.dumps({"version": version}).encode()
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


def test_every_file_states_the_version_of_the_changelog() -> None:
    assert set(release.find_versions(_ROOT).values()) == {_VERSION}
    assert f"## [{_VERSION}]" in (_ROOT / "CHANGELOG.md").read_text("utf-8")


def test_another_version_somewhere_is_named(tmp_path: Path) -> None:
    for name in release.find_versions(_ROOT):
        if "User-Agent" not in name:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text((_ROOT / name).read_text("utf-8"))
    pool = tmp_path / "sdk/agent_memory/_async/pool.py"
    pool.parent.mkdir(parents=True)
    pool.write_text('"agent-memory-python/9.9.9"')
    with pytest.raises(release.ReleaseError, match=r"User-Agent of the SDK': '9\.9\.9'"):
        release.find_version(tmp_path)


def test_built_files_are_listed_with_checksums(built: Path) -> None:
    files = release.check(built, _VERSION)
    assert len(files) == 6
    for line in release.write_checksums(files).read_text().splitlines():
        digest, name = line.split("  ")
        assert digest == hashlib.sha256((built / name).read_bytes()).hexdigest()


def test_a_missing_or_older_file_is_refused(built: Path) -> None:
    write_npm(built, "0.0.1")
    with pytest.raises(release.ReleaseError, match=r"has version 0\.0\.1"):
        release.check(built, _VERSION)
    (built / "sbom.cdx.json").unlink()
    write_npm(built, _VERSION)
    with pytest.raises(release.ReleaseError, match=r"0 files sbom\.cdx\.json"):
        release.check(built, _VERSION)


def test_the_container_copies_what_exists_and_ignores_what_is_installed() -> None:
    lines = (_ROOT / "Containerfile").read_text("utf-8").replace("\\\n", " ").splitlines()
    copied = [line.split()[1:] for line in lines if line.startswith("COPY")]
    for *sources, _ in copied:
        for source in (each for each in sources if not each.startswith(("--from", "/wheels"))):
            assert (_ROOT / source.removeprefix("/source/")).exists(), source
    ran = " ".join(line for line in lines if line.startswith("RUN"))
    for lock in re.findall(r"\S+\.lock", ran):
        assert (_ROOT / "requirements" / Path(lock).name).is_file(), lock
    assert {".git", "**/node_modules", ".venv*"} <= set(
        (_ROOT / ".dockerignore").read_text("utf-8").split()
    )
