"""Correct counts of stored amounts by a daily scan: a crash may have made them wrong.

A minute before the scan, it stores the number of counted changes of each tenant. If the number is
the same a minute after the scan, a difference is an error, and is corrected. Other tenants were
written to, and are compared on the next day.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace

from functions.platform.clock import Clock
from functions.platform.item_types import TENANT
from functions.platform.keys import Key, get_tenant
from functions.usage.model import Reconciliation, add_change, find_measured, measure_change
from functions.usage.store import UsageStore

_DAY, _SETTLING = 86_400_000, 60_000  # ms
_FACTS = "items_facts"
_EXISTS = "exists"  # in the sums: marks a tenant whose item the scan has found


class Reconciler:
    """Reconciles the usage of all tenants.

    Args:
        notice_facts: called for each tenant with facts, once a day.
    """

    def __init__(
        self, store: UsageStore, notice_facts: Callable[[str], object], clock: Clock
    ) -> None:
        self._store = store
        self._notice_facts = notice_facts
        self._clock = clock

    def resume(self, _key: Key, seconds: float) -> bool:
        """Continue the reconciliation for some seconds; return whether nothing is due now."""
        deadline = time.monotonic() + seconds
        state = self._store.get_reconciliation()
        while state is not None and state.due <= self._clock():
            if time.monotonic() >= deadline:
                return False
            new = self._take_step(state, deadline)
            if not self._store.save_reconciliation(new, state):
                return True  # another worker continues
            state = new
        return True

    def run(self, wait: Callable[[float], object] = time.sleep) -> dict[str, int]:
        """Reconcile all tenants in one run; return the numbers of all, corrected and postponed."""
        state = self._begin(Reconciliation(0))
        wait(_SETTLING / 1000)
        state = self._scan(state, float("inf"))
        wait(_SETTLING / 1000)
        return self._correct(state)

    def _take_step(self, state: Reconciliation, deadline: float) -> Reconciliation:
        if state.seen is None:
            new = self._begin(state)
        elif not state.is_counted:
            new = self._scan(state, deadline)
        else:
            self._correct(state)
            new = Reconciliation(self._clock() + _DAY)
        return replace(new, revision=state.revision + 1)

    def _begin(self, state: Reconciliation) -> Reconciliation:
        due = self._clock() + _SETTLING
        return replace(state, due=due, seen=self._store.list_changes())

    def _scan(self, state: Reconciliation, deadline: float) -> Reconciliation:
        after, sums = state.after, defaultdict[str, Counter[str]](Counter)
        sums |= {tenant: Counter(each) for tenant, each in state.sums.items()}
        while True:
            items, after = self._store.scan(after)
            for item in items:
                key = (item["pk"], item["sk"])
                if item_type := find_measured(key):
                    change = measure_change(item_type, None, item)
                    add_change(sums[get_tenant(key[0])], item_type, change)
                elif key == TENANT.build_key(tenant := get_tenant(key[0])):
                    sums[tenant][_EXISTS] = 1
            if after is None:
                due = self._clock() + _SETTLING
                return replace(state, due=due, after=None, sums=dict(sums), is_counted=True)
            if time.monotonic() >= deadline:
                return replace(state, after=after, sums=dict(sums))

    def _correct(self, state: Reconciliation) -> dict[str, int]:
        counts = Counter(tenants=0, right=0, corrected=0, postponed=0)
        for tenant, sums in state.sums.items():
            found = {name: count for name, count in sums.items() if name != _EXISTS}
            if _EXISTS not in sums:
                continue  # the tenant was deleted
            counts["tenants"] += 1
            if found.get(_FACTS):
                self._notice_facts(tenant)
            result = self._store.correct(tenant, found, (state.seen or {}).get(tenant, 0))
            counts[result] += 1
        return dict(counts)
