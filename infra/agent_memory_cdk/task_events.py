"""Task events of other systems: a rule that sends them to a function, and a queue of failures."""

from aws_cdk import Duration
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from .dead_letters import DeadLetters
from .lambda_function import LambdaFunction
from .settings import TaskEventSource

_TRIED_FOR = Duration.hours(6)
_RETRIES = 2


class TaskEvents(Construct):
    """A rule on a bus of the account. Undelivered and rejected events are in the queue."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        source: TaskEventSource,
        function: LambdaFunction,
    ) -> None:
        super().__init__(scope, id)
        self.dead_letters = DeadLetters(self, "DeadLetters", None)
        rule = events.Rule(
            self,
            "Rule",
            description="agent-memory: task events of other systems",
            event_bus=self._bus(source),
            event_pattern=events.EventPattern(source=source.names),
        )
        rule.add_target(
            targets.LambdaFunction(
                function.alias,
                dead_letter_queue=self.dead_letters.queue,
                max_event_age=_TRIED_FOR,
            )
        )
        self._bury_refusals(function)

    def _bury_refusals(self, function: LambdaFunction) -> None:
        queue_arn = self.dead_letters.queue.queue_arn
        invocations = lambda_.CfnEventInvokeConfig(
            self,
            "Invocations",
            function_name=function.function.function_name,
            qualifier=function.alias.alias_name,
            maximum_event_age_in_seconds=_TRIED_FOR.to_seconds(),
            maximum_retry_attempts=_RETRIES,
            destination_config={"onFailure": {"destination": queue_arn}},
        )
        invocations.node.add_dependency(function.alias)
        function.role.add_to_policy(
            iam.PolicyStatement(actions=["sqs:SendMessage"], resources=[queue_arn])
        )

    def _bus(self, source: TaskEventSource) -> events.IEventBus | None:
        """Find the named bus; None for the account's default."""
        if source.bus_arn is None:
            return None
        return events.EventBus.from_event_bus_arn(self, "Bus", source.bus_arn)
