"""A used up quota refuses new items; counts are remembered for a minute."""

import pytest

from functions.platform.errors import CapacityExceeded
from functions.quotas.model import EPISODES, QUOTAS, Quota, QuotaUsage
from functions.quotas.service import Quotas
from functions.quotas.store import QuotaStore


class FixedCounts(QuotaStore):
    """Counts that a test sets."""

    def __init__(self) -> None:
        self.count = 0
        self.released = 0
        self.reads = 0

    def get_usage(self, tenant: str, quota: Quota) -> QuotaUsage:  # noqa: ARG002 - all are alike
        self.reads += 1
        return QuotaUsage(self.count, self.released, is_warned=False)


def test_names_and_metrics_of_quotas_are_unique() -> None:
    assert len({quota.name for quota in QUOTAS}) == len(QUOTAS)
    assert len({quota.metric for quota in QUOTAS}) == len(QUOTAS)
    assert all(0 < quota.warning < quota.limit for quota in QUOTAS)


def test_a_count_is_remembered_for_a_minute() -> None:
    now, counts = [0], FixedCounts()
    quotas = Quotas(counts, lambda: now[0])
    for now[0] in (0, 59_999):
        quotas.assert_room("acme", EPISODES)
    assert counts.reads == 1
    counts.count, now[0] = EPISODES.limit, 60_000
    with pytest.raises(CapacityExceeded):
        quotas.assert_room("acme", EPISODES)
    assert counts.reads == 2


def test_items_made_meanwhile_are_added() -> None:
    counts = FixedCounts()
    counts.count = EPISODES.limit - 2
    quotas = Quotas(counts, lambda: 0)
    for _ in range(2):
        quotas.assert_room("acme", EPISODES)
        quotas.add_item("acme", EPISODES)
    with pytest.raises(CapacityExceeded):
        quotas.assert_room("acme", EPISODES)
    quotas.assert_room("globex", EPISODES)


def test_deleted_items_make_room_at_once() -> None:
    counts = FixedCounts()
    counts.count = EPISODES.limit - 1
    quotas = Quotas(counts, lambda: 0)
    quotas.assert_room("acme", EPISODES)
    quotas.add_item("acme", EPISODES)  # which the stream hasn't counted yet
    with pytest.raises(CapacityExceeded):
        quotas.assert_room("acme", EPISODES)
    counts.count, counts.released = EPISODES.limit - 2, 1
    quotas.assert_room("acme", EPISODES)
    quotas.add_item("acme", EPISODES)
    with pytest.raises(CapacityExceeded):
        quotas.assert_room("acme", EPISODES)
