"""Measure the cost of each operation while the store grows, and fit exponents to it.

A figure with exponent 0 is independent of the store's size; with 1 it is proportional to it.
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from statistics import linear_regression, median
from typing import NamedTuple

from benchmarks.capacity import Call
from benchmarks.grown import SUBJECTS, TENANT, Subject
from benchmarks.inprocess import function
from benchmarks.tables import text_table
from functions.platform.limits import MAX_EXAMINED

_REPETITIONS = 3
_EXAMINED = re.compile("none has$|of all namespaces$")
"""The names of operations that examine more of a larger memory, up to the limit of a page."""
_NOTES = (
    "Sizes: the elements in the measured partition, multiplied by 10: the worst case.",
    "Exponents: slopes fitted to the logarithms; 0 is flat, 1 is proportional to the store.",
    "KB: the bodies of DynamoDB's requests and answers.",
)


class Point(NamedTuple):
    """One operation at one size: the median of its repetitions.

    `read` and `write` include the units of indexes; `bytes` is the size of requests and answers.
    """

    stored: int
    calls: float
    write: float
    read: float
    bytes: float


class Curve(NamedTuple):
    """One operation at all sizes.

    If `grows` is set, the cost may grow with the store; if `is_bounded` is set, it may grow up to
    the number of elements that a page examines.
    """

    operation: str
    grows: bool
    points: list[Point]
    is_bounded: bool = False

    def exponent(self, figure: Callable[[Point], float]) -> float:
        """Return the power of the store's size with which a figure grows."""
        return fitted([(point.stored, figure(point)) for point in self.points])

    @property
    def may_grow(self) -> bool:
        """Tell whether the cost may grow with the store."""
        return self.grows or self.is_bounded

    @property
    def flat(self) -> bool:
        """Tell whether calls and units are the same at all sizes."""
        return len({(each.calls, each.write, each.read) for each in self.points}) == 1


def fitted(points: Sequence[tuple[float, float]]) -> float:
    """Return the slope of the least-squares line through the logarithms.

    It is 0 if a figure is 0, and for a single point.
    """
    if len(points) < 2 or any(figure <= 0 for _, figure in points):
        return 0.0
    sizes, figures = ([math.log(each) for each in series] for series in zip(*points, strict=True))
    return linear_regression(sizes, figures).slope


def measure(
    sizes: Sequence[int],
    repetitions: int = _REPETITIONS,
    subjects: Sequence[type[Subject]] = SUBJECTS,
) -> list[Curve]:
    """Measure each operation at each size, in ascending order. Raises `RequestError`."""
    return [curve for make in subjects for curve in _curves(make, sizes, repetitions)]


def _curves(make: type[Subject], sizes: Sequence[int], repetitions: int) -> Iterator[Curve]:
    points: dict[str, list[Point]] = {}
    with function() as running:
        subject = make(running.new_tenant(TENANT))
        for size in (each for each in sizes if each <= subject.most):
            subject.grow(size)
            runs: dict[str, list[list[Call]]] = {}
            for name, operation in chain(*(subject.operations() for _ in range(repetitions))):
                runs.setdefault(name, []).append(operation())
            for name, calls in runs.items():
                points.setdefault(name, []).append(_point(size, calls))
    for name, found in points.items():
        yield Curve(name, name.endswith("counted"), found, bool(_EXAMINED.search(name)))


def _point(size: int, runs: Sequence[Sequence[Call]]) -> Point:
    write = median(sum(each.write + each.index_write for each in run) for run in runs)
    read = median(sum(each.read + each.index_read for each in run) for run in runs)
    sent = median(sum(each.sent + each.received for each in run) for run in runs)
    return Point(size, median(map(len, runs)), write, read, sent)


def as_text(curves: Sequence[Curve]) -> str:
    """Render a line for each operation: the figures at all sizes, and their exponents."""
    heads = ["operation", "calls", "write units", "read units", "units: exponent"]
    heads += ["KB", "exponent", ""]
    return "\n".join([text_table(heads, [_cells(curve) for curve in curves]), *_NOTES])


def _cells(curve: Curve) -> list[str]:
    return [
        curve.operation,
        _series(curve, lambda point: point.calls),
        _series(curve, lambda point: point.write),
        _series(curve, lambda point: point.read),
        f"{curve.exponent(lambda point: point.write + point.read):.2f}",
        _series(curve, lambda point: round(point.bytes / 1024, 1)),
        f"{curve.exponent(lambda point: point.bytes):.2f}",
        _verdict(curve),
    ]


def _series(curve: Curve, figure: Callable[[Point], float]) -> str:
    """Render the figures at all sizes, or one figure if they are equal."""
    figures = [f"{figure(point):g}" for point in curve.points]
    return figures[0] if len(set(figures)) == 1 else " ".join(figures)


def _verdict(curve: Curve) -> str:
    if curve.grows:
        return "grows, by design"
    if curve.is_bounded:
        return f"grows to {MAX_EXAMINED:,} examined"
    return "flat" if curve.flat else "NOT FLAT"
