"""The alarms, with their descriptions."""

from collections.abc import Sequence

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_sns as sns
from constructs import Construct

from functions.platform.limits import EPISODES_WARNING, MAX_EPISODES
from functions.platform.schema import build_memory_table
from functions.usage.model import EPISODE_METRIC

from .http_api import HttpApi
from .lambda_function import LambdaFunction
from .metrics import (
    MINUTE,
    from_function,
    of_api,
    of_claimed_concurrency,
    of_failures,
    of_function,
    of_new_version,
    of_refusals,
    of_replication,
    of_throttles,
    rate,
    waiting_in,
)
from .safeguards import Safeguards
from .schedule import Schedule
from .stream import Stream
from .tables import Tables
from .task_events import TaskEvents

_MISSING = cloudwatch.TreatMissingData
_FAILED_PERCENT = 1  # of what was asked for within five minutes
_SLOW_MS = 3_000
_STALE_MS = 300_000
_LATE_MS = 1_800_000  # expired memory must be removed from storage within an hour
_LATEST_MS = 5_000  # the maximum of writes that are lost with a Region
_REFUSED, _FEW_THROTTLES = 10, 10  # within five minutes, for 15 minutes
_CLAIMED_PERCENT = 80
_MODEL_FAILURES = 10  # within five minutes
_AN_HOUR = 12  # periods of five minutes
_INDEXES = [each["IndexName"] for each in build_memory_table("memory")["GlobalSecondaryIndexes"]]


class Alarms(Construct):
    """Alarms, which are sent to the deployment's topic, if any."""

    def __init__(self, scope: Construct, id: str, topic: sns.ITopic | None) -> None:
        super().__init__(scope, id)
        self.all: list[cloudwatch.Alarm] = []
        self._action = None if topic is None else actions.SnsAction(topic)

    def watch_api(self, name: str, api: HttpApi) -> list[cloudwatch.Alarm]:
        """Watch failing and slow responses; return the alarms."""
        failing = self._add(
            f"{name}Fail",
            "1 % of requests get a 5xx response",
            rate(of_api(api, "5xx"), of_api(api, "Count"), "5xx, %"),
            _FAILED_PERCENT,
        )
        slow = self._add(
            f"{name}AreSlow",
            "1 % of responses take over 3 seconds, for 15 minutes",
            of_api(api, "Latency", "p99"),
            _SLOW_MS,
            periods=3,
        )
        return [failing, slow]

    def watch_new_version(self, name: str, function: LambdaFunction) -> cloudwatch.Alarm:
        """Watch the version that is being deployed for crashes; return the alarm."""
        end = "its deployment is rolled back" if name == "Api" else "roll back, or fix it"
        meaning = f"the newest version of a function crashes: {end}"
        return self._add(f"{name}VersionFails", meaning, of_new_version(function, "Errors"), 1)

    def watch_new_answers(self, name: str, function: LambdaFunction) -> cloudwatch.Alarm:
        """Watch 5xx responses of the version that is being deployed."""
        failed = of_failures(function, of_new_version=True)
        calls = of_new_version(function, "Invocations")
        return self._add(
            f"{name}VersionAnswers5xx",
            "1 % of requests to the newest version get a 5xx response: its deployment is rolled "
            "back",
            rate(failed, calls, "5xx of the version, %", MINUTE),
            _FAILED_PERCENT,
        )

    def watch_function(self, name: str, function: LambdaFunction) -> None:
        """Watch crashes, timeouts, throttled invocations, and calls that the store throttles."""
        errors, throttles = of_function(function, "Errors"), of_function(function, "Throttles")
        failed = rate(errors, of_function(function, "Invocations"), "Errors, %")
        meaning = "1 % of invocations crash or time out"
        self._add(f"{name}Fails", meaning, failed, _FAILED_PERCENT)
        self._add(
            f"{name}IsThrottled",
            "the account's concurrency of Lambda is used up: invocations are rejected",
            throttles,
            1,
        )
        slowed = from_function(function, "StoreThrottles", "Sum")
        meaning = (
            "DynamoDB rejects calls of a function, even after retries; the "
            "function's log names the table and the reason"
        )
        self._add(f"{name}IsSlowedDown", meaning, slowed, 1)

    def watch_refusals(self, apis: Sequence[HttpApi], function: LambdaFunction) -> None:
        """Watch requests that a gateway rejects before they reach the function."""
        self._add(
            "RequestsAreRefused",
            "the gateway rejects requests: over throttle_rate, or with a wrong token",
            of_refusals(apis, function),
            _REFUSED,
            periods=3,
        )

    def watch_concurrency(self) -> None:
        """Watch the used share of the account's concurrent invocations."""
        self._add(
            "ConcurrencyIsUsedUp",
            f"the functions of this account use {_CLAIMED_PERCENT} % of its concurrent invocations",
            of_claimed_concurrency(),
            _CLAIMED_PERCENT,
        )

    def watch_safeguards(self, safeguards: Safeguards) -> None:
        """Watch for a key that is disabled, and for tables without point-in-time recovery."""
        meaning = (
            "a key was disabled, or point-in-time recovery was changed: CloudTrail names the caller"
        )
        self._add("SafeguardsChange", meaning, safeguards.metric, 1)

    def watch_tables(self, tables: Tables) -> None:
        """Watch reads and writes that DynamoDB throttles, on each table with its indexes.

        A growing table throttles some requests at first, and the function repeats them.
        """
        for name, table, indexes in (
            ("Memory", tables.memory_name, _INDEXES),
            ("Log", tables.log_name, []),
        ):
            for kind in ("Read", "Write"):
                metric = of_throttles(table, indexes, kind)
                meaning = (
                    f"DynamoDB throttles {kind.lower()}s of {table} or an index for 15 minutes: a "
                    "key is hot, or traffic has grown; see the dashboard"
                )
                self._add(f"{name}{kind}sAreThrottled", meaning, metric, _FEW_THROTTLES, periods=3)

    def watch_writers(self, writes: cloudwatch.Metric) -> None:
        """Watch for writes to the tables by others than the functions."""
        meaning = "a principal other than the functions wrote to the tables; the log names it"
        self._add("TablesAreWrittenByOthers", meaning, writes, 1)

    def watch_replication(self, tables: Tables, region: str) -> None:
        """Watch for a standby Region that lags behind too far."""
        for name, table in (("Memory", tables.memory_name), ("Log", tables.log_name)):
            meaning = f"{region} lags behind: over {_LATEST_MS // 1000} s of writes can be lost"
            metric = of_replication(table, region)
            self._add(f"{name}ReplicationIsLate", meaning, metric, _LATEST_MS)

    def watch_stream(self, made: str, stream: Stream, function: LambdaFunction) -> None:
        """Watch for late or failed results of changes (`Events`, `Vectors`)."""
        age = of_function(function, "IteratorAge", "Maximum")
        letters = waiting_in(stream.dead_letters)
        self._add(f"{made}AreLate", "the change stream is five minutes behind", age, _STALE_MS)
        self._add(
            f"{made}AreMissing",
            "changes failed repeatedly and are in the queue of dead "
            "letters: redeliver them within 20 hours",
            letters,
            1,
        )
        skipped = from_function(function, "StreamSkippedRecords", "Sum")
        meaning = "a change could not be read and was skipped; the function's log has its key"
        self._add(f"{made}AreSkipped", meaning, skipped, 1)
        lost = of_function(function, "DestinationDeliveryFailures")
        self._add(
            f"{made}AreLost",
            "changes failed repeatedly, and the queue of dead letters did not accept them",
            lost,
            1,
        )

    def watch_model(self, function: LambdaFunction) -> None:
        """Watch for a language model that does not answer."""
        failed = from_function(function, "ModelFailures", "Sum")
        meaning = "the language model does not answer; conversations wait, and nothing is lost"
        self._add("ModelFails", meaning, failed, _MODEL_FAILURES)

    def watch_schedule(
        self, schedule: Schedule, function: LambdaFunction, *, is_enabled: bool
    ) -> None:
        """Watch for sweeps that don't keep up, or don't run although the schedule is enabled."""
        self._add(
            "SweepIsLate",
            "work of the schedule is 30 minutes late, or no sweep has run for 15 minutes",
            from_function(function, "SweepLag"),
            _LATE_MS,
            periods=3,
            missing=_MISSING.BREACHING if is_enabled else _MISSING.NOT_BREACHING,
        )
        letters = waiting_in(schedule.dead_letters)
        self._add(
            "SweepIsNotInvoked",
            "EventBridge Scheduler can't invoke the scheduled function",
            letters,
            1,
        )

    def watch_task_events(self, task_events: TaskEvents) -> None:
        """Watch other systems' events that were rejected, or could not be delivered."""
        letters = waiting_in(task_events.dead_letters)
        self._add(
            "TaskEventsAreRefused",
            "task events of other systems failed and are in a queue",
            letters,
            1,
        )

    def watch_quotas(self, counting: LambdaFunction, refusing: LambdaFunction) -> None:
        """Watch for tenants that approach or reach their quota of episodes.

        Args:
            counting: the function that reports the use of the quota.
            refusing: the function that reports rejections.
        """
        self._add(
            "EpisodesFillUp",
            f"a tenant has {EPISODES_WARNING:,} of at most {MAX_EPISODES:,} episodes;"
            " the log says which",
            from_function(counting, EPISODE_METRIC),
            100 * EPISODES_WARNING / MAX_EPISODES,
            within=_AN_HOUR,
        )
        self._add(
            "EpisodesAreFull",
            f"a tenant has {MAX_EPISODES:,} episodes; new ones were rejected in the last hour",
            from_function(refusing, EPISODE_METRIC),
            100,
            within=_AN_HOUR,
        )

    def _add(
        self,
        id: str,
        meaning: str,
        metric: cloudwatch.IMetric,
        at_least: float,
        *,
        periods: int = 1,
        within: int | None = None,
        missing: cloudwatch.TreatMissingData = _MISSING.NOT_BREACHING,
    ) -> cloudwatch.Alarm:
        """Add an alarm that is raised after `periods`, or after one of the periods `within`."""
        alarm = cloudwatch.Alarm(
            self,
            id,
            alarm_description=meaning,
            metric=metric,
            threshold=at_least,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            evaluation_periods=within or periods,
            datapoints_to_alarm=1 if within else None,
            treat_missing_data=missing,
        )
        if self._action is not None:
            alarm.add_alarm_action(self._action)
            alarm.add_ok_action(self._action)
        self.all.append(alarm)
        return alarm
