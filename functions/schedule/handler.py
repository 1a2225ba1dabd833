"""The scheduled function: a sweep at each event of EventBridge Scheduler, and the jobs of a sweep.

A new job is a function here and a line in the table of `build_jobs`. Due entries are removed in
groups; every other item has its own job.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

from functions.container import Container
from functions.platform import item_types
from functions.platform.clock import HasTime, limit_time
from functions.platform.item_types import ItemType
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.platform.observability import logger, report
from functions.schedule.sweep import Job, Sweep

Handler = Callable[[dict[str, Any], Any], dict[str, Any]]

JOB_SECONDS = 8.0  # the next sweep resumes longer work
_SWEEP_SECONDS = 50  # without a Lambda context
_MARGIN = 10_000  # ms for the last job, if the table is slow


def build_handler(container: Container) -> Handler:
    """Build the scheduled function, which returns the counts of its sweep.

    While writes are stopped, it does nothing.

    An event that names a part, such as `{"part": 0, "parts": 4}`, sweeps that part of the due
    items. Any other event sweeps all.
    """
    settings = container.settings
    sweep = Sweep(
        container.due_index,
        container.expired_entries,
        build_jobs(container),
        container.reembedding.start_if_needed,
        container.clock,
        settings.sweep_threads,
    )

    def handle(event: dict[str, Any], context: Any = None) -> dict[str, Any]:
        if settings.is_read_only:
            report("SweepLag", "Milliseconds", 0)  # it runs, and its due items wait on purpose
            return {"read_only": 1}
        counts, lag = sweep.run(_limit_time(context), event.get("part", 0), event.get("parts", 1))
        summary = {"lag_ms": lag, **counts}
        if counts:
            logger.info("swept", extra=summary)
        report("SweepLag", "Milliseconds", lag)
        return summary

    return handle


def _limit_time(context: object) -> HasTime:
    remaining = getattr(context, "get_remaining_time_in_millis", None)
    return limit_time(_SWEEP_SECONDS) if remaining is None else lambda: remaining() > _MARGIN


def build_jobs(container: Container) -> dict[ItemType, Job]:
    """Build the table of jobs: one for each type of item that becomes due, except entries."""
    conversations = container.conversation_archive
    deletions = container.deletions
    return {
        item_types.AGENT: container.agent_memory.maintain,
        item_types.TASK: _resume_task(container),
        item_types.GUARDRAILS: _count(container.guardrails.resume, "guardrails"),
        item_types.CONVERSATION: _resume_long(conversations.end_retention, "conversations"),
        item_types.ORPHANED_MESSAGES: _resume_long(container.staging.remove, "orphans"),
        item_types.REMOVED_RANGE: _resume_long(container.message_store.delete_range, "orphans"),
        item_types.DELETED_RUN: _resume_long(container.run_deletion_store.resume, "deleted_runs"),
        item_types.ORPHANED_VALUES: _resume_long(container.staging.remove, "orphans"),
        item_types.OBJECT: lambda item, _: Counter(objects=container.objects.remove_expired(item)),
        item_types.OBJECT_FILE: _remove_file(container),
        item_types.MEMORY_ENTRY: lambda item, _: container.memory_entry_store.collect(
            item, container.clock()
        ),
        item_types.RUN_SECRETS: lambda item, _: Counter(
            secrets_removed=container.memory_secrets.remove(item)
        ),
        item_types.DELETION: _resume_long(deletions.resume, "deletions"),
        item_types.DELETION_PREVIEW: _resume_long(deletions.resume, "deletions"),
        item_types.LEARNING_POSITION: _count(
            lambda item: container.learning_store.wake(item, container.clock()), "learning"
        ),
        item_types.CONSOLIDATION: _count(container.consolidation.start_due, "consolidations"),
        item_types.CONSOLIDATION_RUN: _resume_long(container.consolidator.resume, "consolidations"),
        item_types.USAGE_RECONCILIATION: _resume_long(container.reconciler.resume, "usage"),
        item_types.EMBEDDING: lambda item, _: container.reembedding.resume(item, JOB_SECONDS),
    }


def _resume_task(container: Container) -> Job:
    archive, fence = container.task_archive, container.entry_fence

    def job(item: Item, _has_time: HasTime) -> Counter[str]:
        if "completed_at" not in item:
            return Counter(fenced=fence.fence_at(item["pk"]))
        is_done = archive.resume_at(item["pk"], JOB_SECONDS)
        return Counter(archived=1) if is_done else Counter(stopped=1)

    return job


def _remove_file(container: Container) -> Job:

    def job(item: Item, _has_time: HasTime) -> Counter[str]:
        container.object_files.remove((item["pk"], item["sk"]))
        return Counter(orphans=1)

    return job


def _resume_long(resume: Callable[[Key, float], bool], name: str) -> Job:
    return _count(lambda item: resume((item["pk"], item["sk"]), JOB_SECONDS), name)


def _count(resume: Callable[[Item], bool], name: str) -> Job:
    return lambda item, _: Counter({name: 1}) if resume(item) else Counter(stopped=1)
