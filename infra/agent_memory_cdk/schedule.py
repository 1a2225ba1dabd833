"""The schedule: the sweep, every minute."""

import json

from aws_cdk import Aws, Duration
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_scheduler as scheduler
from constructs import Construct

from .dead_letters import DeadLetters
from .encryption import Encryption
from .lambda_function import LambdaFunction
from .nag_suppressions import suppress

_NEXT = Duration.minutes(1)  # the next sweep does the work of a failed one


class Schedule(Construct):
    """Invokes a function each minute, once for each part of the due items.

    Args:
        parts: the number of parts; a single part gets the plain event of EventBridge Scheduler.

    Attributes:
        names: of the schedules.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        function: LambdaFunction,
        encryption: Encryption,
        parts: int = 1,
        *,
        is_enabled: bool = True,
    ) -> None:
        super().__init__(scope, id)
        self.dead_letters = DeadLetters(self, "DeadLetters", encryption)
        role = self._role(function, encryption)
        self._retry_no_sweep(function)
        self._state = "ENABLED" if is_enabled else "DISABLED"
        self.names: list[str] = []
        for part in range(parts):
            event = {"input": json.dumps({"part": part, "parts": parts})} if parts > 1 else {}
            self._add_schedule(f"Schedule{part or ''}", function, role, event)

    def _add_schedule(
        self, id: str, function: LambdaFunction, role: iam.Role, event: dict[str, str]
    ) -> None:
        schedule = scheduler.CfnSchedule(
            self,
            id,
            description="agent-memory: processes due items",
            schedule_expression="rate(1 minute)",
            state=self._state,
            flexible_time_window={"mode": "OFF"},
            target={
                "arn": function.alias.function_arn,
                "roleArn": role.role_arn,
                "deadLetterConfig": {"arn": self.dead_letters.queue.queue_arn},
                "retryPolicy": {
                    "maximumEventAgeInSeconds": _NEXT.to_seconds(),
                    "maximumRetryAttempts": 2,
                },
                **event,
            },
        )
        schedule.node.add_dependency(role)
        self.names.append(schedule.ref)

    def _retry_no_sweep(self, function: LambdaFunction) -> None:
        invocations = lambda_.CfnEventInvokeConfig(
            self,
            "Invocations",
            function_name=function.function.function_name,
            qualifier=function.alias.alias_name,
            maximum_event_age_in_seconds=_NEXT.to_seconds(),
            maximum_retry_attempts=0,
        )
        invocations.node.add_dependency(function.alias)
        suppress(
            invocations,
            "a sweep that failed has nothing to replay: the next one does what it left",
            "Serverless-LambdaAsyncFailureDestination",
        )

    def _role(self, function: LambdaFunction, encryption: Encryption) -> iam.Role:
        role = iam.Role(
            self,
            "Role",
            description="agent-memory: what the schedule may invoke",
            assumed_by=iam.ServicePrincipal(
                "scheduler.amazonaws.com",
                conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}},
            ),
        )
        role.add_to_policy(
            iam.PolicyStatement(
                actions=["lambda:InvokeFunction"], resources=[function.alias.function_arn]
            )
        )
        role.add_to_policy(
            iam.PolicyStatement(
                actions=["sqs:SendMessage"], resources=[self.dead_letters.queue.queue_arn]
            )
        )
        encryption.grant_send(role)
        return role
