"""One page that shows how the service is."""

from collections.abc import Mapping, Sequence

from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from .alarms import Alarms
from .http_api import HttpApi
from .lambda_function import LambdaFunction
from .metrics import from_function, of_api, of_function, of_table
from .tables import Tables

_WIDE, _HALF = 24, 12  # of the page's 24 columns


class Dashboard(Construct):
    """Alarms on top, then requests, functions, tables, and what happens in the background."""

    def __init__(self, scope: Construct, id: str, alarms: Alarms) -> None:
        super().__init__(scope, id)
        self._board = cloudwatch.Dashboard(self, "Board")
        status = cloudwatch.AlarmStatusWidget(title="Alarms", width=_WIDE, alarms=alarms.all)
        self._board.add_widgets(status)

    def show_api(self, api: HttpApi) -> None:
        """Show requests and their latency."""
        self._board.add_widgets(
            _graph("Requests", [of_api(api, name) for name in ("Count", "4xx", "5xx")]),
            _graph("Latency, ms", [of_api(api, "Latency", f"p{part}") for part in (50, 90, 99)]),
        )

    def show_functions(self, functions: Mapping[str, LambdaFunction]) -> None:
        """Show invocations and their duration."""
        self._board.add_widgets(
            _graph(
                "Invocations",
                [of_function(function, "Invocations") for function in functions.values()],
            ),
            _graph(
                "Duration, ms",
                [of_function(function, "Duration", "p99") for function in functions.values()],
            ),
        )

    def show_tables(self, tables: Tables) -> None:
        """Show consumed units, as DynamoDB bills them."""
        for name, table in (("memory", tables.memory_name), ("log", tables.log_name)):
            kinds = [f"Consumed{kind}CapacityUnits" for kind in ("Read", "Write")]
            self._board.add_widgets(
                _graph(f"Units of {name}", [of_table(table, kind) for kind in kinds])
            )

    def show_background(self, stream: LambdaFunction, schedule: LambdaFunction) -> None:
        """Show how far behind the stream and the schedule are."""
        self._board.add_widgets(
            _graph("Stream, ms behind", [of_function(stream, "IteratorAge", "Maximum")]),
            _graph("Sweep, ms behind", [from_function(schedule, "SweepLag")]),
        )


def _graph(title: str, metrics: Sequence[cloudwatch.IMetric]) -> cloudwatch.GraphWidget:
    return cloudwatch.GraphWidget(title=title, width=_HALF, left=list(metrics))
