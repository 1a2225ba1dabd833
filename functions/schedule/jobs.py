"""The jobs of a sweep: what is done with due items, by their type.

A new job is a function here and a line in the table of `build_jobs`. Due entries are removed in
groups; all other items have a job each.
"""

from collections import Counter
from collections.abc import Callable

from functions.container import Container
from functions.platform import item_types
from functions.platform.clock import HasTime
from functions.platform.item_types import ItemType
from functions.platform.items import Item
from functions.platform.keys import Key

Job = Callable[[Item, HasTime], Counter[str]]
"""Processes a due item and counts what was done; what isn't finished stays due."""

JOB_SECONDS = 8.0  # what takes longer is resumed by the next sweep


def build_jobs(container: Container) -> dict[ItemType, Job]:
    """Build the table of jobs: one for each type of item that becomes due, but for entries."""
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
            lambda item: container.position_store.wake(item, container.clock()), "learning"
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
