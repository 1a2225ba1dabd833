"""Carries out task events of other systems, as its principal's own calls would be (contract §5).

An event comes at least once and in any order. It knows no version, so the present one is read; who
changes the task meanwhile makes it be read again, and what an event asks for is never half done.
"""

from dataclasses import replace

from functions.identity.model import WRITE, Principal
from functions.identity.store import PrincipalStore
from functions.platform.clock import Clock
from functions.platform.errors import (
    AccessDenied,
    EntryExists,
    NotFound,
    VersionMismatch,
)
from functions.platform.idempotency import RequestToken
from functions.platform.json_text import dumps_checked
from functions.platform.retry import Backoff
from functions.platform.table import Table
from functions.platform.task_keys import build_processed_event_key
from functions.platform.validation import validate
from functions.platform.writes import put
from functions.task_events.model import Envelope
from functions.task_events.requests import TaskEvent
from functions.tasks.model import Task
from functions.tasks.requests import TaskChange
from functions.tasks.rules import apply_change
from functions.tasks.service import Tasks

_REMEMBERED = 15 * 86_400  # seconds; queues of what was refused keep an event for 14 days


class Intake:
    """Takes events in the name of one principal of one tenant."""

    def __init__(
        self,
        table: Table,
        principals: PrincipalStore,
        tasks: Tasks,
        who: tuple[str, str],
        clock: Clock,
    ) -> None:
        self._table = table
        self._principals = principals
        self._tasks = tasks
        self._who = who
        self._clock = clock

    def take(self, envelope: Envelope) -> Task | None:
        """Carries out an event once; the task after it, None if it was carried out before.

        Raises:
            ServiceError: it is refused; nothing has changed.
        """
        event = validate(TaskEvent, envelope.detail, "detail")
        caller = self._caller()
        place = build_processed_event_key(caller.tenant, envelope.source, envelope.id)
        if self._table.get(place) is not None:
            return None
        asked = f"{caller.tenant}\n{envelope.source}"
        token = RequestToken.from_key(asked, envelope.id, dumps_checked(envelope.detail, "detail"))
        task = self._carried_out(caller, event, token)
        self._table.put(put(place, {"ttl_at": self._clock() // 1000 + _REMEMBERED}))
        return task

    def _caller(self) -> Principal:
        found = self._principals.get(*self._who)
        if found is None:
            raise AccessDenied("the principal that events are taken for isn't there")
        caller = found.principal
        expired = caller.expires is not None and caller.expires <= self._clock()
        if expired or not caller.may_coordinate or WRITE not in caller.permissions:
            raise AccessDenied("the principal that events are taken for may not coordinate")
        return caller

    def _carried_out(self, caller: Principal, event: TaskEvent, token: RequestToken) -> Task:
        backoff = Backoff("others are changing this task")
        while True:
            try:
                return self._attempted(caller, event, token)
            except (VersionMismatch, EntryExists):
                backoff.wait()  # the next attempt reads what the other request wrote

    def _attempted(self, caller: Principal, event: TaskEvent, token: RequestToken) -> Task:
        try:
            present = self._tasks.get(caller, event.task_id)
        except NotFound:
            if event.intent_id is None:
                raise
            return self._tasks.register(caller, event.new_task, token)
        if _holds(present, event.change, token):
            return self._tasks.resume_archive(caller.tenant, present)
        return self._tasks.change(caller, present.id, present.version, event.change, token)


def _holds(task: Task, change: TaskChange, token: RequestToken) -> bool:
    """Whether the task is already as the event wants it."""
    after = apply_change(task, change, task.updated, token)
    return replace(after, version=task.version, request=task.request, ended=task.ended) == task
