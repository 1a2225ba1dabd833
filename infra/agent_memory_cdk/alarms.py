"""The alarms. Each one's description says what it means."""

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_sns as sns
from constructs import Construct

from functions.quotas.model import QUOTAS

from .http_api import HttpApi
from .lambda_function import LambdaFunction
from .metrics import (
    from_function,
    of_api,
    of_function,
    of_new_version,
    of_table,
    waiting_in,
)
from .schedule import Schedule
from .stream import Stream
from .tables import Tables
from .task_events import TaskEvents

_MISSING = cloudwatch.TreatMissingData
_FAILED_ANSWERS = 5  # within five minutes
_SLOW_MS = 3_000
_STALE_MS = 300_000
_LATE_MS = 1_800_000  # what has expired is to be out of storage within an hour


class Alarms(Construct):
    """Alarms that go to the topic that the deployment names, if it names one."""

    def __init__(self, scope: Construct, id: str, topic: sns.ITopic | None) -> None:
        super().__init__(scope, id)
        self.all: list[cloudwatch.Alarm] = []
        self._action = None if topic is None else actions.SnsAction(topic)

    def watch_api(self, name: str, api: HttpApi) -> list[cloudwatch.Alarm]:
        """Watch failing and slow responses; return the alarms."""
        failing = self._add(
            f"{name}Fail", "callers are answered with 5xx", of_api(api, "5xx"), _FAILED_ANSWERS
        )
        slow = self._add(
            f"{name}AreSlow",
            "one in a hundred answers takes over 3 seconds, for 15 minutes",
            of_api(api, "Latency", "p99"),
            _SLOW_MS,
            periods=3,
        )
        return [failing, slow]

    def watch_new_version(self, name: str, function: LambdaFunction) -> cloudwatch.Alarm:
        """Watch the version that is being deployed for crashes; return the alarm."""
        meaning = "the newest version of a function crashes: its deployment is rolled back"
        return self._add(f"{name}VersionFails", meaning, of_new_version(function, "Errors"), 1)

    def watch_function(self, name: str, function: LambdaFunction) -> None:
        """Watch crashes, timeouts and throttled invocations."""
        errors, throttles = of_function(function, "Errors"), of_function(function, "Throttles")
        self._add(f"{name}Fails", "a function crashed or ran out of time", errors, 1)
        self._add(f"{name}IsThrottled", "the account's concurrency is used up", throttles, 1)

    def watch_tables(self, tables: Tables) -> None:
        """Watch reads and writes that DynamoDB throttled."""
        meaning = "DynamoDB throttles requests: a partition is hot, or traffic grew too quickly"
        for name, table in (("Memory", tables.memory_name), ("Log", tables.log_name)):
            for kind in ("Read", "Write"):
                metric = of_table(table, f"{kind}ThrottleEvents")
                self._add(f"{name}{kind}sAreThrottled", meaning, metric, 1, periods=2)

    def watch_stream(self, made: str, stream: Stream, function: LambdaFunction) -> None:
        """Watch for what is made of changes (`Events`, `Vectors`) and comes late, or not at all."""
        age = of_function(function, "IteratorAge", "Maximum")
        letters = waiting_in(stream.dead_letters)
        self._add(f"{made}AreLate", "the change stream is five minutes behind", age, _STALE_MS)
        self._add(f"{made}AreMissing", "changes were given up: replay within 20 hours", letters, 1)

    def watch_schedule(self, schedule: Schedule, function: LambdaFunction) -> None:
        """Watch for sweeps that don't keep up, or don't run."""
        self._add(
            "SweepIsLate",
            "what was due half an hour ago isn't done, or no sweep has run for 15 minutes",
            from_function(function, "SweepLag"),
            _LATE_MS,
            periods=3,
            missing=_MISSING.BREACHING,
        )
        letters = waiting_in(schedule.dead_letters)
        self._add("SweepIsNotInvoked", "the schedule can't invoke its function", letters, 1)

    def watch_task_events(self, task_events: TaskEvents) -> None:
        """Watch other systems' events that were refused, or could not be delivered."""
        letters = waiting_in(task_events.dead_letters)
        self._add("TaskEventsAreRefused", "other systems' task events wait in a queue", letters, 1)

    def watch_quotas(self, function: LambdaFunction) -> None:
        """Watch for tenants that come near their limits."""
        for quota in QUOTAS:
            self._add(
                f"{quota.name.capitalize()}FillUp",
                f"a tenant has {quota.warning:,} of the {quota.limit:,} {quota.name} that it may"
                " have; the log says which",
                from_function(function, quota.metric),
                quota.warning_percent,
            )

    def _add(
        self,
        id: str,
        meaning: str,
        metric: cloudwatch.IMetric,
        at_least: float,
        *,
        periods: int = 1,
        missing: cloudwatch.TreatMissingData = _MISSING.NOT_BREACHING,
    ) -> cloudwatch.Alarm:
        alarm = cloudwatch.Alarm(
            self,
            id,
            alarm_description=meaning,
            metric=metric,
            threshold=at_least,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            evaluation_periods=periods,
            treat_missing_data=missing,
        )
        if self._action is not None:
            alarm.add_alarm_action(self._action)
            alarm.add_ok_action(self._action)
        self.all.append(alarm)
        return alarm
