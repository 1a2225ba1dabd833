"""Test what reaches a terminal or a pipe: harmless, aligned, complete; and clean ends."""

import os
import signal
import unicodedata

import pytest

from tests.sdk.cli.conftest import Tenant
from tests.sdk.cli.filling import fill
from tests.sdk.cli.terminal import PATIENCE, Cli, Ended

HOSTILE = "\x1b]0;owned\x07\x1b[2J\r\n\t\x00\x7f\x9b31m\u202e\u2066\u200b\u2028\ufeff\U000e0041"
NARROWEST = 7 * 8 + 6 * 2  # columns of the narrowest table of entries
VISIBLE = r"\x1b]0;owned\x07\x1b[2J\r\n\t\x00\x7f\x9b31m\u202e\u2066\u200b\u2028\ufeff\U000e0041"


def assert_harmless(shown: str) -> None:
    """Nothing but lines of visible characters."""
    bad = [c for c in shown if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")]
    assert bad == []


def test_hostile_names_and_values_are_shown_harmless(tenant: Tenant) -> None:
    tenant.create(namespace=HOSTILE, key=HOSTILE, tags=[HOSTILE], value={HOSTILE: HOSTILE})
    cli = tenant.cli()
    listed = cli("query")
    assert len(listed.out.splitlines()) == 2
    assert listed.out.count(VISIBLE) == 3
    (entry,) = cli("query", "--json").documents
    assert (entry["namespace"], entry["value"]) == (HOSTILE, {HOSTILE: HOSTILE})
    shown = [listed, *(cli(*args, entry["id"]) for args in (["get"], ["get", "--value"]))]
    shown += [cli("query", "--json"), cli("export"), cli("tail", "--json"), cli("tail")]
    for each in shown:
        assert each.code == 0
        assert_harmless(each.out + each.err)


def test_hostile_arguments_are_shown_harmless(cli: Cli) -> None:
    hostile = HOSTILE.replace("\x00", "")
    for arguments in (["get", hostile, "k"], [hostile], ["set", hostile, "k", hostile], ["tasks"]):
        ended = cli(*arguments)
        assert ended.code in (1, 2)
        assert_harmless(ended.err)
        assert len(ended.err.splitlines()) == 1


def test_a_table_fits_the_terminal_and_stays_aligned(tenant: Tenant) -> None:
    for number, name in enumerate(("請求書" * 9, "plain", "🤖 e\u0301" * 8, "x" * 250)):
        tenant.create(namespace=name, key=f"k{number}", value={"v": name})
    for columns in (30, 120):
        shown = tenant.cli().at_terminal(columns, "query").out.splitlines()
        assert len(shown) == 5
        assert max(map(_width, shown)) <= max(columns, NARROWEST)
        assert len({_width(line.partition("  working")[0]) for line in shown[1:]}) == 1


def _width(text: str) -> int:
    wide = sum(unicodedata.east_asian_width(each) in "WF" for each in text)
    return len(text) + wide - sum(unicodedata.combining(each) > 0 for each in text)


def test_a_pipe_is_never_cut(tenant: Tenant) -> None:
    tenant.create(namespace="n" * 255, key="k" * 255, value={"v": "v" * 5000})
    assert '{"v":"' + "v" * 5000 + '"}' in tenant.cli()("query").out


def test_json_is_utf_8_whatever_the_locale(tenant: Tenant) -> None:
    tenant.create(key="é🤖")
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for arguments in (["query", "--json"], ["export"]):
        assert tenant.cli().alone(*arguments, **plain).documents[0]["key"] == "é🤖"
    assert tenant.cli().alone("query", **plain).code == 0


def test_a_closed_pipe_ends_a_command_quietly(tenant: Tenant) -> None:
    fill(tenant.http, 100)
    for command in ("export", "query"):
        with tenant.cli().started(command) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.close()
            assert process.wait(PATIENCE) == 141
            assert process.stderr.read() == b""


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_tail_quietly(tenant: Tenant, sent: signal.Signals, code: int) -> None:
    tenant.create()
    with tenant.cli().started("tail", "--follow") as process:
        assert process.stdout is not None
        assert b"memory.created" in process.stdout.readline()
        process.send_signal(sent)
        out, err = process.communicate(timeout=PATIENCE)
        assert (process.returncode, out, err) == (code, b"", b"")


def test_no_command_shows_the_key(tenant: Tenant) -> None:
    cli = tenant.cli()
    shown: list[Ended] = [
        cli("login", cli.url or "", stdin=tenant.api_key),
        cli("profiles"),
        cli("profiles", "--json"),
        cli("query"),
        cli.at("http://127.0.0.1:9")("query"),
        cli("get", "no", "such"),
        cli("--profile", "default", "summary"),
    ]
    assert not any(tenant.api_key in each.out + each.err for each in shown)
    assert tenant.api_key in cli.profile_file.read_text()


def test_help_tells_commands_and_exit_codes(cli: Cli) -> None:
    told = cli("--help")
    assert told.code == 0
    for word in ("set", "export", "import", "login", "130  Ctrl-C", "AGENT_MEMORY_API_KEY"):
        assert word in told.out
    assert os.linesep in cli("import", "--help").out
