"""Test the sources of the key: the environment, or a file that only its owner can read."""

import fcntl
import os
import pty
import stat
import subprocess
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from tests.sdk.cli.conftest import Tenant
from tests.sdk.cli.terminal import PATIENCE, PROGRAM, Cli, shown_at


@pytest.fixture
def logged_in(tenant: Tenant) -> Cli:
    """A command line without anything in its environment, after a login."""
    cli = replace(tenant.cli(), url=None, api_key=None)
    ended = cli("login", tenant.server.address + "/", stdin=f"{tenant.api_key}\n")
    assert ended.code == 0, ended.err
    return cli


def test_a_login_keeps_the_key_for_its_owner_alone(tenant: Tenant, logged_in: Cli) -> None:
    file = logged_in.profile_file
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    wanted = {"url": tenant.server.address, "api_key": tenant.api_key}
    assert tomllib.loads(file.read_text()) == {"default": wanted}
    assert logged_in("summary", "--json").document["agent_id"] == "admin"


def test_profiles_stand_beside_each_other(tenant: Tenant, logged_in: Cli) -> None:
    key = tenant.agent("agent_1")
    named = logged_in("login", tenant.server.address, "--profile", "agent.1", stdin=key)
    assert "id       agent_1\n" in named.out
    assert [each["profile"] for each in logged_in("profiles", "--json").documents] == [
        "agent.1",
        "default",
    ]
    assert logged_in("--profile", "agent.1", "summary", "--json").document["agent_id"] == "agent_1"
    assert logged_in("logout", "--profile", "agent.1").code == 0
    gone = logged_in("--profile", "agent.1", "summary")
    assert (gone.code, "there is no profile 'agent.1'" in gone.err) == (2, True)
    assert logged_in("summary").code == 0


def test_a_file_that_others_may_touch_is_refused(logged_in: Cli) -> None:
    for mode in (0o640, 0o604, 0o620, 0o777):
        logged_in.profile_file.chmod(mode)
        refused = logged_in("summary")
        assert refused.code == 2, oct(mode)
        assert f"chmod 600 '{logged_in.profile_file}'" in refused.err
    assert logged_in("login", "http://127.0.0.1:1", stdin="am_x").code != 0
    logged_in.profile_file.chmod(0o600)
    assert logged_in("summary").code == 0


BROKEN = (
    b"[default",
    b"\xff",
    b"[default]\nurl = 1\napi_key = 2",
    b'[default]\napi_key = "am_secret"',
)


def test_a_broken_file_is_refused_without_its_content(logged_in: Cli) -> None:
    for text in BROKEN:
        logged_in.profile_file.write_bytes(text)
        refused = logged_in("summary")
        assert refused.code == 2, text
        assert str(logged_in.profile_file) in refused.err
        assert "am_secret" not in refused.err


def test_something_else_than_a_file_is_refused(logged_in: Cli) -> None:
    logged_in.profile_file.unlink()
    os.mkfifo(logged_in.profile_file, 0o600)
    refused = logged_in("summary")
    assert (refused.code, "is not a regular file" in refused.err) == (2, True)


def test_a_link_to_the_file_stays_a_link(tenant: Tenant, logged_in: Cli, tmp_path: Path) -> None:
    kept = tmp_path / "kept.toml"
    logged_in.profile_file.rename(kept)
    logged_in.profile_file.symlink_to(kept)
    assert logged_in("login", tenant.server.address, stdin=tenant.agent("a")).code == 0
    assert logged_in.profile_file.is_symlink()
    assert logged_in("summary", "--json").document["agent_id"] == "a"


def test_a_login_with_a_bad_key_changes_nothing(tenant: Tenant, logged_in: Cli) -> None:
    before = logged_in.profile_file.read_bytes()
    for key, code in (("am_wrong", 4), ("", 2), ("two words", 2), ("é", 2)):
        ended = logged_in("login", tenant.server.address, stdin=key)
        assert ended.code == code
        assert not key or key not in ended.err
    assert logged_in.profile_file.read_bytes() == before
    assert list(logged_in.profile_file.parent.iterdir()) == [logged_in.profile_file]


URLS = ("ftp://x", "x", "http://", "http://user:secret@x", "http://x/?k=1", "http://x:99999")


def test_a_url_that_can_not_be_right_is_refused(cli: Cli) -> None:
    for url in URLS:
        refused = cli("login", url, stdin="am_x")
        assert refused.code == 2, url
        assert "secret" not in refused.err


def test_the_environment_comes_before_the_default_profile(tenant: Tenant, logged_in: Cli) -> None:
    key = tenant.agent("agent_2")
    both = replace(logged_in, url=tenant.server.address, api_key=key)
    assert both("summary", "--json").document["agent_id"] == "agent_2"
    assert both("--profile", "default", "summary", "--json").document["agent_id"] == "admin"


def test_a_profiles_key_goes_to_no_other_server(logged_in: Cli) -> None:
    refused = logged_in.at("http://127.0.0.1:9")("summary")
    assert refused.code == 2
    assert "AGENT_MEMORY_URL is set without AGENT_MEMORY_API_KEY" in refused.err


def test_an_empty_variable_counts_as_unset(logged_in: Cli) -> None:
    empty = logged_in.alone("summary", "--json", AGENT_MEMORY_URL="", AGENT_MEMORY_API_KEY="")
    assert empty.document["agent_id"] == "admin"


def test_without_any_key_the_user_is_told_what_to_do(tmp_path: Path) -> None:
    told = Cli(tmp_path)("query")
    assert told.code == 2
    assert "set AGENT_MEMORY_URL and AGENT_MEMORY_API_KEY, or run: agent-memory login" in told.err


def test_logins_at_once_wait_for_each_other(tenant: Tenant, logged_in: Cli) -> None:
    folder = os.open(logged_in.profile_file.parent, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    login = subprocess.Popen(
        [*PROGRAM, "login", tenant.server.address, "--profile", "late"],
        env=logged_in.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )
    assert login.stdin is not None
    login.stdin.write(f"{tenant.api_key}\n".encode())
    login.stdin.close()
    while not waits_for_a_lock(login.pid):
        assert login.poll() is None
    with logged_in.profile_file.open("a") as file:
        file.write('[early]\nurl = "http://localhost"\napi_key = "am_x"\n')
    os.close(folder)
    assert login.wait(PATIENCE) == 0
    kept = [each["profile"] for each in logged_in("profiles", "--json").documents]
    assert kept == ["default", "early", "late"]


def waits_for_a_lock(pid: int) -> bool:
    """Return whether a process waits for a lock that another one holds (Linux)."""
    locks = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
    return any("->" in words and str(pid) in words for words in locks)


def test_a_key_typed_at_a_terminal_is_not_shown(tenant: Tenant) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*PROGRAM, "login", tenant.server.address],
        env=tenant.cli().environment,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    shown = b""
    while b"API key: " not in shown:
        shown += os.read(ours, 1024)
    os.write(ours, f"{tenant.api_key}\n".encode())
    shown += b"".join(shown_at(ours))
    assert process.wait(PATIENCE) == 0
    assert tenant.api_key.encode() not in shown
    assert tenant.api_key in tenant.cli().profile_file.read_text()
