"""An import that is run again, after its end or after a `kill -9`, ends in the same state."""

import itertools
import json
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from agent_memory import Client
from agent_memory.cli.importing import Import
from agent_memory.cli.lines import read_lines

from tests.sdk.cli.conftest import Tenant
from tests.sdk.cli.filling import content, fill
from tests.sdk.cli.terminal import PATIENCE
from tests.sdk.fault_proxy import Exchange, proxy_to


def line(key: str) -> dict[str, Any]:
    return {"namespace": "again", "key": key, "value": {}, "memory_type": "working"}


def test_an_import_run_twice_changes_nothing_the_second_time(
    tenant: Tenant, another: Tenant
) -> None:
    fill(tenant.http, 60, tags=["a"])
    exported = tenant.cli()("export").out
    assert another.cli()("import", stdin=exported).code == 0
    before = another.cli()("export").out
    again = another.cli()("--json", "import", stdin=exported)
    assert again.document["written"] + again.document["unchanged"] == 60
    assert another.cli()("export").out == before
    lines = exported.splitlines(keepends=True)
    shuffled = another.cli()("--json", "import", stdin="".join(lines[57:27:-1]))
    assert shuffled.document["unchanged"] == 30
    assert another.cli()("export").out == before


def test_what_an_earlier_run_wrote_counts_as_unchanged(tenant: Tenant) -> None:
    text = b"".join(json.dumps(line(key)).encode() + b"\n" for key in ("a", "b", "c"))
    later = datetime(2199, 1, 1, tzinfo=UTC)
    outcomes = []
    with Client(tenant.server.address, tenant.api_key) as client:
        for now, lines in ((None, text), (later, text), (later, text.splitlines()[0])):
            run = Import(client, "fail", now)
            run.run(read_lines(BytesIO(lines), print), lambda: None)
            outcomes.append((run.counts["written"], run.counts["unchanged"]))
    assert outcomes == [(3, 0), (0, 3), (0, 1)]


def test_a_second_run_costs_no_more_than_the_first(tenant: Tenant, another: Tenant) -> None:
    fill(tenant.http, 100)
    exported = tenant.cli()("export").out
    with proxy_to(another.server.address) as proxy:
        for _ in range(2):
            proxy.plan()
            assert another.cli().at(proxy.address)("import", stdin=exported).code == 0
            assert len(proxy.requests) == 1 + 100 / 50


def test_batches_take_what_one_write_can_hold(tenant: Tenant, another: Tenant) -> None:
    fill(tenant.http, 60, memory_type="semantic", tags=["a", "b", "c"])
    exported = tenant.cli()("export").out
    with proxy_to(another.server.address) as proxy:
        assert another.cli().at(proxy.address)("import", stdin=exported).code == 0
        assert len(proxy.requests) < 11


def test_what_was_deleted_since_is_written_again(tenant: Tenant, another: Tenant) -> None:
    fill(tenant.http, 20)
    exported = tenant.cli()("export")
    assert another.cli()("import", stdin=exported.out).code == 0
    assert another.cli()("rm", "ns", "k7").code == 0
    again = another.cli()("--json", "import", stdin=exported.out).document
    assert again["written"] + again["unchanged"] == 20
    assert content(another.cli()("export").documents) == content(exported.documents)


@pytest.mark.parametrize(
    ("tier", "count", "landed"), [("episodic", 110, True), ("semantic", 40, False)]
)
def test_an_import_that_is_killed_is_simply_run_again(
    tenant: Tenant, another: Tenant, tmp_path: Path, tier: str, count: int, landed: bool
) -> None:
    fill(tenant.http, count, tags=["a", "b"], memory_type=tier)
    file = tmp_path / "entries.jsonl"
    assert tenant.cli()("export", "-o", file).code == 0
    with (
        proxy_to(another.server.address) as proxy,
        another.cli().at(proxy.address).started("import", file) as process,
    ):
        batches = 0  # that were answered

        def kill(exchange: Exchange) -> None:
            nonlocal batches
            if exchange.request.method == "GET" or batches < 1:
                answer = exchange.forward()
                batches += exchange.request.method == "POST" and b" 200 " in answer[:20]
                exchange.send(answer)
                return
            if landed:
                exchange.forward()
            process.kill()
            exchange.await_hang_up()

        proxy.follow(itertools.repeat(kill))
        assert process.wait(PATIENCE) == -9
    done = len(another.cli()("export").documents)
    assert 0 < done < count
    again = another.cli()("import", file)
    assert again.code == 0, again.err
    exported = [json.loads(line) for line in file.read_text().splitlines()]
    assert content(another.cli()("export").documents) == content(exported)
    assert all(each["version"] == 1 for each in another.cli()("export").documents)
