"""ADR-043's own turn, over and over, with episodes at their largest: what it costs at the end.

A turn recalls ten episodes and the facts, selects a workflow, starts a run with all of that as its
input, appends an episode, completes the run, learns a fact and reports the workflow's outcome.
"""

import string
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from statistics import mean
from time import perf_counter, process_time

from benchmarks.capacity import recorded
from benchmarks.inprocess import Caller, Function, function
from benchmarks.tables import text_table
from functions.platform.limits import MAX_EPISODE_BYTES

_AGENT_TYPE, _TASK_TYPE = "sdr", "first_mail"
_PROCEDURES = f"/api/v1/procedures/{_AGENT_TYPE}/{_TASK_TYPE}"
_WORKFLOWS = ("ask-first", "offer-first")
_LEADS = 100
_GROUPS = 10


@dataclass(frozen=True, slots=True)
class Turn:
    """What one turn took, and how many KB of input its run has; `cpu` is of this process, in s."""

    calls: int
    write: float
    read: float
    seconds: float
    cpu: float
    input_kb: float


def measure(turns: int) -> str:
    """Take so many turns on tables in memory; a table of ten groups. Raises `RequestError`."""
    with function() as running:
        agent = running.new_agent(running.new_tenant("turns"), "sdr-1")
        for workflow in _WORKFLOWS:
            agent.send("PUT", f"{_PROCEDURES}/{workflow}", {"spec": [workflow]})
        taken = [_measure_turn(running, agent, number) for number in range(turns)]
        _assert_kept(agent, turns)
    return _render(taken)


def _measure_turn(running: Function, agent: Caller, number: int) -> Turn:
    noise = Random(number)  # noqa: S311 - the same figures each time
    text = "".join(noise.choices(string.ascii_letters, k=MAX_EPISODE_BYTES - 2))
    with recorded(running.client) as calls:
        began, cpu = perf_counter(), process_time()
        size = _take_turn(agent, f"lead:{number % _LEADS}", text)
        seconds, cpu = perf_counter() - began, process_time() - cpu
    return Turn(
        len(calls),
        sum(call.write + call.index_write for call in calls),
        sum(call.read + call.index_read for call in calls),
        seconds,
        cpu,
        size / 1024,
    )


def _take_turn(agent: Caller, lead: str, text: str) -> int:
    """Take a turn; return the characters of the episodes in its input."""
    recalled = agent.send("GET", f"/api/v1/episodes?agent_type={_AGENT_TYPE}&limit=10")["episodes"]
    query = {"query": f"what do we know about {lead}", "top_k": 3}
    facts = agent.send("POST", "/api/v1/facts/recall", query)["facts"]
    workflow = agent.send("POST", f"{_PROCEDURES}/select")
    known = {"episodes": recalled, "facts": facts, "workflow": workflow}
    started = {"agent_type": _AGENT_TYPE, "instance_id": lead, "input": known}
    run = agent.send("POST", "/api/v1/runs", started)["id"]
    agent.send("POST", f"/api/v1/runs/{run}/episodes", {"content": text})
    done = agent.send("POST", f"/api/v1/runs/{run}/complete", {"output": text})
    if done["input"] != known:
        raise AssertionError("the run's input is not what was recalled")
    chosen = workflow["workflow_id"]
    fact = {"subject": lead, "predicate": "answers_to", "object": chosen}
    agent.send("POST", "/api/v1/facts", fact)
    agent.send("POST", f"{_PROCEDURES}/{chosen}/outcome", {"score": 1.0})
    return sum(len(each["content"]) for each in recalled)


def _assert_kept(agent: Caller, turns: int) -> None:
    """Assert that each turn's run, fact and outcome counts."""
    runs = agent.send("GET", f"/api/v1/runs?agent_type={_AGENT_TYPE}&limit=1&values=omit")
    facts = agent.send("GET", "/api/v1/facts?limit=1000")["facts"]
    ways = agent.send("GET", _PROCEDURES)["procedures"]
    counted = {
        "runs": runs["total"],
        "facts": sum(fact["learned_count"] for fact in facts),
        "outcomes": sum(way["outcomes"] for way in ways),
    }
    if set(counted.values()) != {turns}:
        raise AssertionError(f"after {turns} turns: {counted}")


def _render(taken: Sequence[Turn]) -> str:
    heads = [
        "turns",
        "calls",
        "write units",
        "read units",
        "seconds",
        "CPU",
        "longest",
        "input, KB",
    ]
    step = max(1, len(taken) // _GROUPS)
    groups = [(at, taken[at : at + step]) for at in range(0, len(taken), step)]
    return text_table(heads, [_render_group(at, group) for at, group in groups])


def _render_group(at: int, group: Sequence[Turn]) -> list[str]:
    means = [
        f"{mean(turn.calls for turn in group):.1f}",
        f"{mean(turn.write for turn in group):.0f}",
        f"{mean(turn.read for turn in group):.0f}",
        f"{mean(turn.seconds for turn in group):.2f}",
        f"{mean(turn.cpu for turn in group):.2f}",
        f"{max(turn.seconds for turn in group):.2f}",
        f"{mean(turn.input_kb for turn in group):.0f}",
    ]
    return [f"{at + 1}-{at + len(group)}", *means]
