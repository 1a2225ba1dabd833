"""Imports entries: in batches, or one by one if a batch fails.

Every write has an Idempotency-Key that is derived from its content, so a repeated import gets the
same responses, and an entry that equals its line counts as done. So an interrupted import is simply
run again.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any, Literal

import httpx

from agent_memory import Client
from agent_memory.cli.diff import list_differences
from agent_memory.cli.failures import Failure, render_message, to_exit_code
from agent_memory.cli.lines import Document, Line
from agent_memory.exceptions import (
    AgentMemoryError,
    MemoryAccessError,
    MemoryConflictError,
    MemoryNotFoundError,
    ValidationError,
)
from agent_memory.model import ENTRY_CHANGES
from agent_memory.responses import get_member, parse, parse_items, parse_object

Policy = Literal["fail", "skip", "overwrite"]
OUTCOMES = ("written", "overwritten", "unchanged", "skipped", "expired")
MEMORY = "/api/v1/memory"
MOST_IN_BATCH = 50
_MOST_BATCH_BYTES = 3_000_000  # of the lines; the service takes 5 MB, and 4 MB in one write
_ATTEMPTS = 10  # at an entry that others keep changing
_TOO_LARGE = ("BATCH_TOO_LARGE", "BODY_TOO_LARGE")
_REFUSED = (  # possibly caused by one line
    *_TOO_LARGE,
    "VALIDATION_ERROR",
    "ACCESS_DENIED",
    "ENTRY_NOT_FOUND",
    "NOT_FOUND",
    "ENTRY_EXISTS",
    "TASK_CLOSED",
    "VALUE_TOO_LARGE",
    "SECRET_LEAKAGE",
    "CAPACITY_EXCEEDED",
)
_UNCHANGEABLE = ("memory_type", "scope")
_CHANGEABLE = ("value", *ENTRY_CHANGES)


class Import:
    """One run of an import.

    Attributes:
        counts: the number of lines with each of `OUTCOMES`.
    """

    def __init__(
        self,
        client: Client,
        policy: Policy,
        now: datetime | None,
        note: Callable[[str, str], None] = lambda _old, _new: None,
    ) -> None:
        """`now` is the server's time at the start, to the second.

        Entries that have expired by then aren't sent, and entries written before count as
        unchanged. `note` takes the old and the new id of each entry.
        """
        self.counts = Counter(dict.fromkeys(OUTCOMES, 0))
        self._client = client
        self._policy = policy
        self._now = now
        self._note = note
        self._at_once = MOST_IN_BATCH

    def run(self, lines: Iterable[Line], done: Callable[[], None]) -> None:
        """Import all lines; `done` is called after each batch.

        Raises:
            Failure: a line can't be imported. Those before it are, and none after it.
        """
        for batch in self._batches(lines):
            self._write(batch)
            done()

    def _batches(self, lines: Iterable[Line]) -> Iterator[list[Line]]:
        """Yield the lines in order, as batches that fit into one request."""
        batch: list[Line] = []
        room = _MOST_BATCH_BYTES
        for line in lines:
            if batch and (len(batch) >= self._at_once or line.size > room):
                yield batch
                batch, room = [], _MOST_BATCH_BYTES
            batch.append(line)
            room -= line.size
        if batch:
            yield batch

    def _write(self, batch: list[Line]) -> None:
        alive = [line for line in batch if not self._has_expired(line)]
        self.counts["expired"] += len(batch) - len(alive)
        if len(alive) > 1:
            self._write_together(alive)
        elif alive:
            self._write_alone(alive[0])

    def _has_expired(self, line: Line) -> bool:
        expires = line.expires
        return expires is not None and self._now is not None and expires <= self._now

    def _write_together(self, batch: list[Line]) -> None:
        try:
            body = {"entries": [line.body for line in batch]}
            answer = parse_object(self._send("POST", f"{MEMORY}/batch", body))
        except AgentMemoryError as error:
            if error.code not in _REFUSED:
                raise _to_failure(batch[0], error) from error
            self._write_in_parts(batch, 2 if error.code in _TOO_LARGE else len(batch))
        else:
            for line, written in zip(
                batch, parse_items(get_member(answer, "entries")), strict=True
            ):
                self.counts[self._classify(line, written)] += 1
            self._at_once = min(self._at_once + 1, MOST_IN_BATCH)

    def _write_in_parts(self, batch: list[Line], parts: int) -> None:
        size = -(-len(batch) // parts)
        if parts == 2:
            self._at_once = size
        for start in range(0, len(batch), size):
            self._write(batch[start : start + size])

    def _write_alone(self, line: Line) -> None:
        for _ in range(_ATTEMPTS):
            outcome = self._outcome(line)
            if outcome is not None:
                self.counts[outcome] += 1
                return
        raise Failure(f"{line.name}: others keep changing it; run the import again")

    def _outcome(self, line: Line) -> str | None:
        """Return the outcome of a line; None if it must be tried again after a conflict."""
        try:
            written = parse_object(self._send("POST", MEMORY, line.body))
        except MemoryConflictError as error:
            return self._settle(line, error)
        except ValidationError as error:
            if line.expires is not None and _fields(error) == {"expires_at"}:
                return "expired"
            raise _to_failure(line, error) from error
        except AgentMemoryError as error:
            raise _to_failure(line, error) from error
        return self._classify(line, written)

    def _classify(self, line: Line, answered: Document) -> str:
        """Return the outcome of a create; a repeated one gets the earlier response."""
        self._note_id(line, answered)
        at = parse(_read_update_time, answered)
        return "unchanged" if self._now is not None and at < self._now else "written"

    def _note_id(self, line: Line, entry: Document) -> None:
        if line.id is not None:
            self._note(line.id, entry["id"])

    def _settle(self, line: Line, conflict: MemoryConflictError) -> str | None:
        present = (conflict.problem or {}).get("current")
        if present is None:
            raise _to_failure(line, conflict) from conflict
        self._note_id(line, present)
        different = list_differences(line.body, present)
        if not different:
            return "unchanged"
        if self._policy == "skip":
            return "skipped"
        if self._policy == "overwrite":
            return self._overwrite(line, present, different)
        raise Failure(
            _render_conflict(line, present, different), to_exit_code(conflict)
        ) from conflict

    def _overwrite(self, line: Line, present: Document, different: list[str]) -> str | None:
        lasting = [name for name in _UNCHANGEABLE if name in different]
        if lasting:
            raise Failure(f"{line.name}: an entry's {lasting[0]} can't be changed; rm it first")
        change = {name: line.body[name] for name in _CHANGEABLE if name in line.body}
        match = {"If-Match": str(present["version"])}
        try:
            self._send("PATCH", f"{MEMORY}/{present['id']}", change, match)
        except (MemoryConflictError, MemoryNotFoundError):
            return None
        except AgentMemoryError as error:
            raise _to_failure(line, error) from error
        return "overwritten"

    def _send(
        self, method: str, path: str, body: Document, headers: dict[str, str] | None = None
    ) -> httpx.Response:
        text = json.dumps([method, path, headers, body], ensure_ascii=False)
        key = {"Idempotency-Key": hashlib.sha256(text.encode()).hexdigest()}
        return self._client.request(method, path, json=body, headers=key | (headers or {}))


def _to_failure(line: Line, error: AgentMemoryError) -> Failure:
    hint = ""
    if isinstance(error, MemoryAccessError) and line.names_owner:
        hint = "; import it with its owner's key, of a folder --with its profile; --reassign makes "
        hint += "the private entries of a file your own"
    return Failure(f"{line.name}: {render_message(error)}{hint}", to_exit_code(error))


def _read_update_time(entry: Document) -> datetime:
    return datetime.fromisoformat(entry["updated_at"])


def _fields(error: ValidationError) -> set[Any]:
    return {each.get("field") for each in error.errors}


def _render_conflict(line: Line, present: Document, different: list[str]) -> str:
    return (
        f"{line.name}: version {present['version']} of this entry "
        f"exists, with another {', '.join(different)}; "
        "import with --on-conflict skip to leave such entries, or overwrite to replace them"
    )
