"""ADR-043's own turn, with episodes at their largest: what is recalled becomes the input."""

from typing import Any

import httpx
import pytest

from functions.platform.limits import MAX_EPISODE_BYTES
from tests.contract.expect import ok
from tests.contract.run_calls import EPISODES, append, end, start
from tests.contract.service import Tenant

pytestmark = pytest.mark.parametrize("engine", ["dynoxide"], indirect=True)
_CONTENT = "x" * (MAX_EPISODE_BYTES - 2)


def take_turn(client: httpx.Client) -> int:
    """Take a turn; return how many episodes it recalled."""
    episodes: list[Any] = ok(client.get(EPISODES, params={"agent_type": "sdr"}))["episodes"]
    run = start(client, input={"episodes": episodes})
    append(client, run, _CONTENT)
    done = ok(end(client, run, output=_CONTENT))
    assert done["input"] == {"episodes": episodes}
    return len(episodes)


def test_turns_go_on_with_ten_largest_episodes(tenant: Tenant) -> None:
    client = tenant.agent("sdr-1")
    assert [take_turn(client) for _ in range(12)] == [*range(11), 10]
