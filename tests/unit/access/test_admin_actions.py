"""An action of administrators is theirs by its own rules, too, and not by its routes alone."""

from typing import Any
from unittest.mock import MagicMock

import pytest

from functions.api.route_index import list_routes
from functions.authorization.rules import Action, decide
from functions.identity.model import ADMIN, READ, WRITE, Principal


def list_actions() -> list[Action[Any]]:
    """List the actions that routes for administrators declare, and no others."""
    of_admins: set[Action[Any]] = set()
    of_others: set[Action[Any]] = set()
    for route in list_routes():
        (of_admins if route.required_permission == ADMIN else of_others).update(route.audited)
    return sorted(of_admins - of_others, key=lambda each: each.name)


@pytest.mark.parametrize("action", list_actions(), ids=lambda each: each.name)
def test_nobody_without_the_permission_may_do_it(action: Action[Any]) -> None:
    for kind in ("agent", "coordinator", "user"):
        caller = Principal("acme", "ada", kind, frozenset({READ, WRITE}))
        assert not decide(caller, action, MagicMock()).allowed


def test_there_are_such_actions() -> None:
    assert "agent.configure" in {each.name for each in list_actions()}
