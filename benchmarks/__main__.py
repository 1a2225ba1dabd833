"""Measure what the service costs, how fast it is, and how both grow: `python -m benchmarks [NAME]`.

Print a table for each part; without a name, measure all parts. The exit code is 1 if an operation
costs more than its limit.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from tqdm import tqdm

from benchmarks import cold_start, costs, goals, growth, learning, poison, prices, trace

_SIZES = (100, 1_000, 10_000, 100_000)


def _cost(options: argparse.Namespace) -> str:
    found = costs.measure()
    options.is_above = any(cost.above for cost in found)
    return costs.as_text(found)


_PARTS: dict[str, Callable[[argparse.Namespace], str]] = {
    "cold-start": lambda _: cold_start.as_text(cold_start.measure()),
    "costs": _cost,
    "growth": lambda o: growth.as_text(growth.measure([n for n in _SIZES if n <= o.entries])),
    "learning": lambda _: learning.as_text(learning.measure()),
    "recall": lambda options: goals.as_text(goals.measure(options.locomo)),
    "poison": lambda _: poison.as_text(poison.measure()),
    "prices": lambda _: prices.as_text(prices.measure()),
    "trace": lambda _: trace.as_text(trace.measure()),
}


def main() -> int:
    """Run the parts that the command line names; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("which", nargs="?", choices=("all", *_PARTS), default="all")
    parser.add_argument(
        "--entries", type=int, default=1_000, help="the largest store of growth (default: 1000)"
    )
    parser.add_argument(
        "--locomo", type=Path, help="the published locomo10.json, which recall is measured on, too"
    )
    options = parser.parse_args(namespace=argparse.Namespace(is_above=False))
    names = [*_PARTS] if options.which == "all" else [options.which]
    for name in tqdm(names, desc="benchmarks", unit="part", disable=None):
        tqdm.write(f"measuring: {name}", file=sys.stderr)
        print(_PARTS[name](options), end="\n\n", flush=True)
    return int(options.is_above)


if __name__ == "__main__":
    sys.exit(main())
