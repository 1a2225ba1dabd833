"""A used up quota refuses new episodes; counts are remembered for a minute."""

import pytest

from functions.platform.errors import CapacityExceeded
from functions.platform.limits import MAX_EPISODES
from functions.usage.episode_quota import EpisodeQuota
from functions.usage.model import EpisodeCount
from functions.usage.store import UsageStore


class FixedCounts(UsageStore):
    """Counts that a test sets."""

    def __init__(self) -> None:
        self.count = 0
        self.released = 0
        self.reads = 0

    def get_episodes(self, tenant: str) -> EpisodeCount:  # noqa: ARG002 - all are alike
        self.reads += 1
        return EpisodeCount(self.count, self.released, is_warned=False)


def test_a_count_is_remembered_for_a_minute() -> None:
    now, counts = [0], FixedCounts()
    quota = EpisodeQuota(counts, lambda: now[0])
    for now[0] in (0, 59_999):
        quota.assert_room("acme")
    assert counts.reads == 1
    counts.count, now[0] = MAX_EPISODES, 60_000
    with pytest.raises(CapacityExceeded):
        quota.assert_room("acme")
    assert counts.reads == 2


def test_episodes_made_meanwhile_are_added() -> None:
    counts = FixedCounts()
    counts.count = MAX_EPISODES - 2
    quota = EpisodeQuota(counts, lambda: 0)
    for _ in range(2):
        quota.assert_room("acme")
        quota.add_episode("acme")
    with pytest.raises(CapacityExceeded):
        quota.assert_room("acme")
    quota.assert_room("globex")


def test_deleted_episodes_make_room_at_once() -> None:
    counts = FixedCounts()
    counts.count = MAX_EPISODES - 1
    quota = EpisodeQuota(counts, lambda: 0)
    quota.assert_room("acme")
    quota.add_episode("acme")  # which the stream hasn't counted yet
    with pytest.raises(CapacityExceeded):
        quota.assert_room("acme")
    counts.count, counts.released = MAX_EPISODES - 2, 1
    quota.assert_room("acme")
    quota.add_episode("acme")
    with pytest.raises(CapacityExceeded):
        quota.assert_room("acme")
