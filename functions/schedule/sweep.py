"""The sweep: all that is due, whatever it is, in bounded time.

It reads what is due afresh each time, so it needs no memory of where it stopped, and two of them
may run at once: every removal has the state that it saw as its condition.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from functions.conversations.archive import ConversationArchive
from functions.conversations.orphan_store import OrphanedMessages
from functions.entries.archive import TaskArchive
from functions.openwop.garbage_collector import MemoryGarbageCollector
from functions.platform.clock import Clock
from functions.platform.errors import ServiceError
from functions.platform.items import Item
from functions.platform.keys import DUE_SHARDS, Key
from functions.platform.observability import log_unexpected, logger
from functions.platform.schema import DUE_ATTRIBUTE
from functions.schedule.agents import Agents
from functions.schedule.due import Due
from functions.schedule.expired import Expired
from functions.schedule.reembedding import Reembedding
from functions.schedule.rules import batches, in_turn, kind_of

_SECONDS_PER_TASK = 8.0  # what takes longer goes on in the next sweep
TimeLeft = Callable[[], bool]
Job = Callable[[], Counter[str]]


@dataclass(frozen=True, slots=True)
class Swept:
    """What was done, counted by kind, and how late (ms) the first of it was."""

    counts: Counter[str]
    lag: int


class Sweep:
    """Finds what is due and has it done; what fails is left for the next sweep."""

    def __init__(
        self,
        due: Due,
        expired: Expired,
        agents: Agents,
        task_archive: TaskArchive,
        conversations: ConversationArchive,
        orphans: OrphanedMessages,
        memories: MemoryGarbageCollector,
        reembedding: Reembedding,
        clock: Clock,
        threads: int,
    ) -> None:
        self._due = due
        self._expired = expired
        self._agents = agents
        self._clock = clock
        self._task_archive = task_archive
        self._conversations = conversations
        self._orphans = orphans
        self._memories = memories
        self._reembedding = reembedding
        self._threads = threads

    def run(self, time_left: TimeLeft) -> Swept:
        """Sweeps every shard, `threads` of them side by side, for as long as there is time."""
        told = _attempted(self._reembedding.tell)
        now = self._clock()
        shard = partial(self._shard, now=now, time_left=time_left)
        with ThreadPoolExecutor(self._threads, thread_name_prefix="sweep") as pool:
            swept = list(pool.map(shard, in_turn(DUE_SHARDS, now)))
        counts = sum((each.counts for each in swept), told)
        return Swept(+counts, max(each.lag for each in swept))

    def _shard(self, shard: str, now: int, time_left: TimeLeft) -> Swept:
        counts: Counter[str] = Counter()
        lags = [0]
        try:
            for items in self._due.in_shard(shard, now):
                lags += [now - item[DUE_ATTRIBUTE] for item in items[:1]]
                for job in self._jobs(items, time_left):
                    if not time_left():
                        return Swept(counts + Counter(stopped=1), max(lags))
                    counts += _attempted(job)
        except ServiceError as error:
            logger.warning("sweep", extra={"code": error.code, "shard": shard})
            counts["failed"] += 1
        return Swept(counts, max(lags))

    def _jobs(self, items: list[Item], time_left: TimeLeft) -> Iterator[Job]:
        for batch in batches(item for item in items if kind_of(item) == "entry"):
            yield partial(self._expire, batch)
        for item in items:
            job = self._job(item, time_left)
            if job is not None:
                yield job

    def _job(self, item: Item, time_left: TimeLeft) -> Job | None:
        """What is to be done about a due item that isn't an entry."""
        jobs: dict[str, Job] = {
            "agent": partial(self._agents.look_after, item, time_left),
            "task": partial(self._end, item),
            "conversation": partial(
                _carried_on, self._conversations.end_retention, item, "conversations"
            ),
            "orphaned messages": partial(_carried_on, self._orphans.remove, item, "orphans"),
            "memory": partial(self._memories.collect, item, time_left),
            "memory entry": partial(self._memories.expire, item),
            "embedding model": partial(self._reembedding.go_on, item, _SECONDS_PER_TASK),
        }
        return jobs.get(kind_of(item))

    def _end(self, item: Item) -> Counter[str]:
        """Finishes what the call that ended a task left behind."""
        done = self._task_archive.resume_at(item["pk"], _SECONDS_PER_TASK)
        return Counter(archived=1) if done else Counter(stopped=1)

    def _expire(self, batch: list[Item]) -> Counter[str]:
        try:
            return Counter(expired=self._expired.remove(batch))
        except ServiceError:
            raise
        except Exception:
            if len(batch) == 1:
                raise
        # one of them can't be read or written: that one alone is to stay behind
        return sum((_attempted(partial(self._expire, [each])) for each in batch), Counter[str]())


def _carried_on(job: Callable[[Key, float], bool], item: Item, name: str) -> Counter[str]:
    """Goes on with something long; what isn't done in its time is found again."""
    done = job((item["pk"], item["sk"]), _SECONDS_PER_TASK)
    return Counter({name: 1}) if done else Counter(stopped=1)


def _attempted(job: Job) -> Counter[str]:
    """What a job did. No failure may keep the sweep from what comes after it."""
    try:
        return job()
    except ServiceError as error:
        logger.warning("sweep", extra={"code": error.code})
    except Exception as error:  # noqa: BLE001 - whatever it is, the rest is due as well
        log_unexpected(error)
    return Counter(failed=1)
