"""Test who may do what with intents, by the rules of each action."""

import pytest

from functions.authorization.rules import Action, decide, is_allowed
from functions.identity.model import ADMIN, Kind, Principal
from functions.tasks.authority import (
    READ_INTENT,
    READ_LOG,
    READ_SNAPSHOT,
    SET_ACL,
    SET_OWNER,
    USE_INTENT,
    SnapshotTarget,
)
from functions.tasks.model import Intent
from tests.unit.tasks.making import principal

OWNED = Intent(
    "i", "owner", frozenset({"participant"}), {"reader": "read", "writer": "write"}, 1, 1
)
UNCLAIMED = Intent("i", version=1)
CALLERS: dict[str, Principal] = {
    "owner": principal("owner", "coordinator"),
    "participant": principal("participant"),
    "reader": principal("reader"),
    "writer": principal("writer"),
    "admin": principal("admin", "user", [ADMIN]),
    "agent": principal("agent"),
    "admin agent": principal("robot", "agent", [ADMIN]),
    "coordinator": principal("coordinator", "coordinator"),
    "user": principal("user", "user"),
}
COORDINATING = {"owner", "admin", "coordinator", "user"}
AGENTS = {"participant", "reader", "writer", "agent", "admin agent"}
ADMINS = {"admin", "admin agent"}


@pytest.mark.parametrize(
    ("action", "of_owned", "of_unclaimed"),
    [
        (READ_INTENT, {"owner", "participant", "reader", "writer"} | ADMINS, ADMINS),
        (READ_LOG, {"owner", "participant", "reader", "writer"} | ADMINS, AGENTS | ADMINS),
        (USE_INTENT, {"owner", "participant", "writer"}, set(CALLERS)),
        (SET_ACL, {"owner"} | ADMINS, COORDINATING),
        (SET_OWNER, ADMINS, ADMINS),
    ],
)
def test_an_action_is_for_those_whom_a_rule_permits(
    action: Action[Intent], of_owned: set[str], of_unclaimed: set[str]
) -> None:
    for intent, expected in ((OWNED, of_owned), (UNCLAIMED, of_unclaimed)):
        permitted = {name for name, who in CALLERS.items() if is_allowed(who, action, intent)}
        assert permitted == expected, intent


@pytest.mark.parametrize(
    ("who", "rule"),
    [
        ("owner", "owner of the intent"),
        ("reader", "on the intent's access list"),
        ("agent", "the agent whose memory it was"),
        ("participant", None),
        ("admin", None),
    ],
)
def test_a_snapshot_shows_its_values_to_owner_list_and_agent(who: str, rule: str | None) -> None:
    found = decide(CALLERS[who], READ_SNAPSHOT, SnapshotTarget(OWNED, "agent"))
    assert found.rule == rule


@pytest.mark.parametrize(("kind", "claims"), [("agent", False), ("coordinator", True)])
def test_naming_an_intent_makes_no_agent_its_owner(kind: Kind, claims: bool) -> None:
    assert is_allowed(principal("first", kind), SET_ACL, Intent("new")) is claims
