"""Costs and comparison; without a name, both. Fails if a cost is above its limit.

`conversation` measures a long one.
"""

import argparse
import json
import sys
from pathlib import Path

from benchmarks import compare, conversations, costs, growth

_WHICH = ("costs", "compare", "growth", "conversation", "all")
_BENCH = Path(__file__).parents[1] / ".bench"


def main() -> int:
    """Run what the command line names; the exit status."""
    options = _options()
    documents: dict[str, object] = {}
    status = 0
    if options.which in ("costs", "all"):
        found = costs.measure()
        status = int(any(cost.above for cost in found))
        documents["costs"] = costs.as_data(found)
        _say(options.json, costs.as_text(found))
    if options.which in ("compare", "all"):
        rows = compare.compare(_BENCH, options.rounds, options.seconds)
        documents["compare"] = compare.as_data(rows)
        _say(options.json, compare.as_text(rows))
    if options.which == "growth":
        curves = growth.measure([size for size in growth.SIZES if size <= options.entries])
        documents["growth"] = growth.as_data(curves)
        _say(options.json, growth.as_text(curves))
    if options.which == "conversation":
        print(conversations.long_conversation(options.messages))
    if options.json:
        print(json.dumps(documents, indent=2))
    return status


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("which", nargs="?", choices=_WHICH, default="all")
    parser.add_argument("--rounds", type=int, default=5, help="of each comparison (default 5)")
    parser.add_argument("--seconds", type=float, default=1.5, help="of a round (default 1.5)")
    parser.add_argument("--messages", type=int, default=100_000, help="of the conversation")
    parser.add_argument("--entries", type=int, default=10_000, help="that growth goes up to")
    parser.add_argument("--json", action="store_true", help="all figures, as one JSON document")
    return parser.parse_args()


def _say(quiet: bool, text: str) -> None:
    if not quiet:
        print(text, end="\n\n", flush=True)


if __name__ == "__main__":
    sys.exit(main())
