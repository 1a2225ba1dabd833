"""`agent-memory export`: exact and whole, while others write (JSON Lines, oldest first)."""

import itertools
import json
import os
import signal
import stat
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from agent_memory.cli import transfer

from tests.sdk.cli.conftest import Tenant
from tests.sdk.cli.filling import fill, in_order
from tests.sdk.cli.terminal import PATIENCE
from tests.sdk.fault_proxy import Exchange, Fault, passed, proxy_to


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands of this process take pages of 20, so that few entries are many pages."""
    monkeypatch.setattr(transfer, "_PAGE", 20)


def keys(entries: list[dict[str, Any]]) -> list[str]:
    return [each["key"] for each in entries]


@pytest.mark.usefixtures("small_pages")
def test_an_export_has_every_entry_as_the_service_answers_it(tenant: Tenant) -> None:
    made = fill(tenant.http, 43, tags=["a"], priority="high")
    made.append(tenant.create(namespace="shared", memory_type="semantic"))
    exported = tenant.cli()("export")
    assert exported.documents == in_order(made)
    assert exported.err == "agent-memory: exported 44 entries\n"


def test_an_export_takes_filters(tenant: Tenant) -> None:
    for key, tags in (("x", ["t"]), ("y", ["t"]), ("z", [])):
        tenant.create(key=key, tags=tags, memory_type="semantic" if key == "y" else "working")
    cli = tenant.cli()
    assert keys(cli("export", "--tag", "t").documents) == ["x", "y"]
    assert keys(cli("export", "--tag", "t", "--type", "working").documents) == ["x"]


def test_large_pages_are_walked_in_parts(tenant: Tenant) -> None:
    made = fill(tenant.http, 110, value={"pad": "é" * 30_000})
    assert tenant.cli()("export").documents == in_order(made)


def meddling(change: Callable[[int], None]) -> Iterator[Fault]:
    """Before each page but the first, something changes."""
    yield passed

    def changed_first(turn: int, exchange: Exchange) -> None:
        change(turn)
        exchange.send(exchange.forward())

    for turn in itertools.count():
        yield partial(changed_first, turn)


@pytest.mark.usefixtures("small_pages")
@pytest.mark.parametrize("meddle", ["replace", "create and delete"])
def test_what_stands_throughout_is_exported_once_whatever_others_write(
    tenant: Tenant, meddle: str
) -> None:
    made = fill(tenant.http, 70)
    volatile, stable = made[::3], made[1::3] + made[2::3]

    def change(turn: int) -> None:
        if meddle == "create and delete":
            fill(tenant.http, 3, namespace=f"new {turn}")
            for each in volatile[turn * 6 : turn * 6 + 6]:
                tenant.http.delete(f"/api/v1/memory/{each['id']}").raise_for_status()
        if meddle == "replace":
            fill(tenant.http, 1, namespace=f"new {turn}")
            each = stable[turn]
            patched = {"value": {"changed": turn}}
            tenant.http.patch(
                f"/api/v1/memory/{each['id']}", json=patched, headers={"If-Match": "1"}
            ).raise_for_status()

    with proxy_to(tenant.server.address) as proxy:
        proxy.follow(meddling(change))
        exported = tenant.cli().at(proxy.address)("export").documents
        assert len(proxy.requests) >= 3
    ids = [each["id"] for each in exported]
    assert len(ids) == len(set(ids))
    assert {each["id"] for each in stable} <= set(ids) <= {each["id"] for each in made}
    assert exported == in_order(exported)


def test_a_file_is_replaced_as_a_whole_and_for_its_owner(tenant: Tenant, tmp_path: Path) -> None:
    made = fill(tenant.http, 30)
    file = tmp_path / "entries.jsonl"
    file.write_text("old")
    file.chmod(0o644)
    exported = tenant.cli()("export", "-o", file)
    assert (exported.code, exported.out) == (0, "")
    assert f"exported 30 entries to {file}" in exported.err
    assert [json.loads(line) for line in file.read_text().splitlines()] == in_order(made)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGKILL])
def test_an_export_that_is_ended_leaves_the_file_as_it_was(
    tenant: Tenant, tmp_path: Path, sent: signal.Signals
) -> None:
    fill(tenant.http, 210)
    file = tmp_path / "entries.jsonl"
    file.write_text("old")
    with (
        proxy_to(tenant.server.address) as proxy,
        tenant.cli().at(proxy.address).started("export", "-o", file) as process,
    ):

        def end(exchange: Exchange) -> None:
            process.send_signal(sent)
            exchange.await_hang_up()

        proxy.plan(passed, end)
        process.wait(PATIENCE)
    assert file.read_text() == "old"
    left = [each.name for each in tmp_path.iterdir() if each != file]
    assert len(left) == (1 if sent == signal.SIGKILL else 0)
    assert tenant.cli()("export", "-o", file).code == 0
    assert len(file.read_text().splitlines()) == 210


def test_an_export_into_a_device_writes_to_it(tenant: Tenant, tmp_path: Path) -> None:
    tenant.create()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with tenant.cli().started("export", "-o", pipe) as process:
        assert json.loads(pipe.read_text())["key"] == "k"
        assert process.wait(PATIENCE) == 0
    assert pipe.is_fifo()


def test_progress_shows_at_a_terminal_only(tenant: Tenant, tmp_path: Path) -> None:
    fill(tenant.http, 60)
    shown = tenant.cli().at_terminal(60, "export", "-o", tmp_path / "out")
    assert shown.code == 0
    bar, _, rest = shown.out.rpartition("\x1b[K")
    assert "export  " in bar
    assert "entries" in bar
    assert rest.startswith("agent-memory: exported 60 entries")
    assert "\x1b" not in tenant.cli()("export").err
