"""The report of a day, and its cost."""

from datetime import UTC, datetime, timedelta
from typing import Any

from functions.platform.clock import now_ms
from operations.aws_day.day import Day
from operations.aws_day.steps import describe_steps
from operations.deployment import client

_BILLED_AFTER = timedelta(hours=24)  # when AWS has most of a day's cost


def find_cost(day: Day) -> dict[str, Any] | None:
    """Find the cost of the day by service; None until AWS has it."""
    began, ended = (datetime.fromisoformat(day.state[each]) for each in ("began", "ended"))
    if _now() < ended + _BILLED_AFTER:
        return None
    answer = client("ce").get_cost_and_usage(
        TimePeriod={
            "Start": began.date().isoformat(),
            "End": (ended.date() + timedelta(days=1)).isoformat(),
        },
        Granularity="DAILY",
        Metrics=["UnblendedCost"],
        Filter={"Tags": {"Key": "memory", "Values": list(day.names)}},
        GroupBy=[{"Type": "DIMENSION", "Key": "SERVICE"}],
    )
    cost: dict[str, float] = {}
    for group in (each for period in answer["ResultsByTime"] for each in period["Groups"]):
        amount = float(group["Metrics"]["UnblendedCost"]["Amount"])
        cost[group["Keys"][0]] = round(cost.get(group["Keys"][0], 0) + amount, 4)
    return {"usd": round(sum(cost.values()), 2), "services": cost}


def render(day: Day) -> str:
    """Render the report as a page of the documentation."""
    state = day.state
    lines = [
        "# A day on AWS",
        "",
        f"`make aws-day` ran in {state['region']} from {state['began']}.",
        f"Commit {state['commit']}, options `{_render_options(day)}`. It took these steps:",
        "",
        "| step | result | seconds | what was found |",
        "|---|---|---|---|",
    ]
    for name, meaning in describe_steps().items():
        result = state["steps"].get(name, {"status": "not run", "seconds": "", "facts": {}})
        found = _render_facts(result["facts"])
        lines.append(
            f"| **{name}**: {meaning} | {result['status']} | {result['seconds']} | {found} |"
        )
    return "\n".join([*lines, "", *_render_end(state), ""])


def _render_end(state: dict[str, Any]) -> list[str]:
    left = state.get("left")
    cleaned = "Nothing is left of it." if left == [] else f"Left behind: {left}."
    cost = state.get("cost")
    if cost is None:
        return [cleaned, "", "The cost is known a day later: repeat the command then."]
    note = "" if cost["usd"] else " Activate the cost allocation tag `memory` to see it."
    return [cleaned, "", f"It cost {cost['usd']} USD: {_render_facts(cost['services'])}.{note}"]


def _render_options(day: Day) -> str:
    return " ".join(f"-c {name}={value}" for name, value in day.context.items()) or "none"


def _render_facts(facts: dict[str, Any]) -> str:
    """Render facts on one line of a table."""
    text = "; ".join(f"{name} {_render_value(value)}" for name, value in facts.items())
    return text.replace("|", "/").replace("\n", " ")


def _render_value(value: Any) -> str:
    if isinstance(value, dict):
        return f"({_render_facts(value)})"
    if isinstance(value, list):
        return f"[{', '.join(map(str, value))}]"
    return str(value)


def _now() -> datetime:
    return datetime.fromtimestamp(now_ms() / 1000, UTC)


def now_text() -> str:
    """Return the time, to the second."""
    return _now().isoformat(timespec="seconds")
