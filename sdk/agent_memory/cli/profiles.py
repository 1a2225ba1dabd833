"""The profile file: URLs and keys of servers, which only its owner may read."""

import fcntl
import json
import os
import stat
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_memory.cli.failures import UsageFailure

DEFAULT = "default"
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True)
class Profile:
    """A server's URL and a key for it; the key shows in no `repr`."""

    url: str
    api_key: str = field(repr=False)


Profiles = Mapping[str, Profile]


def profile_file(environment: Mapping[str, str]) -> Path:
    """Return the path of the profile file: under `XDG_CONFIG_HOME`, or `~/.config`."""
    given = environment.get("XDG_CONFIG_HOME", "")
    folder = Path(given) if Path(given).is_absolute() else Path.home() / ".config"
    return folder / "agent-memory" / "profiles.toml"


def read_profiles(file: Path) -> Profiles:
    """Return all profiles by name; none if there is no file.

    Raises:
        UsageFailure: others may read the file, or its content is invalid.
    """
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UsageFailure(f"can't read {file}: {error.strerror}") from error
    with os.fdopen(descriptor, "rb") as opened:
        _assert_private(file, os.fstat(descriptor))
        return _profiles(file, opened.read())


def _assert_private(file: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise UsageFailure(f"{file} is not a regular file")
    if status.st_uid != os.getuid():
        raise UsageFailure(f"{file} belongs to another user; its keys aren't used")
    if status.st_mode & _OTHERS:
        raise UsageFailure(
            f"{file} holds keys and others may read or change it; run: chmod 600 '{file}'"
        )


def _profiles(file: Path, text: bytes) -> Profiles:
    try:
        document = tomllib.loads(text.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageFailure(f"{file} is not TOML: {_without_text(error)}") from error
    return {name: _profile(file, name, fields) for name, fields in document.items()}


def _without_text(error: Exception) -> str:
    """Return the problem and its place; a decoder's own message may quote the file."""
    return str(error) if isinstance(error, tomllib.TOMLDecodeError) else "it isn't UTF-8"


def _profile(file: Path, name: str, fields: Any) -> Profile:
    known = isinstance(fields, dict) and fields.keys() == {"url", "api_key"}
    if not known or not all(isinstance(text, str) for text in fields.values()):
        raise UsageFailure(
            f"{file}: [{name}] must have url and api_key, both texts, and nothing else"
        )
    return Profile(fields["url"], fields["api_key"])


def change_profiles(file: Path, change: Callable[[dict[str, Profile]], None]) -> None:
    """Change the profiles atomically: readers see the file before or after the change.

    Args:
        file: the profile file; created with its folder if needed.
        change: changes the profiles by name; other changes wait.

    Raises:
        UsageFailure: the file can't be read or written.
    """
    target = file.resolve()
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _alone_in(target.parent):
            profiles = dict(read_profiles(target))
            change(profiles)
            _replace(target, _rendered(profiles))
    except OSError as error:
        raise UsageFailure(f"can't write {file}: {error.strerror}") from error


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _replace(target: Path, text: str) -> None:
    descriptor, new = tempfile.mkstemp(prefix=".profiles-", dir=target.parent)  # mode 0600
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
            opened.write(text)
            opened.flush()
            os.fsync(descriptor)
        Path(new).replace(target)
    except BaseException:
        Path(new).unlink()
        raise


def _rendered(profiles: Profiles) -> str:
    tables = [
        f"[{_quoted(name)}]\nurl = {_quoted(each.url)}\napi_key = {_quoted(each.api_key)}\n"
        for name, each in sorted(profiles.items())
    ]
    return "\n".join(tables)


def _quoted(text: str) -> str:
    """Return a basic string of TOML, which escapes as JSON does, and also DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
