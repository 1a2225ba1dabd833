"""Estimate what a deployment costs a month. docs/explanation/cost.md has the sources of prices."""

from dataclasses import asdict, dataclass
from typing import Any

A_TURN, A_RECALL, A_PUT, A_GET = 9.02, 3.04, 2.79, 1.43  # USD for a million, with their events
COLD_START = 0.01 * 1.5 * 13.3334  # a million requests: 1 % start an instance, 1.5 s at 1 GB
EDGE_FIXED, EDGE_REQUEST = 11.00, 1.60  # firewall and CloudFront: a month, a million requests
REPLICATED_TURN, REPLICATED_PUT = 7.62, 1.25  # a million: the write units again, in the standby
STORED_GB, BACKUP_GB = 0.45, 0.10  # a month, with point-in-time recovery; a backup of tables
TURN_BYTES, EVENT_BYTES = 2300, 480  # two messages of 1 KB with their items; an event in its log
ALARM_METRICS = 56  # an alarm on an expression counts each of its metrics
FIXED = {
    "alarms": ALARM_METRICS * 0.10,
    "dashboard": 3.00,
    "keys and their secret": 2 * 1.00 + 0.40,
    "metric of the service": 0.30,
    "schedule": 0.17,
}
MONTHS = 12  # for which events and messages are kept by default
KEY_REQUEST = 3.00  # a million requests to KMS; a data key is used for 10,000 values
VALUES_A_KEY = 10_000
LEARNED_IN, LEARNED_OUT = 1200, 150  # tokens of a turn that a model learns from, with the prompt
VECTOR_BYTES = 4 * 384  # of an entry or a message that is found by meaning


@dataclass(frozen=True, kw_only=True)
class Usage:
    """The use of a deployment in a month, and its options that cost.

    Attributes:
        agents: the number of agents that talk.
        turns: the turns of each agent: two messages, a recall, a checkpoint written and one read.
        gets, puts: more requests of all agents that read or write one entry.
        edge: whether CloudFront and a firewall precede the API.
        standby: whether a second Region follows.
        backup_days: for how many days daily backups are kept; 0 without backups.
        model_in, model_out: USD for a million tokens of the model that learns from all turns.
    """

    agents: int = 0
    turns: int = 0
    gets: int = 0
    puts: int = 0
    edge: bool = False
    standby: bool = False
    backup_days: int = 0
    model_in: float = 0
    model_out: float = 0


def estimate(usage: Usage) -> dict[str, Any]:
    """Estimate the cost of a month in USD, now and when the deployment is a year old."""
    turns = usage.agents * usage.turns
    puts, gets = turns + usage.puts, turns + usage.gets
    requests = 2 * turns + puts + gets
    regions = 2 if usage.standby else 1
    stored_gb = (turns * TURN_BYTES + puts * EVENT_BYTES) / 1e9
    by_use = {
        "turns": (turns * (A_TURN + A_RECALL)) / 1e6,
        "writes of entries": puts * A_PUT / 1e6,
        "reads of entries": gets * A_GET / 1e6,
        "cold starts": requests * COLD_START / 1e6,
        "data keys": (2 * turns + puts) / VALUES_A_KEY * KEY_REQUEST / 1e6,
    }
    fixed = {name: price * regions for name, price in FIXED.items()}
    if usage.edge:
        fixed["firewall"] = EDGE_FIXED
        by_use["firewall and CloudFront"] = requests * EDGE_REQUEST / 1e6
    if usage.standby:
        by_use["replication"] = (turns * REPLICATED_TURN + puts * REPLICATED_PUT) / 1e6
    if usage.model_in or usage.model_out:
        tokens = LEARNED_IN * usage.model_in + LEARNED_OUT * usage.model_out
        by_use["model that learns"] = turns * tokens / 1e6
    without_storage = sum(fixed.values()) + sum(by_use.values())
    storage_price = STORED_GB * regions + BACKUP_GB * usage.backup_days
    return {
        "usage": asdict(usage),
        "requests": requests,
        "fixed": _round(fixed),
        "by_use": _round(by_use),
        "storage_first_month": round(stored_gb * storage_price, 2),
        "storage_after_a_year": round(stored_gb * MONTHS * storage_price, 2),
        "first_month": round(without_storage + stored_gb * storage_price, 2),
        "month_after_a_year": round(without_storage + stored_gb * MONTHS * storage_price, 2),
        "vector_gb_written": round((2 * turns + puts) * VECTOR_BYTES / 1e9, 2),
        "not_included": [
            "data out to the internet (0.09 a GB), and between Regions",
            "the GB written to DynamoDB's vector index, if you use it: AWS publishes no price",
            "a NAT gateway, large objects, and further versions of KMS keys after rotations",
        ],
    }


def _round(prices: dict[str, float]) -> dict[str, float]:
    return {name: round(price, 2) for name, price in prices.items()}
