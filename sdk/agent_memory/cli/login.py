"""The commands on profiles: login, logout, profiles. Keys are read from stdin, and never shown."""

import getpass
import os
import re
import sys
from typing import Any
from urllib.parse import urlsplit

from agent_memory.cli.arguments import add_command, parse_text
from agent_memory.cli.connection import check_profile, connect, parse_document
from agent_memory.cli.failures import Failure, UsageFailure
from agent_memory.cli.output import Output, note
from agent_memory.cli.profiles import (
    DEFAULT,
    Profile,
    change_profiles,
    profile_file,
    read_profiles,
)

_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")
_WHO = ("tenant", "id", "kind")
_MOST_KEY = 1024  # bytes
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def add_commands(commands: Any) -> None:
    """Add the commands on profiles; the program runs them, since they need no client."""
    command = add_command(commands, "login", "store a server's key, read from stdin", None)
    command.add_argument("url", metavar="URL", type=parse_text)
    add_command(commands, "logout", "delete a profile", None)
    add_command(commands, "profiles", "list the profiles", None)


def login(name: str | None, url: str, timeout: float, output: Output) -> None:
    """`login URL`: checks the key from stdin, and stores it under a profile's name."""
    chosen = _check_name(name)
    api_key = _key()
    if not api_key:
        raise UsageFailure("stdin has no API key; pipe it in: agent-memory login URL < FILE")
    profile = check_profile(url, api_key)
    if urlsplit(profile.url).scheme == "http" and urlsplit(profile.url).hostname not in _LOOPBACK:
        note("warning: over http the key can be read on its way; use https")
    with connect(profile, timeout) as client:
        who = parse_document(client.request("GET", "/api/v1/me"), *_WHO)
    change_profiles(profile_file(os.environ), lambda profiles: profiles.update({chosen: profile}))
    shown = {"profile": chosen, "url": profile.url}
    shown |= {name: who[name] for name in _WHO}
    output.document(shown, shown)


def _check_name(name: str | None) -> str:
    if name is not None and not _NAME.fullmatch(name):
        raise UsageFailure("a profile's name must have at most 64 letters, digits, dots, - and _")
    return name or DEFAULT


def _key() -> str:
    """Return the key: typed without an echo at a terminal, else the first line of stdin."""
    if sys.stdin.isatty():
        return getpass.getpass("API key: ").strip()
    return sys.stdin.buffer.readline(_MOST_KEY).decode(errors="replace").strip()


def logout(name: str | None, output: Output) -> None:
    """`logout`: deletes a profile; its key stays valid until an admin revokes it."""
    chosen = name or DEFAULT

    def forget(profiles: dict[str, Profile]) -> None:
        if profiles.pop(chosen, None) is None:
            raise Failure(f"there is no profile {chosen}")

    change_profiles(profile_file(os.environ), forget)
    output.document({"forgotten": chosen}, {"forgotten": chosen})


def list_profiles(output: Output) -> None:
    """`profiles`: the names and servers of all profiles, without their keys."""
    profiles = read_profiles(profile_file(os.environ))
    shown = [{"profile": name, "url": each.url} for name, each in sorted(profiles.items())]
    output.documents(shown, ("PROFILE", "URL"), lambda each: (each["profile"], each["url"]))
