"""The commands that let another Region write: what is lost, and what stays exact.

Two engines are two Regions, with a replicator that is behind until a test lets it go. Functions,
mapping and schedule of both are moto's; requests are answered with the settings of the version that
a function's alias is at.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import httpx
import pytest
from moto import mock_aws

from functions.platform.limits import SWITCH_SECONDS
from operations.regions import start_region, stop_region
from tests.contract import engines
from tests.contract.bodies import MEMORY, create, entry, read
from tests.contract.expect import ok, refused
from tests.contract.regions import FIRST, SECOND, Region, Replicator
from tests.contract.service import Service
from tests.contract.streaming import Stream
from tests.contract.test_standby_region import is_of_entry

pytestmark = [
    pytest.mark.in_process,
    pytest.mark.parametrize("engine", ["dynoxide"], indirect=True),
]
_RUNNING, _RESTING = {"ENABLED"}, {"DISABLED"}
_LONGEST_RUN, _LATENCIES = 60, 10  # seconds


class Pair(NamedTuple):
    """Two Regions, the changes of each, and what replicates those of the first."""

    first: Region
    second: Region
    changes: Stream
    later_changes: Stream
    replicator: Replicator
    key: str

    def replicate(self) -> None:
        """Let the second Region have all that the first one has written."""
        self.replicator.replicate(self.changes.read())


@pytest.fixture
def pair(service: Service, ada: httpx.Client) -> Iterator[Pair]:
    """The Region that writes, and the one that follows it."""
    with engines.dynoxide() as standby, mock_aws():
        standby.make_tables()
        other = replace(service, engine=standby)
        changes, replicator = Stream(service), Replicator(service.engine, standby)
        first, second = Region(FIRST, service), Region(SECOND, other, active=FIRST)
        key = ada.headers["X-API-Key"]
        yield Pair(first, second, changes, Stream(other), replicator, key)


def count(client: httpx.Client) -> int:
    """Return the number of entries by an agent's counters."""
    summary = ok(client.get("/api/v1/agents/ada/memory/summary"))
    return sum(int(summary[tier]["entry_count"]) for tier in ("working", "episodic"))


def test_a_planned_switch_loses_nothing_and_the_former_writer_is_fenced(
    pair: Pair, ada: httpx.Client
) -> None:
    made = [create(ada, entry(key=f"k{number}")) for number in range(3)]
    waited: list[float] = []

    def wait(seconds: float) -> None:
        waited.append(seconds)
        refused(pair.first.client(pair.key).post(MEMORY, json=entry()), 503, "UNAVAILABLE")
        pair.replicate()

    report = pair.first.operate(stop_region, SECOND, wait)
    assert report["switches"] == {"active_region": SECOND}
    assert waited == [SWITCH_SECONDS + _LONGEST_RUN, _LATENCIES]
    assert sum(waited) == report["waited_seconds"]
    assert (pair.first.background, pair.first.is_paged) == (_RESTING, False)
    assert pair.second.operate(start_region)["agents"] == 1
    assert (pair.second.background, pair.second.is_paged) == (_RUNNING, True)
    writer, former = pair.second.client(pair.key), pair.first.client(pair.key)
    for each in made:
        assert ok(read(writer, each["id"])) == ok(read(former, each["id"]))
        changed = {"value": {"text": "after the switch"}}
        ok(writer.patch(f"{MEMORY}/{each['id']}", json=changed, headers={"If-Match": "1"}))
        refused(former.delete(f"{MEMORY}/{each['id']}"), 503, "UNAVAILABLE")
    refused(writer.post(MEMORY, json=entry(key="k0")), 409, "ENTRY_EXISTS")
    ok(writer.post(MEMORY, json=entry(key="k3")), 201)
    assert pair.first.sweep() == {"read_only": 1}
    assert pair.second.sweep().get("repaired", 0) == 0
    assert pair.changes.read() == []


def test_a_lost_region_takes_what_was_not_replicated_and_counters_are_exact(
    pair: Pair, ada: httpx.Client
) -> None:
    kept = create(ada, entry(key="kept"))
    pair.replicate()
    create(ada, entry(key="half"))
    lost = create(ada, entry(key="lost"))
    late = pair.changes.read()
    arrived = [each for each in late if is_of_entry(each)][:1]
    pair.replicator.replicate(arrived)  # of a transaction, without its counters
    pair.second.operate(start_region)
    writer = pair.second.client(pair.key)
    assert ok(read(writer, kept["id"]))["version"] == 1
    refused(read(writer, lost["id"]), 404, "ENTRY_NOT_FOUND")
    assert pair.second.sweep()["repaired"] == 1
    anew = ok(writer.post(MEMORY, json=entry(key="lost")), 201)

    pair.first.operate(stop_region, SECOND, lambda _: None)  # it is back
    refused(pair.first.client(pair.key).post(MEMORY, json=entry()), 503, "UNAVAILABLE")
    unsent = [each for each in late if each not in arrived]
    pair.replicator.replicate(unsent, but=pair.later_changes.read())
    pair.second.operate(start_region)
    pair.second.sweep()
    assert ok(read(writer, anew["id"])) == anew
    keys = {each["key"] for each in ok(writer.get(f"{MEMORY}?agent_id=ada"))["entries"]}
    assert keys == {"kept", "half", "lost"}
    assert count(writer) == len(keys)
