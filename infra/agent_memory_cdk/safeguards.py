"""Watch for changes of the data's protection: keys and point-in-time recovery."""

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_events as events
from constructs import Construct

from .metrics import of_rule
from .nag_suppressions import suppress
from .state import State

_BY_TRAIL = "AWS API Call via CloudTrail"


class Safeguards(Construct):
    """A rule on the account's CloudTrail events; its metric counts the changes.

    It needs a trail of management events, which the account has or the operator creates.

    Attributes:
        metric: the number of changes.
    """

    def __init__(self, scope: Construct, id: str, state: State) -> None:
        super().__init__(scope, id)
        encryption, tables = state.encryption, state.tables
        names = [
            *(tables.memory_name, tables.log_name),
            *(tables.memory.table_arn, tables.log.table_arn),
        ]
        rule = events.Rule(
            self,
            "Rule",
            description="agent-memory: keys are disabled, or point-in-time recovery is changed",
            event_pattern=events.EventPattern(
                source=["aws.kms", "aws.dynamodb"],
                detail_type=[_BY_TRAIL],
                detail={
                    "$or": [
                        {
                            "eventName": ["DisableKey", "ScheduleKeyDeletion"],
                            "resources": {
                                "ARN": [encryption.storage.key_arn, encryption.values.key_arn]
                            },
                        },
                        {
                            "eventName": ["UpdateContinuousBackups"],
                            "requestParameters": {"tableName": names},
                        },
                    ]
                },
            ),
        )
        suppress(
            rule, "it has no target: its metric counts what it matches", "Serverless-EventBusDLQ"
        )
        self.metric: cloudwatch.Metric = of_rule(rule.rule_name)
