"""The one table of `make bench`: a line for each thing that has a goal, or something beside it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks import (
    cold_start,
    compare,
    contention,
    costs,
    crowding,
    fairness,
    floor,
    growth,
    peers,
    prices,
    recall,
    scale,
    stream,
    sweep,
    task_lists,
    trace,
)
from benchmarks.corpus import CLASSES
from benchmarks.tables import text_table
from functions.platform.limits import MAX_EXAMINED

_OURS = "ours"


@dataclass(frozen=True, slots=True)
class Line:
    """`ours` beside `other`, in words with their units; `met` is None where there is no goal."""

    what: str
    ours: str
    other: str
    ratio: str
    goal: str
    met: bool | None


def of_costs(found: Sequence[costs.Cost]) -> Iterator[Line]:
    above = [cost.operation for cost in found if cost.above]
    within = f"{len(found) - len(above)} within"
    yield Line(
        "calls and units of each operation",
        within,
        f"{len(found)} limits",
        "",
        "all within",
        not above,
    )


def of_prices(found: Sequence[prices.Price]) -> Iterator[Line]:
    for price in found:
        goal = price.operation.goal
        text = "" if goal is None else f"<= {goal:.2f}"
        ours = f"{price.total:.2f} USD a million"
        yield Line(f"price, {price.operation.name}", ours, "", "", text, price.is_met)


def of_stream(found: Sequence[stream.Row]) -> Iterator[Line]:
    for row in found:
        rate, goal = f"{row.shard_rate:,.0f} events/s", f"{stream.GOAL:,} events/s"
        yield Line(f"stream, {row.kind}", rate, goal, f"{row.ratio:.2f}", ">= 1", row.ratio >= 1)


def of_contention(found: Sequence[contention.Row]) -> Iterator[Line]:
    alone = found[0]
    for row in found[1:]:
        calls, other = f"{row.calls:.1f} calls", f"{alone.calls:.1f} alone"
        ratio = f"{row.calls / alone.calls:.1f}"
        yield Line(f"stream, {row.appenders} appenders of a log", calls, other, ratio, "", None)


def of_floor(found: Sequence[floor.Row]) -> Iterator[Line]:
    for row in found:
        ours, other = f"{row.ours_us:.0f} us", f"{row.botocore_us:.0f} us stock botocore"
        goal = "" if row.goal is None else f"<= {row.goal:g}"
        met = None if row.goal is None else row.met
        yield Line(f"CPU, {row.operation}", ours, other, f"{row.to_botocore:.2f}", goal, met)
        raw = f"{row.raw_us:.0f} us raw call"
        yield Line(f"CPU, {row.operation}", ours, raw, f"{row.to_raw:.1f}", "", None)


def of_cold_start(found: Sequence[cold_start.ColdStart]) -> Iterator[Line]:
    typical = found[-1]
    for row in found[:-1]:
        name, is_get = f"cold start, {row.name}", row is found[0]
        yield Line(
            name,
            f"{row.init_ms + row.first_ms:.0f} ms CPU",
            f"{typical.init_ms + typical.first_ms:.0f} ms typical",
            f"{row.ratio:.2f}",
            f"<= {cold_start.GOAL:g}" if is_get else "",
            row.ratio <= cold_start.GOAL if is_get else None,
        )
        yield Line(
            f"{name}, after INIT",
            f"{row.first_ms:.1f} ms CPU",
            f"{typical.first_ms:.1f} ms typical",
            "",
            f"<= {cold_start.GOAL_FIRST_MS:g} ms" if row.is_api else "",
            row.first_ms <= cold_start.GOAL_FIRST_MS if row.is_api else None,
        )


def of_compare(found: Sequence[compare.Row]) -> Iterator[Line]:
    for row in found:
        yield Line(
            f"HTTP, {row.case}, {row.clients} clients",
            f"{row.ours.rate:.0f}/s",
            f"{row.reference.rate:.0f}/s openintent 0.17.0",
            f"{row.ratio:.2f}",
            "" if row.goal is None else f">= {row.goal:g}",
            None if row.goal is None else row.ratio >= row.goal,
        )


def of_peers(found: Sequence[peers.Row]) -> Iterator[Line]:
    """Where one client calls; all figures are in `python -m benchmarks peers`."""
    rows = {(row.library, row.entries, row.case): row for row in found if row.clients == 1}
    for (library, entries, case), row in rows.items():
        if library == _OURS:
            continue
        own = rows[_OURS, entries, case]
        right = "" if row.found is None else f", {row.found} of 10 found"
        yield Line(
            f"library, {case} in {entries:,}",
            f"{own.rate:.0f}/s",
            f"{row.rate:.0f}/s {library}{right}",
            f"{own.rate / row.rate:.2f}",
            "",
            None,
        )


def of_growth(found: Sequence[growth.Curve]) -> Iterator[Line]:
    bounded = [curve for curve in found if not curve.may_grow]
    flat = [curve for curve in bounded if curve.flat]
    largest = max(size.stored for curve in found for size in curve.points)
    yield Line(
        f"growth: same calls and units up to {largest:,} entries",
        f"{len(flat)} flat",
        f"{len(bounded)} operations",
        "",
        "all flat",
        len(flat) == len(bounded),
    )
    for curve in found:
        if curve.may_grow:
            power = curve.exponent(lambda point: point.write + point.read)
            first, last = curve.points[0], curve.points[-1]
            units = f"{first.read:g} to {last.read:g} units"
            limit = f"{MAX_EXAMINED:,} examined" if curve.is_bounded else ""
            yield Line(f"growth: {curve.operation}", units, "", f"n^{power:.2f}", limit, None)


def of_lists(found: Sequence[task_lists.Figure]) -> Iterator[Line]:
    operations = {each.operation for each in found}
    growing = task_lists.list_growing(found)
    most = max(each.beside for each in found)
    yield Line(
        f"lists of tasks: same calls and units beside {most:,}",
        f"{len(operations) - len(growing)} flat",
        f"{len(operations)} operations",
        "",
        "all flat",
        not growing,
    )


def of_scale(found: scale.Model) -> Iterator[Line]:
    hottest = found.keys[0]
    full = found.agents / hottest.share
    yield Line(
        f"{found.agents:,} agents: {hottest.kind}",
        f"{hottest.share:.0%}",
        f"full at {full:,.0f} agents",
        "",
        "<= 100%",
        hottest.share <= 1,
    )


def of_fairness(found: Sequence[fairness.Fairness]) -> Iterator[Line]:
    for each in found:
        yield Line(
            f"PATCH beside a flood at {fairness.FLOOD} times its share, limit: {each.limit}",
            f"{each.beside_p50:.1f} ms",
            f"{each.alone_p50:.1f} ms alone, load average {each.load[1]:.1f}",
            f"{each.ratio:.2f}",
            f"<= {fairness.GOAL:g}",
            each.ratio <= fairness.GOAL,
        )


def of_crowding(found: Sequence[crowding.Crowding]) -> Iterator[Line]:
    alone, unprotected, beside = found
    yield Line(
        "PATCH beside a flood in Lambda (simulated), mean",
        f"{beside.mean:.1f} ms",
        f"{alone.mean:.1f} ms alone, {unprotected.mean:.0f} ms without shedding",
        f"{beside.mean / alone.mean:.2f}",
        f"<= {crowding.GOAL:g}",
        beside.mean <= crowding.GOAL * alone.mean,
    )


def of_sweep(found: Sequence[sweep.Rate]) -> Iterator[Line]:
    fastest = found[-1]
    yield Line(
        "expiries that one part of the schedule removes",
        f"{fastest.rate:.0f}/s",
        f"{found[0].rate:.0f}/s one thread",
        f"{fastest.rate / found[0].rate:.1f}",
        f">= {sweep.GOAL:g}/s",
        fastest.rate >= sweep.GOAL,
    )


def as_text(lines: Sequence[Line]) -> str:
    """The table."""
    heads = ["what", "ours", "beside", "ratio", "goal", ""]
    return text_table(heads, [_cells(line) for line in lines])


def _cells(line: Line) -> list[str]:
    verdict = "" if line.met is None else "met" if line.met else "MISSED"
    return [line.what, line.ours, line.other, line.ratio, line.goal, verdict]


def of_recall(found: Sequence[recall.Row]) -> Iterator[Line]:
    for row in found:
        for group, reached in row.quality.groups.items():
            goal = recall.GOALS.get(group)
            name = CLASSES.get(group, "all classes")
            yield Line(
                f"recall@1, {name}, {row.name}",
                f"{reached.first:.0%}",
                f"{reached.few:.0%} @5",
                "",
                "" if goal is None else f">= {goal:.0%}",
                None if goal is None else reached.first >= goal,
            )
        rejected = row.quality.rejected
        name = f"rejected queries without an answer, {row.name}"
        rate, goal = f"{rejected:.0%}", recall.REJECTED_GOAL
        yield Line(name, rate, f"AUC {row.quality.auc:.2f}", "", f">= {goal:.0%}", rejected >= goal)


def of_trace(found: Sequence[trace.Trace]) -> Iterator[Line]:
    for row in found:
        functions, files = len(row.functions), len(row.files)
        goal, met = "", None
        if row.most_functions is not None and row.most_files is not None:
            goal = f"<= {row.most_functions} in {row.most_files}"
            met = functions <= row.most_functions and files <= row.most_files
        ours = f"{functions} functions in {files} files"
        yield Line(f"trace, {row.flow}", ours, f"{row.dynamodb_calls} calls", "", goal, met)
