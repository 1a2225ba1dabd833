"""Plots for docs/explanation/performance.md, of the figures that a run has written."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

_FOLDER = Path(__file__).parents[1] / "docs" / "assets" / "performance"
_DRAWN = ("create episodic", "get episodic by id", "patch episodic", "query by two tags, 10 match")
_GROWING = ("query own memory", "query by a tag of all")

Figures = Mapping[str, Any]


def draw(figures: Path) -> None:
    """Write the SVG files of the parts that were measured. Raises `OSError`."""
    found: Figures = json.loads(figures.read_text())
    _FOLDER.mkdir(exist_ok=True)
    mpl.rcParams["svg.hashsalt"] = "agent-memory"  # the same figures make the same file
    mpl.rcParams["svg.fonttype"] = "none"
    mpl.rcParams["font.size"] = 9
    for name in found.keys() & _DRAWINGS:
        _DRAWINGS[name](found[name])


def _growth(curves: Sequence[Figures]) -> None:
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    units, latency = figure.subplots(1, 2)
    for curve in curves:
        if curve["operation"] in (*_DRAWN, *_GROWING):
            points = curve["points"]
            stored = [point["stored"] for point in points]
            style = "--" if curve["grows"] else "-"
            spent = [point["write"] + point["read"] for point in points]
            units.loglog(stored, spent, style, marker="o", label=curve["operation"])
            latency.loglog(stored, [point["ms"] for point in points], style, marker="o")
    units.set(xlabel="stored in the partition", title="capacity units, an operation")
    latency.set(xlabel="stored in the partition", title="milliseconds, an operation")
    units.legend(fontsize=7)
    _save(figure, "growth")


def _cpu(rows: Sequence[Figures]) -> None:
    figure = Figure(figsize=(7, 3), layout="constrained")
    axes = figure.subplots()
    names = [row["operation"] for row in rows]
    series = {"raw call": "raw_us", "stock botocore": "botocore_us", "ours, all of it": "ours_us"}
    _bars(axes, names, {label: [row[key] for row in rows] for label, key in series.items()})
    axes.set(yscale="log", ylabel="us", title="client CPU of a request, engine excluded")
    _save(figure, "cpu")


def _servers(found: Figures) -> None:
    rows = found["rows"]
    most = max(row["clients"] for row in rows)
    shown = [row for row in rows if row["clients"] == most]
    figure = Figure(figsize=(7, 3), layout="constrained")
    axes = figure.subplots()
    series = {name: [row[name]["rate"] for row in shown] for name in ("ours", "reference")}
    _bars(axes, [row["case"] for row in shown], series)
    axes.set(ylabel="requests/s", title=f"over HTTP, {most} clients: beside openintent 0.17.0")
    _save(figure, "servers")


def _libraries(rows: Sequence[Figures]) -> None:
    largest = max(row["entries"] for row in rows)
    shown = [row for row in rows if row["clients"] == 1 and row["entries"] == largest]
    names = list(dict.fromkeys(row["case"] for row in shown))
    series: dict[str, list[float]] = {}
    for row in shown:
        series.setdefault(row["library"], []).append(row["rate"])
    figure = Figure(figsize=(7, 3), layout="constrained")
    axes = figure.subplots()
    _bars(axes, names, series)
    axes.set(yscale="log", ylabel="requests/s", title=f"as libraries, in {largest:,} entries")
    _save(figure, "libraries")


def _bars(axes: Axes, names: Sequence[str], series: Mapping[str, Sequence[float]]) -> None:
    width = 0.8 / len(series)
    for place, (label, values) in enumerate(series.items()):
        at = [number + (place - (len(series) - 1) / 2) * width for number in range(len(names))]
        axes.bar(at, values, width, label=label)
    axes.set_xticks(range(len(names)), names)
    axes.legend(fontsize=7)


def _save(figure: Figure, name: str) -> None:
    figure.savefig(_FOLDER / f"{name}.svg", metadata={"Date": None})


_DRAWINGS: dict[str, Callable[[Any], None]] = {
    "growth": _growth,
    "floor": _cpu,
    "compare": _servers,
    "peers": _libraries,
}
