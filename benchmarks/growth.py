"""What each operation costs as the store grows, and how that grows: the fitted exponents.

An exponent of 0 says that a figure stays as it is however much is stored, 1 that it grows with it.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from time import perf_counter

from benchmarks import events, grown, grown_lists, grown_packages, grown_tasks
from benchmarks.capacity import Call, in_sequence
from benchmarks.grown import TENANT, Entries, Maker, Operation, Subject
from benchmarks.inprocess import function
from benchmarks.tables import text_table
from functions.platform.limits import MAX_EXAMINED

SIZES = (100, 1_000, 10_000, 100_000)
IMPORTED_SIZES = (100, 10_000)  # beside the largest one, of stores that are imported
IMPORTED: tuple[type[Entries], ...] = (grown.OwnMemory, grown.SharedMemory)
SUBJECTS: tuple[type[Subject], ...] = (
    grown.OwnMemory,
    grown.SharedMemory,
    grown_packages.Conversation,
    grown_packages.RunMemory,
    grown_packages.States,
    grown_packages.Episodes,
    grown_packages.Procedures,
    grown_packages.Instances,
    grown_tasks.TaskLists,
    events.Log,
    *grown_lists.LISTS,
)
_REPETITIONS, _ENOUGH, _SECONDS = 15, 3, 10.0
_NOTES = (
    "Sizes: what is stored in the same partition as what is measured, by 10: the worst case.",
    "Own memory holds 0.8 of that, below where reads count (decision 0012).",
    "Exponents: slopes fitted to the logarithms; 0 is flat, 1 grows as the store does.",
    "Bytes: of DynamoDB's requests and answers. ms: median, in one process, engine included.",
)


@dataclass(frozen=True, slots=True)
class Point:
    """One operation at one size: the median of its repetitions.

    `read` counts the units of the table and of its indexes, as `write` does; `bytes` both bodies.
    """

    stored: int
    calls: float
    in_sequence: float
    write: float
    read: float
    bytes: float
    ms: float


@dataclass(frozen=True, slots=True)
class Curve:
    """One operation at all sizes.

    `grows` says that its design lets it grow with the store, `is_bounded` that it grows up to what
    a page examines.
    """

    operation: str
    grows: bool
    points: list[Point]
    is_bounded: bool = False

    def exponent(self, figure: Callable[[Point], float]) -> float:
        """By which power of what is stored a figure grows."""
        return fitted([(point.stored, figure(point)) for point in self.points])

    @property
    def may_grow(self) -> bool:
        """Whether it may cost more where there is more."""
        return self.grows or self.is_bounded

    @property
    def flat(self) -> bool:
        """Whether calls and units are the same at every size."""
        return len({(each.calls, each.write, each.read) for each in self.points}) == 1


def fitted(points: Sequence[tuple[float, float]]) -> float:
    """The slope of the least-squares line through the logarithms; 0 where a figure is 0.

    It is 0 of a single point as well.
    """
    if len(points) < 2 or any(figure <= 0 for _, figure in points):
        return 0.0
    logs = [(math.log(size), math.log(figure)) for size, figure in points]
    middle, height = (sum(each) / len(logs) for each in zip(*logs, strict=True))
    rise = sum((x - middle) * (y - height) for x, y in logs)
    spread = sum((x - middle) ** 2 for x, _ in logs)
    return float(rise / spread)


def measure(
    sizes: Sequence[int],
    repetitions: int = _REPETITIONS,
    subjects: Sequence[Maker] = SUBJECTS,
) -> list[Curve]:
    """Every operation at each size, ascending, on tables in memory. Raises `RequestError`."""
    return [curve for make in subjects for curve in _curves(make, sizes, repetitions)]


def measure_imported(most: int, repetitions: int = _REPETITIONS) -> list[Curve]:
    """Entries in stores of up to `most`, each imported into an engine's file: fast, for many.

    Counted queries, which read all that is stored, are left out. Raises `RequestError`.
    """
    found = []
    for make in IMPORTED:
        points: _Points = {}
        for size in (*IMPORTED_SIZES, most):
            with function(make.build_puts(size)) as running:
                subject = make(running, running.new_tenant(TENANT), size)
                _add_points(points, subject, size, repetitions)
        found += [each for each in _to_curves(subject, points) if not each.grows]
    return found


def _curves(make: Maker, sizes: Sequence[int], repetitions: int) -> Iterator[Curve]:
    points: _Points = {}
    with function() as running:
        subject = make(running, running.new_tenant(TENANT))
        for size in (each for each in sizes if each <= subject.most):
            subject.grow(size)
            _add_points(points, subject, size, repetitions)
    return _to_curves(subject, points)


_Points = dict[str, list[Point]]


def _add_points(points: _Points, subject: Subject, size: int, repetitions: int) -> None:
    for name, measured in _at_this_size(subject, repetitions):
        points.setdefault(name, []).append(_point(size, measured))


def _to_curves(subject: Subject, points: _Points) -> Iterator[Curve]:
    return (
        Curve(name, name in subject.growing, found, name in subject.examined)
        for name, found in points.items()
    )


_Timed = tuple[list[Call], float]


def _at_this_size(subject: Subject, repetitions: int) -> Iterator[tuple[str, list[_Timed]]]:
    """Rounds of all operations, so that what one makes another takes away again.

    Slow ones are repeated less.
    """
    began = perf_counter()
    found: dict[str, list[_Timed]] = {}
    for number in range(repetitions):
        if number >= _ENOUGH and perf_counter() - began > _SECONDS:
            break
        for name, operation in subject.operations():
            found.setdefault(name, []).append(_timed(operation))
    return iter(found.items())


def _timed(operation: Operation) -> _Timed:
    began = perf_counter()
    calls = operation()
    return calls, (perf_counter() - began) * 1000


def _point(size: int, measured: Sequence[_Timed]) -> Point:
    runs = [calls for calls, _ in measured]
    return Point(
        stored=size,
        calls=median(len(run) for run in runs),
        in_sequence=min(map(in_sequence, runs)),
        write=median(sum(call.write + call.index_write for call in run) for run in runs),
        read=median(sum(call.read + call.index_read for call in run) for run in runs),
        bytes=median(sum(call.sent + call.received for call in run) for run in runs),
        ms=median(ms for _, ms in measured),
    )


def as_data(curves: Sequence[Curve]) -> list[dict[str, object]]:
    """All figures."""
    return [asdict(curve) | {"exponents": _exponents(curve)} for curve in curves]


def _exponents(curve: Curve) -> dict[str, float]:
    return {
        "units": round(curve.exponent(lambda point: point.write + point.read), 2),
        "bytes": round(curve.exponent(lambda point: point.bytes), 2),
        "ms": round(curve.exponent(lambda point: point.ms), 2),
    }


def as_text(curves: Sequence[Curve]) -> str:
    """The table, a line an operation: each figure at the sizes in turn, then its exponent."""
    heads = ["operation", "calls", "write units", "read units", "units: exponent"]
    heads += ["KB", "exponent", "ms", "exponent", ""]
    return "\n".join([text_table(heads, [_cells(curve) for curve in curves]), *_NOTES])


def _cells(curve: Curve) -> list[str]:
    exponents = _exponents(curve)
    return [
        curve.operation,
        _series(curve, lambda point: point.calls),
        _series(curve, lambda point: point.write),
        _series(curve, lambda point: point.read),
        f"{exponents['units']:.2f}",
        _series(curve, lambda point: round(point.bytes / 1024, 1)),
        f"{exponents['bytes']:.2f}",
        " ".join(f"{point.ms:.1f}" for point in curve.points),
        f"{exponents['ms']:.2f}",
        _verdict(curve),
    ]


def _series(curve: Curve, figure: Callable[[Point], float]) -> str:
    """The figures in turn, or one where all are the same."""
    figures = [f"{figure(point):g}" for point in curve.points]
    return figures[0] if len(set(figures)) == 1 else " ".join(figures)


def _verdict(curve: Curve) -> str:
    if curve.grows:
        return "grows, by design"
    if curve.is_bounded:
        return f"grows to {MAX_EXAMINED:,} examined"
    return "flat" if curve.flat else "NOT FLAT"
