"""Measures how an agent's long memory scrolls: `python -m tests.console.scrolling [ENTRIES]`.

It stores the entries past the service, opens the list in Chromium and goes to its very end, once by
the wheel and once by the key End.
"""

import json
import os
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from statistics import median
from unittest.mock import patch

import httpx

from benchmarks.inprocess import local_aws
from functions.local import engine
from functions.local.bootstrap import MEMORY_TABLE
from functions.platform.aws import create_client
from functions.platform.bulk_writes import write_parallel
from functions.platform.clock import now_ms
from functions.platform.table import Table
from tests.console.browser import Browser, start_browser
from tests.console.visit import Visit
from tests.contract.expect import ok
from tests.contract.local_server import ROOT, running
from tests.seeding import build_entry_puts

_ENTRIES = 100_000
_AGENT, _TENANT = "long-memory", "default"
_WIDTH, _HEIGHT = 1200, 860
_WHEEL_PIXELS = 1200  # of one event: a fast wheel
_QUIET_ANSWERS, _QUIET_SECONDS = 50, 0.1
_PATIENCE = 1800.0  # seconds, to get to the end
_NUMBERS = """[...document.querySelectorAll(".memories > li .quiet")]
  .map(each => Number(/-(\\d+)/.exec(each.textContent)?.[1]))"""
_HAS_MORE = "document.querySelectorAll('.count button').length > 0"
_FRAME = "new Promise(resolve => requestAnimationFrame(() => resolve(true)))"
_WATCH = """(() => {
  const state = window.watched = {seen: new Uint8Array(%d), gaps: [], tasks: [], rows: 0};
  let last = performance.now();
  const frame = now => { state.gaps.push(now - last); last = now; requestAnimationFrame(frame); };
  requestAnimationFrame(frame);
  const observer = new PerformanceObserver(list => {
    list.getEntries().forEach(each => state.tasks.push(each.duration));
  });
  observer.observe({entryTypes: ["longtask"]});
  const look = () => {
    const numbers = %s;
    state.rows = Math.max(state.rows, numbers.length);
    numbers.forEach(each => { state.seen[each] = 1; });
  };
  const changes = {subtree: true, childList: true};
  new MutationObserver(look).observe(document.querySelector("main"), changes);
  look();
  return true;
})()"""
_FIGURES = """(() => {
  const {seen, gaps, tasks, rows} = window.watched;
  const sorted = gaps.toSorted((a, b) => a - b);
  const at = part => Math.round(sorted[Math.min(sorted.length - 1, sorted.length * part | 0)]);
  return {
    "entries seen": seen.reduce((a, b) => a + b, 0),
    "rows in the page, at most": rows,
    "elements in the page": document.querySelectorAll("*").length,
    "frames": gaps.length,
    "gap between frames, median (ms)": at(0.5),
    "gap between frames, 99 % (ms)": at(0.99),
    "gap between frames, longest (ms)": at(1),
    "gaps over 100 ms": gaps.filter(each => each > 100).length,
    "tasks over 50 ms": tasks.length,
    "longest task (ms)": Math.round(Math.max(0, ...tasks)),
  };
})()"""
Figures = dict[str, float]


def measure(entries: int) -> dict[str, Figures]:
    """Measure the first view, and the way to the end by the wheel and by the key End."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        key = store_long_memory(data, entries)
        with (
            running(data) as server,
            start_browser(Path(folder) / "profile") as browser,
            server.client() as admin,
        ):
            _await_quiet(admin)
            return measure_screens(Visit(browser, server, admin), key, entries)


def _await_quiet(admin: httpx.Client) -> None:
    """Wait until the engine has ended its look at every item, with which the server starts."""
    answers = [1.0] * _QUIET_ANSWERS
    while median(answers[-_QUIET_ANSWERS:]) > _QUIET_SECONDS:
        began = time.perf_counter()
        ok(admin.get("/api/v1/agents"))
        answers.append(time.perf_counter() - began)


def measure_screens(visit: Visit, key: str, entries: int) -> dict[str, Figures]:
    """Measure on a server that has the entries."""
    size = {"width": _WIDTH, "height": _HEIGHT, "deviceScaleFactor": 1, "mobile": False}
    visit.browser.call("Emulation.setDeviceMetricsOverride", **size)
    visit.sign_in(key, screen="facts")
    found = {"first view": _measure_first_views(visit)}
    for way, act in (("the wheel", _turn_wheel), ("the key End", _press_end)):
        visit.sign_in(key, screen="facts")
        _show(visit, "")
        found[f"to the end by {way}"] = _measure_way(visit.browser, act, entries)
    return found


def _measure_first_views(visit: Visit) -> Figures:
    filters = {"all": "", "a tag": "&tags=common", "a key that none has": "&key=none"}
    return {f"{name} (s)": _show(visit, query) for name, query in filters.items()}


def _show(visit: Visit, query: str) -> float:
    """Show a list of the agent's entries; return after how many seconds it stood."""
    visit.go_to("Facts", "facts")
    began = time.perf_counter()
    visit.go_to("Memories", f"memory?agent_id={_AGENT}{query}")
    return round(time.perf_counter() - began, 2)


def _measure_way(browser: Browser, act: Callable[[Browser], None], entries: int) -> Figures:
    browser.evaluate("document.activeElement?.blur()")
    browser.evaluate(_WATCH % (entries, _NUMBERS))
    cpu, began = browser.get_busy_seconds(), time.monotonic()
    while browser.evaluate(_HAS_MORE):
        act(browser)
        browser.evaluate(_FRAME)
        assert time.monotonic() - began < _PATIENCE, browser.evaluate(_FIGURES)
    seconds = time.monotonic() - began
    cpu = browser.get_busy_seconds() - cpu
    browser.call("HeapProfiler.collectGarbage")
    heap = browser.call("Runtime.getHeapUsage")["usedSize"]
    figures: Figures = browser.evaluate(_FIGURES)
    return figures | {
        "seconds": round(seconds),
        "CPU of the page's thread (s)": round(cpu, 1),
        "CPU of a page of the list (s)": round(cpu / (entries / 100), 3),
        "heap (MB)": round(heap / 1e6, 1),
    }


def _turn_wheel(browser: Browser) -> None:
    at = {"x": _WIDTH // 2, "y": _HEIGHT // 2}
    browser.call(
        "Input.dispatchMouseEvent", type="mouseWheel", deltaX=0, deltaY=_WHEEL_PIXELS, **at
    )


def _press_end(browser: Browser) -> None:
    browser.press_key("End")


def store_long_memory(data: Path, entries: int) -> str:
    """Store an agent's entries in a data folder that no server uses; return the agent's key."""
    with running(data) as server, server.client() as admin:
        body = {"id": _AGENT, "kind": "agent"}
        key = str(ok(admin.post("/api/v1/principals", json=body), 201)["api_key"])
        settings = {"episodic": {"capacity": entries}}
        ok(admin.patch(f"/api/v1/agents/{_AGENT}/memory/config", json=settings))
    binary = engine.find_binary(ROOT)
    assert binary is not None
    database = data / "memory.db"
    running_engine = engine.start(binary, database, data / "seeding.log")
    try:
        with patch.dict(os.environ, local_aws(running_engine.url)):
            table = Table(create_client("dynamodb"), MEMORY_TABLE)
            numbers, tags = range(entries), ["common"]
            puts = build_entry_puts(_TENANT, _AGENT, "episodic", numbers, tags, now_ms())
            write_parallel(table, puts)
    finally:
        running_engine.stop()
    _forget_changes(database)
    return key


def _forget_changes(database: Path) -> None:
    """Let the service take the entries as if it had logged their creation long ago."""
    with closing(sqlite3.connect(database)) as connection:
        newest = "SELECT MAX(CAST(sequence_number AS INTEGER)) FROM _stream_records"
        (last,) = connection.execute(f"{newest} WHERE table_name = ?", (MEMORY_TABLE,)).fetchone()
    engine.trim_stream(database, MEMORY_TABLE, last)


if __name__ == "__main__":
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else _ENTRIES
    sys.stdout.write(json.dumps(measure(wanted), indent=2) + "\n")
