"""Draw the diagrams of the documentation: docs/assets/*.svg.

Boxes and arrows are listed here as text, so that a change of a diagram shows in review. A test
compares the checked-in files with what this module renders.
"""

import tomllib
from html import escape
from pathlib import Path

ASSETS = Path(__file__).parents[2] / "docs/assets"
_BLUE, _GREEN, _AMBER, _GREY = "#dbe7fb", "#d9f0e1", "#fbeccd", "#eef0f3"
_INK, _LINE = "#1d2733", "#5b6b7f"


class Diagram:
    """One picture: boxes, arrows and labels on a canvas of `width` x `height` pixels."""

    def __init__(self, title: str, width: int, height: int) -> None:
        self._head = (title, width, height)
        self._parts: list[str] = []

    def frame(self, x: int, y: int, width: int, height: int, label: str) -> None:
        """Draw a group with its name at the top."""
        self._parts.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="10" fill="none"'
            f' stroke="{_LINE}" stroke-dasharray="5 4"/>'
        )
        self._text(x + 14, y + 20, label, anchor="start", size=13, colour=_LINE)

    def box(
        self, x: int, y: int, width: int, height: int, title: str, *lines: str, fill: str = _GREY
    ) -> None:
        """Draw a box with a title and lines of smaller text below it."""
        self._parts.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="7" fill="{fill}"'
            f' stroke="{_LINE}"/>'
        )
        first = y + height / 2 - 8.5 * len(lines) + 5
        if title:
            self._text(x + width / 2, first, title, size=15, weight="600")
        else:
            first -= 10
        for number, line in enumerate(lines, 1):
            self._text(x + width / 2, first + 2 + 17 * number, line, size=12.5)

    def arrow(
        self, *points: tuple[int, int], label: str = "", at: tuple[int, int] | None = None
    ) -> None:
        """Draw a line with a head through `points`; the label is centered at `at`."""
        path = " ".join(f"{x},{y}" for x, y in points)
        self._parts.append(
            f'<polyline points="{path}" fill="none" stroke="{_LINE}" stroke-width="1.6"'
            ' marker-end="url(#head)"/>'
        )
        if label:
            (x1, y1), (x2, y2) = points[0], points[-1]
            x, y = at or ((x1 + x2) // 2, (y1 + y2) // 2 - 6)
            for number, line in enumerate(label.split("\n")):
                self._text(x, y + 15 * number, line, size=12, colour=_LINE)

    def render(self) -> str:
        """Render the SVG document."""
        title, width, height = self._head
        return "\n".join(
            [
                (
                    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
                    f' width="{width}" height="{height}" role="img" aria-label="{escape(title)}"'
                    ' font-family="system-ui, Segoe UI, Helvetica, Arial, sans-serif">'
                ),
                f"<title>{escape(title)}</title>",
                (
                    '<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8"'
                    f' markerHeight="8" orient="auto-start-reverse"><path d="M0,0 L10,5 L0,10 z"'
                    f' fill="{_LINE}"/></marker></defs>'
                ),
                f'<rect width="{width}" height="{height}" rx="12" fill="#ffffff"/>',
                *self._parts,
                "</svg>\n",
            ]
        )

    def _text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        anchor: str = "middle",
        size: float = 13,
        weight: str = "400",
        colour: str = _INK,
    ) -> None:
        self._parts.append(
            f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="{size:g}"'
            f' font-weight="{weight}" fill="{colour}">{escape(text)}</text>'
        )


def overview() -> Diagram:
    """Draw the service and its users."""
    d = Diagram("Agents use the service over HTTP; it runs on Lambda and DynamoDB", 940, 400)
    d.frame(16, 16, 218, 368, "your agents")
    d.box(36, 48, 178, 60, "SDK, worker", "Python", fill=_BLUE)
    d.box(36, 122, 178, 60, "adapters, MCP", "LangGraph, OpenAI Agents", fill=_BLUE)
    d.box(36, 196, 178, 60, "command line", "agent-memory", fill=_BLUE)
    d.box(
        36,
        270,
        178,
        96,
        "any HTTP client",
        "OpenIntent, OpenWOP,",
        "Agent Memory Protocol",
        fill=_BLUE,
    )
    d.frame(322, 16, 230, 368, "Agent Memory (AWS Lambda)")
    d.box(
        342,
        48,
        190,
        130,
        "api",
        "keys, permissions,",
        "versions, limits,",
        "queries, search",
        fill=_GREEN,
    )
    d.box(342, 196, 190, 76, "stream", "event logs, bus, vectors", fill=_GREEN)
    d.box(342, 290, 190, 76, "schedule", "expiry, archival, repairs", fill=_GREEN)
    d.frame(640, 16, 284, 368, "Amazon DynamoDB")
    d.box(
        660,
        48,
        244,
        190,
        "memory table",
        "working, episodic, semantic entries",
        "tasks, workflows, namespaces",
        "runs, episodes, facts, procedures",
        "conversations, states, objects",
        "principals, keys, counters",
        fill=_AMBER,
    )
    d.box(660, 290, 244, 76, "log table", "events: who, what, when", fill=_AMBER)
    d.arrow((234, 112), (340, 112), label="HTTPS", at=(282, 104))
    d.arrow((532, 112), (658, 112), label="one call", at=(597, 104))
    d.arrow((658, 220), (534, 220), label="changes", at=(597, 212))
    d.arrow((534, 254), (600, 254), (600, 312), (658, 312))
    d.arrow((532, 342), (614, 342), (614, 232), (658, 232))
    return d


def packages() -> Diagram:
    """Draw the import rules of packages: each imports only packages below it."""
    rules = tomllib.loads((ASSETS.parents[1] / "pyproject.toml").read_text("utf-8"))
    layers = rules["tool"]["importlinter"]["contracts"][0]["layers"]
    domains = layers[3:-1]  # behind local, the entry points and the container
    end = 276 + 50 * len(domains)
    d = Diagram("Packages of functions/: each imports only what is below it", 940, end + 108)
    d.box(320, 16, 300, 50, "local", "development server: HTTP, stream, clock", fill=_BLUE)
    for x, name, what in (
        (16, "api", "HTTP requests"),
        (248, "stream", "DynamoDB's change stream"),
        (480, "schedule", "once a minute"),
        (712, "task_events", "EventBridge"),
    ):
        d.box(x, 92, 212, 52, name, what, fill=_BLUE)
        d.arrow((470, 66), (x + 106, 90))
        d.arrow((x + 106, 144), (x + 106, 168))
    d.box(16, 170, 908, 50, "container", "wires the services; built at INIT", fill=_BLUE)
    d.arrow((470, 220), (470, 244))
    d.frame(16, 246, 908, end - 242, "domain packages: requests, model, rules, service, store")
    for row, layer in enumerate(domains):
        names = layer.split(" | ")
        step = 888 // len(names)
        for number, name in enumerate(names):
            d.box(30 + number * step, 276 + row * 50, step - 8, 40, "", name, fill=_GREEN)
    d.arrow((470, end + 4), (470, end + 28))
    d.box(
        *(16, end + 30, 908, 58),
        "platform",
        "table access, item types, clock, settings, encryption, limits, retries, AWS clients",
        fill=_AMBER,
    )
    return d


def data_flow() -> Diagram:
    """Draw the path of a write: request, table, stream, logs, bus and vectors."""
    d = Diagram("The way of a write through the service", 940, 470)
    d.box(16, 40, 130, 64, "client", fill=_BLUE)
    d.box(252, 40, 170, 64, "api", "check, build, write", fill=_GREEN)
    d.box(
        560,
        24,
        200,
        96,
        "memory table",
        "entry + counters + index",
        "rows, one transaction",
        fill=_AMBER,
    )
    d.arrow((146, 60), (250, 60), label="1 request", at=(198, 52))
    d.arrow((252, 86), (148, 86), label="3 answer", at=(198, 102))
    d.arrow((422, 60), (558, 60), label="2 one call", at=(490, 52))
    d.box(560, 196, 200, 64, "stream", "a list of consumers", fill=_GREEN)
    d.arrow((660, 120), (660, 194), label="4 change stream\n(old and new image)", at=(726, 152))
    d.box(252, 196, 170, 64, "log table", "each event once", fill=_AMBER)
    d.arrow((560, 216), (424, 216), label="5 append", at=(490, 208))
    d.box(16, 196, 130, 64, "EventBridge", "CloudEvents", fill=_BLUE)
    d.arrow(
        (560, 246), (490, 246), (490, 288), (80, 288), (80, 262), label="6 publish", at=(284, 282)
    )
    d.box(810, 196, 114, 64, "vectors", "and counts", fill=_AMBER)
    d.arrow((760, 228), (808, 228), label="7", at=(783, 220))
    d.box(252, 372, 170, 64, "schedule", "once a minute", fill=_GREEN)
    d.box(
        560,
        356,
        200,
        96,
        "memory table",
        "what is due, by shard",
        "(sparse index by_due)",
        fill=_AMBER,
    )
    d.arrow((422, 392), (558, 392), label="8 due?", at=(490, 384))
    d.arrow((422, 418), (558, 418), label="9 expire, archive,\nrepair", at=(490, 436))
    d.box(16, 372, 130, 64, "archive", "S3: conversations", fill=_AMBER)
    d.arrow((252, 404), (148, 404))
    d.arrow((860, 404), (762, 404))
    d.box(810, 372, 114, 64, "TTL", fill=_GREY)
    return d


def memory_life() -> Diagram:
    """Draw the life of a memory: stored, embedded, recalled, changed, and ended."""
    d = Diagram("The life of a memory, from remember to forget", 940, 300)
    d.box(16, 40, 160, 76, "remember", "one conditional write", fill=_BLUE)
    d.box(256, 40, 180, 76, "entry", "version 1, author, time", fill=_AMBER)
    d.box(516, 40, 180, 76, "index", "meaning and words,", "a second later", fill=_GREEN)
    d.box(776, 40, 148, 76, "recall", "checks rights now", fill=_BLUE)
    d.arrow((176, 78), (254, 78), label="201", at=(215, 70))
    d.arrow((436, 78), (514, 78), label="stream", at=(475, 70))
    d.arrow((776, 78), (698, 78), label="asks", at=(737, 70))
    d.box(256, 186, 180, 76, "earlier versions", "kept 30 days", fill=_AMBER)
    d.box(16, 186, 160, 76, "update, restore", "at the version read", fill=_BLUE)
    d.box(516, 186, 180, 76, "end", "forget, ttl, eviction", fill=_GREY)
    d.box(776, 186, 148, 76, "gone", "no read returns it,", "history included", fill=_GREY)
    d.arrow((176, 224), (216, 224), (216, 100), (254, 100))
    d.arrow((346, 116), (346, 184), label="replaced", at=(386, 156))
    d.arrow((420, 116), (606, 184))
    d.arrow((696, 224), (774, 224), label="at once", at=(735, 216))
    return d


def recall() -> Diagram:
    """Draw how a question finds memories: candidates, the table, one score, and the text."""
    d = Diagram("How recall works: from a question to a block for a prompt", 940, 350)
    d.box(16, 138, 120, 76, "question", "words or vector", fill=_BLUE)
    d.frame(166, 16, 180, 318, "sources")
    for number, name in enumerate(("entries", "facts", "messages", "episodes")):
        d.box(186, 50 + 70 * number, 140, 54, name, fill=_AMBER)
    d.frame(376, 16, 200, 318, "indexes in memory")
    d.box(396, 66, 160, 92, "by meaning", "vectors of pieces,", "the nearest 20", fill=_GREEN)
    d.box(396, 208, 160, 92, "by words", "inverted index,", "the rarest 20", fill=_GREEN)
    d.box(616, 124, 140, 104, "table", "what exists now,", "what you may read", fill=_AMBER)
    d.box(796, 50, 128, 92, "one score", "meaning, words,", "IDs, rarity", fill=_GREEN)
    d.box(796, 216, 128, 92, "text", "fenced, with", "references", fill=_BLUE)
    d.arrow((136, 176), (164, 176))
    d.arrow((346, 176), (374, 176))
    d.arrow((556, 112), (614, 160))
    d.arrow((556, 254), (614, 194))
    d.arrow((756, 160), (794, 110))
    d.arrow((860, 142), (860, 214), label="best", at=(886, 182))
    return d


def hand_over() -> Diagram:
    """Draw how a task moves to another agent with its memory."""
    d = Diagram("A hand-over: the task moves to another agent with its memory", 940, 250)
    d.box(16, 40, 170, 84, "agent: frontline", "has the task", fill=_BLUE)
    d.box(350, 24, 240, 116, "task", "notes, files, grants,", "delegates: billing", fill=_AMBER)
    d.box(754, 40, 170, 84, "agent: billing", "has the task next", fill=_BLUE)
    d.arrow((186, 66), (348, 66), label="1 writes notes", at=(267, 58))
    d.arrow((186, 100), (348, 100), label="2 hand_over(note)", at=(267, 116))
    d.arrow((590, 66), (752, 66), label="3 context with note", at=(671, 58))
    d.arrow((752, 100), (592, 100), label="4 goes on writing", at=(671, 116))
    d.box(16, 172, 170, 56, "later writes", "409 TASK_REASSIGNED", fill=_GREY)
    d.arrow((100, 124), (100, 170))
    d.box(350, 172, 240, 56, "event log", "who had it, and when", fill=_GREEN)
    d.arrow((470, 140), (470, 170))
    return d


def data_model() -> Diagram:
    """Draw the data model: the parts of a tenant, and their relations."""
    d = Diagram("The data model: a tenant, its users and agents, and their memory", 940, 380)
    d.frame(16, 16, 908, 348, "tenant: nothing crosses its border")
    d.box(40, 56, 200, 62, "user", "users/{user_id}/*", fill=_BLUE)
    d.box(370, 56, 200, 62, "agent", "agents/{agent_id}/*", fill=_BLUE)
    d.box(700, 56, 200, 62, "task", "of an intent", fill=_BLUE)
    d.box(40, 180, 200, 76, "memories, facts", "entries of namespaces,", "statements", fill=_AMBER)
    d.box(370, 180, 200, 76, "own memory", "episodes, states,", "objects, checkpoints", fill=_AMBER)
    d.box(700, 180, 200, 76, "working memory", "archived at the end", fill=_AMBER)
    d.box(40, 290, 200, 56, "sessions", "messages in order", fill=_AMBER)
    d.box(370, 290, 530, 56, "event and audit log", "each change once", fill=_GREEN)
    d.arrow((140, 118), (140, 178), label="about", at=(168, 152))
    d.arrow((470, 118), (470, 178), label="owns", at=(496, 152))
    d.arrow((800, 118), (800, 178), label="holds", at=(828, 152))
    d.arrow((570, 87), (698, 87), label="is assigned", at=(634, 79))
    d.arrow((240, 87), (368, 87), label="talks to", at=(304, 79))
    d.arrow((140, 256), (140, 288))
    d.arrow((470, 256), (470, 288))
    d.arrow((800, 256), (800, 288))
    return d


DIAGRAMS = {
    "overview.svg": overview,
    "packages.svg": packages,
    "data-flow.svg": data_flow,
    "memory-life.svg": memory_life,
    "recall.svg": recall,
    "hand-over.svg": hand_over,
    "data-model.svg": data_model,
}


def write() -> None:
    """Write all diagrams."""
    for name, draw in DIAGRAMS.items():
        (ASSETS / name).write_text(draw().render(), encoding="utf-8")
