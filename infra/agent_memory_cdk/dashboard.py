"""One page that answers the questions after an alarm, in order."""

from collections.abc import Mapping, Sequence

from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from functions.platform.schema import build_memory_table
from functions.usage.model import EPISODE_METRIC

from .alarms import Alarms
from .dead_letters import DeadLetters
from .http_api import HttpApi
from .lambda_function import LambdaFunction
from .metrics import (
    from_function,
    of_api,
    of_claimed_concurrency,
    of_function,
    of_replication,
    of_table,
    rate,
    waiting_in,
)
from .tables import Tables

_WIDE, _HALF = 24, 12  # of the page's 24 columns
_INDEXES = [each["IndexName"] for each in build_memory_table("memory")["GlobalSecondaryIndexes"]]


class Dashboard(Construct):
    """Alarms on top; then a row of graphs for each question."""

    def __init__(self, scope: Construct, id: str, alarms: Alarms) -> None:
        super().__init__(scope, id)
        self._board = cloudwatch.Dashboard(self, "Board")
        status = cloudwatch.AlarmStatusWidget(title="Alarms", width=_WIDE, alarms=alarms.all)
        self._board.add_widgets(status)

    def show_api(self, *apis: HttpApi) -> None:
        """Show requests, the share that fails, and latency."""
        self._ask("Are requests answered?")
        for api in apis:
            failed = rate(of_api(api, "5xx"), of_api(api, "Count"), "5xx, %")
            self._board.add_widgets(
                _graph(
                    "Requests, and 5xx in %",
                    [of_api(api, name) for name in ("Count", "4xx", "5xx")],
                    [failed],
                ),
                _graph(
                    "Latency, ms", [of_api(api, "Latency", f"p{part}") for part in (50, 90, 99)]
                ),
            )

    def show_causes(self, function: LambdaFunction) -> None:
        """Show failures with their causes, and the callers with most rejections, from the log."""
        self._ask("Why are requests rejected, and whose?")
        self._board.add_widgets(
            _query(
                function,
                "Causes",
                "filter status >= 429 or level = 'ERROR'",
                "stats count(*) as requests by code, error, aws_code, aws_operation, route",
                "sort requests desc",
            ),
            _query(
                function,
                "Callers with rejected requests",
                "filter status = 429 or status >= 500",
                "stats count(*) as requests by tenant, principal, code",
                "sort requests desc",
            ),
        )

    def show_throttles(self, tables: Tables, functions: Mapping[str, LambdaFunction]) -> None:
        """Show which table, index or function is throttled, and for which reason."""
        self._ask("What is throttled?")
        for kind in ("Read", "Write"):
            metric, memory = f"{kind}ThrottleEvents", tables.memory_name
            metrics = [of_table(name, metric) for name in (memory, tables.log_name)]
            metrics += [of_table(memory, metric, index) for index in _INDEXES]
            self._board.add_widgets(_graph(f"{kind}s that DynamoDB throttled", metrics))
        named = functions.values()
        self._board.add_widgets(
            _graph("Calls rejected by DynamoDB", [_count_throttles(each) for each in named]),
            _graph("Invocations rejected by Lambda", [of_function(f, "Throttles") for f in named]),
        )
        for each in (functions["Api"], functions["Stream"]):
            self._board.add_widgets(
                _query(
                    each,
                    "Why DynamoDB rejects calls",
                    "filter ispresent(StoreThrottles)",
                    "stats count(*) as calls by operation, table, reasons.0.reason,"
                    " reasons.0.resource",
                    "sort calls desc",
                )
            )

    def show_background(
        self,
        streams: Sequence[LambdaFunction],
        schedule: LambdaFunction,
        learning: LambdaFunction | None,
        letters: Sequence[DeadLetters],
    ) -> None:
        """Show the delays of the stream and the schedule, and failed records."""
        self._ask("Is the background behind?")
        ages = [of_function(each, "IteratorAge", "Maximum") for each in streams]
        self._board.add_widgets(
            _graph("Stream, ms behind", ages),
            _graph("Sweep, ms behind", [from_function(schedule, "SweepLag")]),
            _graph("Dead letters", [waiting_in(each) for each in letters]),
        )
        lost = [of_function(each, "DestinationDeliveryFailures") for each in streams]
        skipped = [from_function(each, "StreamSkippedRecords", "Sum") for each in streams]
        self._board.add_widgets(
            _graph("Batches lost without a queue", lost),
            _graph("Records that were skipped", skipped),
        )
        if learning is not None:
            failures = [from_function(learning, "ModelFailures", "Sum")]
            self._board.add_widgets(_graph("Requests that the model did not answer", failures))

    def show_safeguards(self, changes: Sequence[cloudwatch.IMetric]) -> None:
        """Show changes of the data's protection, and writes by others."""
        self._ask("Has protection changed?")
        self._board.add_widgets(_graph("Changes of keys and recovery, writes by others", changes))

    def show_replication(self, tables: Tables, region: str) -> None:
        """Show the delay of another Region."""
        self._ask("Is the second Region behind?")
        names = (tables.memory_name, tables.log_name)
        latencies = [of_replication(table, region) for table in names]
        self._board.add_widgets(_graph(f"Until a write is in {region}, ms", latencies))

    def show_quotas(self, counting: LambdaFunction, refusing: LambdaFunction) -> None:
        """Show the highest use of a quota, and the tenants with a warning."""
        self._ask("Has a tenant reached its quota?")
        metrics = [from_function(each, EPISODE_METRIC) for each in (counting, refusing)]
        self._board.add_widgets(
            _graph("Highest quota in use, %", metrics),
            _query(
                counting,
                "Tenants with a warning",
                "filter message = 'quota'",
                "stats latest(current_count) by tenant, limit",
            ),
        )

    def show_functions(self, functions: Mapping[str, LambdaFunction]) -> None:
        """Show invocations, failures, durations, and concurrency."""
        self._ask("Do functions crash, or fill the account's concurrency?")
        for title, name, statistic in (
            ("Invocations", "Invocations", "Sum"),
            ("Crashes and timeouts", "Errors", "Sum"),
            ("Duration, ms", "Duration", "p99"),
            ("At once", "ConcurrentExecutions", "Maximum"),
        ):
            metrics = [of_function(each, name, statistic) for each in functions.values()]
            self._board.add_widgets(_graph(title, metrics))
        self._board.add_widgets(_graph("Of the account's concurrency", [of_claimed_concurrency()]))

    def show_tables(self, tables: Tables) -> None:
        """Show consumed units, as DynamoDB bills them."""
        self._ask("What does it cost?")
        for name, table in (("memory", tables.memory_name), ("log", tables.log_name)):
            kinds = [f"Consumed{kind}CapacityUnits" for kind in ("Read", "Write")]
            self._board.add_widgets(
                _graph(f"Units of {name}", [of_table(table, kind) for kind in kinds])
            )

    def _ask(self, question: str) -> None:
        text = cloudwatch.TextWidget(markdown=f"## {question}", width=_WIDE, height=1)
        self._board.add_widgets(text)


def _count_throttles(function: LambdaFunction) -> cloudwatch.Metric:
    return from_function(function, "StoreThrottles", "Sum")


def _graph(
    title: str,
    metrics: Sequence[cloudwatch.IMetric],
    right: Sequence[cloudwatch.IMetric] = (),
) -> cloudwatch.GraphWidget:
    return cloudwatch.GraphWidget(title=title, width=_HALF, left=list(metrics), right=list(right))


def _query(function: LambdaFunction, title: str, *lines: str) -> cloudwatch.LogQueryWidget:
    return cloudwatch.LogQueryWidget(
        title=title,
        width=_HALF,
        log_group_names=[function.log.log_group_name],
        query_lines=list(lines),
    )
