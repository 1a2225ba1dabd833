"""Test which records the stream's consumers take, and what happens to failed records."""

from functools import partial
from typing import Any

import pytest

from functions.platform.errors import Throttled
from functions.platform.items import encode_item
from functions.platform.parallel import WorkerPool
from functions.platform.settings import WrongSetting
from functions.stream.handler import build_filters, is_consumed, parse_consumers
from functions.stream.records import Change, StreamBatch, StreamRecord, order_by_turns
from functions.stream.vector_updater import coalesce_changes
from tests.unit.stream.test_events import ENTRY


def record(number: int, sort: str = "e#n#k", name: str = "INSERT") -> dict[str, Any]:
    keys = {"pk": {"S": "acme#a#x"}, "sk": {"S": sort}}
    return {"eventName": name, "dynamodb": {"SequenceNumber": str(number), "Keys": keys}}


def test_filters_pass_all_changes_of_entries_and_inserts_of_others() -> None:
    (changes, inserts) = build_filters(["events", "vectors"])
    assert changes == {"dynamodb": {"Keys": {"sk": {"S": [{"prefix": "e#"}]}}}}
    assert inserts["eventName"] == ["INSERT"]
    assert inserts["dynamodb"]["Keys"]["sk"]["S"] == [{"prefix": "m#"}]


def test_a_record_of_another_item_or_change_is_not_consumed() -> None:
    assert is_consumed(record(1, "e#n#k", "REMOVE"))
    assert is_consumed(record(1, "ep#x", "REMOVE"))
    assert is_consumed(record(1, "msg#g#1"))
    assert is_consumed(record(1, "m#x", "INSERT"))
    assert not is_consumed(record(1, "m#x", "REMOVE"))
    assert not is_consumed(record(1, "x##row"))
    assert not is_consumed(record(1, "a"))


def test_a_failed_record_blocks_the_later_ones_of_its_item() -> None:
    batch = StreamBatch([record(1), record(2, "e#n#other"), record(3), record(4)])
    first, other, third, fourth = batch.records
    batch.fail(third)
    assert batch.may_process(first)
    assert batch.may_process(other)
    assert not batch.may_process(fourth)
    assert batch.failed == ["3", "4"]
    assert batch.first_failed == 3


def test_an_earlier_failure_blocks_from_there_on() -> None:
    batch = StreamBatch([record(1), record(2), record(3)])
    first, second, third = batch.records
    batch.fail(third)
    batch.fail(first)
    assert not batch.may_process(second)
    assert sorted(batch.failed) == ["1", "2", "3"]


def test_a_record_that_cannot_be_decoded_is_skipped() -> None:
    broken = record(1)
    broken["dynamodb"]["NewImage"] = encode_item({"pk": "acme#a#x", "sk": "e#n#k"})
    batch = StreamBatch([broken, record(2, "run")])
    assert batch.changes == []
    assert batch.failed == []


def test_only_a_failure_of_a_service_has_a_record_delivered_again() -> None:
    batch = StreamBatch([record(1), record(2)])
    batch.fail(batch.records[0], ValueError("it can't be read"))
    assert batch.failed == []
    batch.fail(batch.records[1], Throttled("the store asks to slow down"))
    assert batch.failed == ["2"]


def change(number: int, old: int | None, new: int | None, nonce: str = "0" * 16) -> Change:
    """A change of an entry from one version to another."""
    before, after = (
        None if version is None else ENTRY._replace(version=version, nonce=nonce)
        for version in (old, new)
    )
    return Change(StreamRecord(str(number), ENTRY.item_key), before, after)


def test_updates_in_a_row_are_coalesced_into_the_last_state() -> None:
    ((only,),) = coalesce_changes([change(1, None, 1), change(2, 1, 2), change(3, 2, 3)])
    assert only.old is None
    assert only.new is not None
    assert only.new.version == 3


def test_a_removal_is_not_coalesced() -> None:
    changes = [change(1, None, 1), change(2, 1, None), change(3, None, 1, "1" * 16)]
    assert coalesce_changes(changes) == [changes]


def test_jobs_fail_apart_and_their_failures_are_merged() -> None:
    batch = StreamBatch([record(1), record(2), record(3, "e#n#other")])
    first, second, third = batch.records

    def fail(failing: StreamRecord, fork: StreamBatch) -> bool:
        fork.fail(failing)
        return all(batch.may_process(each) for each in (second, third))

    pool = WorkerPool("jobs", 2)
    assert batch.run(pool, [partial(fail, second), partial(fail, third)]) == [True, True]
    assert batch.failed == ["2", "3"]
    assert batch.may_process(first)


def test_tenants_take_turns() -> None:
    work = ["hog 1", "hog 2", "hog 3", "other 1", "third 1", "other 2"]
    ordered = order_by_turns(work, lambda each: each.split()[0])
    assert ordered == ["hog 1", "other 1", "third 1", "hog 2", "other 2", "hog 3"]


def test_a_consumer_that_there_is_not_is_a_wrong_setting() -> None:
    assert parse_consumers("vectors, events") == ["vectors", "events"]
    with pytest.raises(WrongSetting, match="STREAM_CONSUMERS"):
        parse_consumers("events,emails")


def test_filters_of_some_consumers_pass_only_what_these_take() -> None:
    assert build_filters(["vectors"]) == [{"dynamodb": {"Keys": {"sk": {"S": [{"prefix": "e#"}]}}}}]
