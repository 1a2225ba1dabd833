"""A simulated DynamoDB keeps its tables and its change stream over restarts."""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from functions.local import database
from functions.local.settings import StartupError
from functions.local.simulation import URL, Journal, Simulation
from functions.platform.aws import create_client
from functions.platform.schema import build_memory_table

KEY = {"pk": {"S": "a"}, "sk": {"S": "1"}}


class Opened:
    """A simulation with the memory table, on a file."""

    def __init__(self, simulation: Simulation) -> None:
        self.trim = simulation.trim
        self.dynamodb, self.streams = create_client("dynamodb"), create_client("dynamodbstreams")
        database.ensure_tables(build_memory_table("memory"))

    def put(self, sk: str, **attributes: Any) -> None:
        item = {"pk": {"S": "a"}, "sk": {"S": sk}} | attributes
        self.dynamodb.put_item(TableName="memory", Item=item)

    def keys(self) -> list[str]:
        return [each["sk"]["S"] for each in self.dynamodb.scan(TableName="memory")["Items"]]

    def arn(self) -> str:
        return str(self.dynamodb.describe_table(TableName="memory")["Table"]["LatestStreamArn"])

    def records(self, after: int | None = None) -> list[tuple[int, str]]:
        """The numbers and kinds of changes that the stream has."""
        shard = self.streams.describe_stream(StreamArn=self.arn())["StreamDescription"]["Shards"][0]
        place = (
            {"ShardIteratorType": "TRIM_HORIZON"}
            if after is None
            else {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": str(after)}
        )
        iterator = self.streams.get_shard_iterator(
            StreamArn=self.arn(), ShardId=shard["ShardId"], **place
        )
        found = self.streams.get_records(ShardIterator=iterator["ShardIterator"])["Records"]
        return [(int(each["dynamodb"]["SequenceNumber"]), each["eventName"]) for each in found]


@contextmanager
def opened(file: Path) -> Iterator[Opened]:
    with closing(Journal(file)) as journal, patch.dict(os.environ):
        simulation = Simulation(journal)
        with simulation.connect():
            database.use_only(URL)
            yield Opened(simulation)


def test_items_and_unread_changes_are_there_after_a_restart(tmp_path: Path) -> None:
    binary = b"\xff\x00"
    others: Any = {"b": {"B": binary}, "bs": {"BS": [binary]}, "m": {"M": {"B": {"S": "a"}}}}
    with opened(tmp_path / "journal.db") as first:
        first.put("1", value={"S": "old"})
        first.put("2")
        first.put("1", value={"S": "new"}, **others)
        first.dynamodb.delete_item(TableName="memory", Key={"pk": {"S": "a"}, "sk": {"S": "2"}})
        arn, records = first.arn(), first.records()
    with opened(tmp_path / "journal.db") as again:
        assert again.keys() == ["1"]
        found = again.dynamodb.get_item(TableName="memory", Key=KEY)["Item"]
        assert found["value"] == {"S": "new"}
        assert (found["b"], found["bs"], found["m"]) == (
            {"B": "/wA="},
            {"BS": ["/wA="]},
            others["m"],
        )
        assert (again.arn(), again.records()) == (arn, records)
        assert [name for _, name in records] == ["INSERT", "INSERT", "MODIFY", "REMOVE"]


def test_numbers_of_changes_continue_after_those_that_were_dropped(tmp_path: Path) -> None:
    for start, sk in enumerate("123"):
        with opened(tmp_path / "journal.db") as each:
            each.put(sk)
            assert each.records(after=start) == [(start + 1, "INSERT")]
            each.trim("memory", start + 1)
            assert each.records() == [(start + 1, "INSERT")]


def test_batches_and_transactions_are_kept_whole(tmp_path: Path) -> None:
    with opened(tmp_path / "journal.db") as first:
        put = {"PutRequest": {"Item": KEY}}
        first.dynamodb.batch_write_item(RequestItems={"memory": [put]})
        first.dynamodb.transact_write_items(
            TransactItems=[
                {"Delete": {"TableName": "memory", "Key": KEY}},
                {"Put": {"TableName": "memory", "Item": KEY | {"sk": {"S": "2"}}}},
            ]
        )
    with opened(tmp_path / "journal.db") as again:
        assert again.keys() == ["2"]


def test_a_cancelled_transaction_leaves_nothing(tmp_path: Path) -> None:
    with opened(tmp_path / "journal.db") as first:
        first.put("1", value={"S": "old"})
        with pytest.raises(first.dynamodb.exceptions.TransactionCanceledException):
            first.dynamodb.transact_write_items(
                TransactItems=[
                    {"Put": {"TableName": "memory", "Item": KEY | {"sk": {"S": "2"}}}},
                    {"Delete": {"TableName": "memory", "Key": KEY}},
                    {
                        "ConditionCheck": {
                            "TableName": "memory",
                            "Key": KEY | {"sk": {"S": "3"}},
                            "ConditionExpression": "attribute_exists(pk)",
                        }
                    },
                ]
            )
        assert (first.keys(), len(first.records())) == (["1"], 1)
        first.put("4")
        assert len(first.records(after=1)) == 1
    with opened(tmp_path / "journal.db") as again:
        assert again.keys() == ["1", "4"]


def test_a_file_that_is_no_journal_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "journal.db").write_text("this is no database" * 100)
    with pytest.raises(StartupError, match=r"journal\.db") as error:
        Journal(tmp_path / "journal.db")
    assert "\n" not in str(error.value)
