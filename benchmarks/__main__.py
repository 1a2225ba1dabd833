"""What the service costs, how fast it is, and how that grows.

Without a name: everything, as one table; with one: that part in full. Fails if an operation costs
more than its limit. `plots` draws docs/assets/performance/*.svg of figures that --json has written.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import (
    cold_start,
    compare,
    contention,
    conversations,
    costs,
    crowding,
    facts,
    fairness,
    floor,
    growth,
    peers,
    prices,
    recall,
    report,
    scale,
    stream,
    sweep,
    task_lists,
    trace,
    turns,
)

_BENCH = Path(__file__).parents[1] / ".bench"


@dataclass(frozen=True, slots=True)
class Part:
    """One benchmark: how it measures, and what is made of that."""

    measure: Callable[[argparse.Namespace], Any]
    as_data: Callable[[Any], object]
    as_text: Callable[[Any], str]
    lines: Callable[[Any], Iterable[report.Line]]


def _growth(options: argparse.Namespace) -> list[growth.Curve]:
    if options.entries > growth.SIZES[-1]:
        return growth.measure_imported(options.entries)
    return growth.measure([size for size in growth.SIZES if size <= options.entries])


def _peers(options: argparse.Namespace) -> list[peers.Row]:
    return peers.measure(_BENCH, peers.ENTRIES, options.seconds)


_PARTS = {
    "costs": Part(lambda _: costs.measure(), costs.as_data, costs.as_text, report.of_costs),
    "floor": Part(lambda _: floor.measure(), floor.as_data, floor.as_text, report.of_floor),
    "cold-start": Part(
        lambda _: cold_start.measure(),
        cold_start.as_data,
        cold_start.as_text,
        report.of_cold_start,
    ),
    "compare": Part(
        lambda options: compare.compare(_BENCH, options.rounds, options.seconds),
        compare.as_data,
        compare.as_text,
        report.of_compare,
    ),
    "peers": Part(_peers, peers.as_data, peers.as_text, report.of_peers),
    "growth": Part(_growth, growth.as_data, growth.as_text, report.of_growth),
    "fairness": Part(
        lambda _: fairness.measure(), fairness.as_data, fairness.as_text, report.of_fairness
    ),
    "crowding": Part(
        lambda _: crowding.simulate(), crowding.as_data, crowding.as_text, report.of_crowding
    ),
    "lists": Part(
        lambda _: task_lists.measure(),
        task_lists.as_data,
        task_lists.as_text,
        report.of_lists,
    ),
    "recall": Part(lambda _: recall.measure(), recall.as_data, recall.as_text, report.of_recall),
    "sweep": Part(lambda _: sweep.measure(), sweep.as_data, sweep.as_text, report.of_sweep),
    "prices": Part(lambda _: prices.measure(), prices.as_data, prices.as_text, report.of_prices),
    "stream": Part(lambda _: stream.measure(), stream.as_data, stream.as_text, report.of_stream),
    "contention": Part(
        lambda _: contention.measure(),
        contention.as_data,
        contention.as_text,
        report.of_contention,
    ),
    "trace": Part(lambda _: trace.measure(), trace.as_data, trace.as_text, report.of_trace),
    "scale": Part(
        lambda options: scale.model(options.agents), scale.as_data, scale.as_text, report.of_scale
    ),
}


def main() -> int:
    """Run what the command line names; the exit status."""
    options = _options()
    if options.which == "conversation":
        print(conversations.long_conversation(options.messages))
        return 0
    if options.which == "facts":
        print(facts.recall_times(options.entries))
        return 0
    if options.which == "turns":
        print(turns.measure(options.turns))
        return 0
    if options.which == "plots":
        from benchmarks import plots  # noqa: PLC0415 - its library is needed for nothing else

        plots.draw(options.figures)
        return 0
    names = list(_PARTS) if options.which == "all" else [options.which]
    return _run(names, options)


def _run(names: list[str], options: argparse.Namespace) -> int:
    figures: dict[str, object] = {}
    lines: list[report.Line] = []
    above = False
    for name in names:
        part = _PARTS[name]
        print(f"measuring: {name}", file=sys.stderr)
        found = part.measure(options)
        figures[name] = part.as_data(found)
        lines += part.lines(found)
        above |= name == "costs" and any(cost.above for cost in found)
        if len(names) == 1 and not options.json:
            print(part.as_text(found))
    _say(figures, lines, options, whole=len(names) > 1)
    return int(above)


def _say(
    figures: dict[str, object],
    lines: list[report.Line],
    options: argparse.Namespace,
    *,
    whole: bool,
) -> None:
    if options.json:
        print(json.dumps(figures, indent=1))
    elif whole:
        _BENCH.mkdir(exist_ok=True)
        (_BENCH / "figures.json").write_text(json.dumps(figures, indent=1))
        print(report.as_text(lines))
        print("All figures: .bench/figures.json; a part in full: python -m benchmarks NAME")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    choices = ("all", *_PARTS, "conversation", "facts", "turns", "plots")
    parser.add_argument("which", nargs="?", choices=choices, default="all")
    parser.add_argument("--rounds", type=int, default=5, help="of each comparison (default 5)")
    parser.add_argument("--seconds", type=float, default=1.5, help="of a round (default 1.5)")
    parser.add_argument("--messages", type=int, default=100_000, help="of the conversation")
    parser.add_argument(
        "--entries",
        type=int,
        default=10_000,
        help="that growth and facts go up to; growth imports more than 100,000",
    )
    parser.add_argument("--turns", type=int, default=1000, help="of ADR-043 (default 1000)")
    parser.add_argument("--agents", type=int, default=scale.AGENTS, help="of the model of scale")
    parser.add_argument("--figures", type=Path, default=_BENCH / "figures.json", help="to plot")
    parser.add_argument("--json", action="store_true", help="all figures, as one JSON document")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
