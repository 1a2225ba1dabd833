"""The change stream: from the memory table to the stream function; failures to a queue."""

import json
from collections.abc import Sequence

from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from functions.stream.handler import build_filters

from .dead_letters import DeadLetters
from .encryption import Encryption
from .lambda_function import LambdaFunction
from .nag_suppressions import suppress, wildcard_rule
from .tables import Tables, TableStream

_BATCH = 200  # at 5 ms a call their logs take 130 ms
_RETRIES = -1  # until the record is too old: repairing a key or table may take hours
_MOST_SECONDS = 14_400  # the stream keeps records for a day; 20 hours remain for a replay


class Stream(Construct):
    """Delivers the table's changes to consumers, in order; failures become dead letters."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        tables: Tables,
        function: LambdaFunction,
        consumers: Sequence[str],
        encryption: Encryption,
        *,
        parallelism: int,
        is_enabled: bool = True,
        batch: int = _BATCH,
    ) -> None:
        """`batch` is the maximum number of records of an invocation."""
        super().__init__(scope, id)
        self._parallelism = parallelism
        self.dead_letters = DeadLetters(self, "DeadLetters", encryption)
        self._grant_send_dead_letters(function.role, encryption)
        self._is_enabled = is_enabled
        self._batch = batch
        for stream in tables.streams:
            self._grant_read(function.role, stream)
            self._add_mapping(stream, function, consumers)

    def _add_mapping(
        self, stream: TableStream, function: LambdaFunction, consumers: Sequence[str]
    ) -> None:
        mapping = lambda_.CfnEventSourceMapping(
            self,
            f"Mapping{stream.name}",
            enabled=self._is_enabled,
            function_name=function.alias.function_arn,
            event_source_arn=stream.arn,
            starting_position="TRIM_HORIZON",
            batch_size=self._batch,
            parallelization_factor=self._parallelism,
            bisect_batch_on_function_error=True,
            maximum_retry_attempts=_RETRIES,
            maximum_record_age_in_seconds=_MOST_SECONDS,
            function_response_types=["ReportBatchItemFailures"],
            filter_criteria={
                "filters": [{"pattern": json.dumps(each)} for each in build_filters(consumers)]
            },
            destination_config={"onFailure": {"destination": self.dead_letters.queue.queue_arn}},
        )
        mapping.node.add_dependency(function.role)

    def _grant_read(self, role: iam.Role, stream: TableStream) -> None:
        reads = ("DescribeStream", "GetRecords", "GetShardIterator")
        role.add_to_policy(
            iam.PolicyStatement(
                actions=[f"dynamodb:{action}" for action in reads],
                resources=[stream.arn],
            )
        )
        role.add_to_policy(
            iam.PolicyStatement(actions=["dynamodb:ListStreams"], resources=[stream.all_arns])
        )
        suppress(
            role,
            "ListStreams is asked of a table, not of one stream",
            wildcard_rule(role, stream.all_arns),
        )

    def _grant_send_dead_letters(self, role: iam.Role, encryption: Encryption) -> None:
        role.add_to_policy(
            iam.PolicyStatement(
                actions=["sqs:SendMessage"], resources=[self.dead_letters.queue.queue_arn]
            )
        )
        encryption.grant_send(role)
