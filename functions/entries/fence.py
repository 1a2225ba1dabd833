"""Fence the entries of agents that leave a task.

The owner of a working entry changes it by one write, without a condition on the task. So a
hand-over marks the entries of the former assignee: each later write of a marked entry has the task
as a condition. Example: carol gets bob's task. Bob's next PATCH of his checkpoint has the condition
that he is the assignee, and is rejected. The transaction of the hand-over rejects new entries and
names the owners of the entries to mark; a retry of the request or the schedule finishes after a
crash.
"""

import time
from collections import Counter
from functools import partial

from functions.entries.model import Entry
from functions.entries.store import EntryStore
from functions.platform import keys
from functions.platform.errors import Unavailable
from functions.platform.keys import hash_agent
from functions.platform.parallel import run_parallel
from functions.tasks.store import TaskStore

_INDEX_WAITS = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8)  # seconds; an index follows within milliseconds


class EntryFence:
    """Marks entries of former assignees and coordinators."""

    def __init__(self, store: EntryStore, tasks: TaskStore) -> None:
        self._store = store
        self._tasks = tasks

    def fence_at(self, partition: str) -> int:
        """Mark the entries of all agents that have left the task in a partition.

        Returns their number.
        """
        task = self._tasks.get_at(partition)
        if task is None or task.completed_at is not None or not task.leaving:
            return 0
        tenant = keys.get_tenant(partition)
        marked = 0
        if any(task.working_of(hash_agent(agent)) for agent in task.leaving):
            entries = self._find_entries(tenant, task.id)
            run_parallel([partial(self._store.fence, entry) for entry in entries])
            marked = len(entries)
        self._tasks.finish_hand_over(tenant, task)
        return marked

    def _find_entries(self, tenant: str, task_id: str) -> list[Entry]:
        """Find the working entries of the agents that left; counters prove that none is missing.

        These agents write no new ones, so a counter that is read afterwards is never too low.
        """
        for wait in _INDEX_WAITS:
            found = [
                entry
                for entry in self._store.list_of_task(tenant, task_id)
                if entry.policy.is_task_bound
            ]
            task = self._tasks.get_existing(tenant, task_id)
            # The index may lag behind, the counter doesn't: 3 counted and 2 found means that one
            # entry isn't listed yet. The counter is read after the index, so it can't be too low.
            held = Counter(hash_agent(entry.agent_id) for entry in found)
            if all(held[each] >= task.working_of(each) for each in map(hash_agent, task.leaving)):
                return [entry for entry in found if entry.agent_id in task.leaving]
            time.sleep(wait)
        raise Unavailable("the index of this task lags behind; send the same request again")
