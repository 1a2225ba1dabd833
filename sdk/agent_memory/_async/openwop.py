"""OpenWOP's MemoryAdapter over the service (OpenWOP RFC 0004 §A)."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, Unpack

from agent_memory._async.pages import AsyncPages, to_pages
from agent_memory.exceptions import MemoryNotFoundError
from agent_memory.openwop_model import (
    Duration,
    MemoryEntry,
    MemoryRunState,
    OnSecret,
    OwnMemory,
    SeenMemoryEntry,
    list_secrets,
    named_errors,
    run_body,
)
from agent_memory.page import Item, Page, Paging
from agent_memory.requests import drop_none, quote_segment, render_time
from agent_memory.responses import get_member, parse, parse_items, parse_object, parse_position

if TYPE_CHECKING:
    from agent_memory._async.client import AsyncClient


class AsyncMemoryAdapter:
    """The four operations, on each memory whose reference the caller has.

    In a run, they read its snapshot, which never changes, and no entry stores its secrets.
    Outside a run, they read the present.

    Args:
        client: sends the requests; it stays open.
        run_id: the run that the operations are part of.
    """

    def __init__(self, client: "AsyncClient", run_id: str | None = None) -> None:
        self._client = client
        self.run_id = run_id

    async def start(
        self,
        agent: str | None = None,
        *,
        scope: str | None = None,
        memory_ref: str | None = None,
        memory_refs: Iterable[str] | None = None,
        secrets: Mapping[str, str] | None = None,
        on_secret: OnSecret = "redact",  # noqa: S107 - a policy
        ttl: Duration | None = None,
        retain_snapshot: Duration | None = None,
        redaction_marker: Literal["rfc-0004", "1.x"] | None = None,
    ) -> "AsyncMemoryRun":
        """Start a run on a memory of the caller, or on memories by their references.

            with adapter.start("planner", secrets={"stripe": "sk_live_..."}) as run:
                run.put(run.memory_ref, "paid with sk_live_...")

        Args:
            agent: the agent of the memory; any name.
            scope: the name of one of its memories.
            memory_ref: the memory, instead of its names.
            memory_refs: several memories, all as of the same time.
            secrets: values by label. While the run is open, puts into its memories redact them.
            on_secret: what a put does with a secret: replace it by a marker, or fail.
            ttl: the time for which the run stays open, as seconds or ISO 8601; 24 hours by default.
            retain_snapshot: the time for which it can be replayed afterwards.

        Raises:
            MemoryAccessError: a reference wasn't issued to this tenant.
            ValidationError: a name, a duration or a secret is invalid.
        """
        given = drop_none(
            agent=agent,
            scope=scope,
            memoryRef=memory_ref,
            memoryRefs=None if memory_refs is None else [*memory_refs],
            redactionMarker=redaction_marker,
        )
        return await self._start(run_body(given, secrets, on_secret, ttl, retain_snapshot))

    async def replay(
        self,
        run_id: str,
        *,
        secrets: Mapping[str, str] | None = None,
        on_secret: OnSecret = "redact",  # noqa: S107 - a policy
        ttl: Duration | None = None,
        retain_snapshot: Duration | None = None,
    ) -> "AsyncMemoryRun":
        """Start a run that reads exactly the entries of another one, in the same order.

        Raises:
            MemoryNotFoundError: raised when there is no such run.
            RunEndedError: its snapshot is no longer kept.
            ValidationError: a duration or a secret is invalid.
        """
        given = {"replayOf": run_id}
        return await self._start(run_body(given, secrets, on_secret, ttl, retain_snapshot))

    async def _start(self, body: dict[str, Any]) -> "AsyncMemoryRun":
        started = await self._called("POST", "/v1/runs", json=body)
        run_id, reference = (get_member(started, name) for name in ("runId", "memoryRef"))
        snapshot_at = parse(datetime.fromisoformat, get_member(started, "snapshotAt"))
        references = started.get("memoryRefs")
        return AsyncMemoryRun(self._client, run_id, reference, snapshot_at, references)

    async def get_state(self, run_id: str) -> MemoryRunState:
        """Return the state of a run, open or not.

        Raises:
            MemoryNotFoundError: raised when there is no such run.
        """
        answer = await self._called("GET", f"/v1/runs/{quote_segment(run_id)}")
        return parse(MemoryRunState.from_document, answer)

    def list_runs(self, **paging: Unpack[Paging]) -> AsyncPages[MemoryRunState]:
        """Return the runs that the caller started, open or not, newest first.

            [each.run_id for each in adapter.list_runs(limit=10)]

        Args:
            paging: `limit`, `page_size`, `after`.
        """
        return self._list("/v1/runs", "runs", MemoryRunState.from_document, {}, paging)

    def list_memories(self, **paging: Unpack[Paging]) -> AsyncPages[OwnMemory]:
        """Return the memories of the caller and of its agent type, newest first.

            {(each.agent, each.scope): each.memory_ref for each in adapter.list_memories()}

        Memories that others share by their references are not listed.

        Args:
            paging: `limit`, `page_size`, `after`.
        """
        return self._list("/v1/memories", "memories", OwnMemory.from_document, {}, paging)

    async def get_reference(self, agent: str, *, scope: str | None = None) -> str:
        """Return the reference of the caller's memory with a name, without a run.

        adapter.get_reference("planner", scope="customer-7")
        """
        body = {"agent": agent, **drop_none(scope=scope)}
        answer = await self._called("POST", "/v1/memories", json=body)
        return parse(str, get_member(answer, "memoryRef"))

    async def delete_run(self, run_id: str) -> None:
        """Delete a run with its secrets; replays keep the snapshot.

            adapter.delete_run(run.run_id)

        Raises:
            AgentMemoryError: raised when there is no such run, or the caller may not delete it.
        """
        await self._called("DELETE", f"/v1/runs/{quote_segment(run_id)}")

    def list_seen(
        self,
        run_id: str,
        *,
        memory_ref: str | None = None,
        tag: str | None = None,
        **paging: Unpack[Paging],
    ) -> AsyncPages[SeenMemoryEntry]:
        """Return the entries that a run sees or saw, newest first, with their authors.

            for seen in adapter.list_seen(run.run_id):
                print(seen.entry.content, seen.put_by, seen.deleted_at)

        Args:
            run_id: any run, as long as its snapshot is kept.
            memory_ref: one of its memories; the first one by default.
            tag: only entries with this tag.
            paging: `limit`, `page_size`, `after`.

        Raises:
            MemoryNotFoundError: raised by the first page when there is no such run, or it isn't on
                this memory.
            RunEndedError: raised by the first page when its snapshot is no longer kept.
        """
        path = f"/v1/runs/{quote_segment(run_id)}/entries"
        asked = drop_none(memoryRef=memory_ref, tag=tag)
        return self._list(path, "entries", SeenMemoryEntry.from_document, asked, paging)

    def list(
        self,
        memory_ref: str,
        *,
        tag: str | None = None,
        query: str | None = None,
        token_budget: int | None = None,
        **paging: Unpack[Paging],
    ) -> AsyncPages[MemoryEntry]:
        """Return the visible entries, newest first.

            for entry in run.list(run.memory_ref, tag="invoices"):
                print(entry.content)

        Args:
            tag: only entries with this tag.
            query: sorts the entries by their match with this text, best first.
            token_budget: the maximum number of tokens of a page's contents.
            paging: `limit` (0 is no limit), `page_size`, `after`.

        Raises:
            MemoryAccessError: raised by the first page when the reference wasn't issued to this
                tenant.
            RunEndedError: raised by the first page when the run is over.
            ValueError: raised when the limit is negative.
        """
        rank = None if query is None else "relevance"
        asked = drop_none(runId=self.run_id, tag=tag, query=query, rank=rank)
        asked |= drop_none(tokenBudget=token_budget)
        limit = paging.get("limit") or None
        found: Paging = {**paging, "limit": limit}
        return self._list(_path(memory_ref), "entries", MemoryEntry.from_document, asked, found)

    def _list(
        self,
        path: str,
        member: str,
        read: Callable[[dict[str, Any]], Item],
        params: Mapping[str, Any],
        paging: Paging,
    ) -> AsyncPages[Item]:
        async def fetch(size: int, position: str | None) -> Page[Item]:
            asked = {**params, **drop_none(limit=size, after=position)}
            page = await self._called("GET", path, params=asked)
            documents = parse_items(get_member(page, member))
            return Page([parse(read, each) for each in documents], parse_position(page))

        return to_pages(fetch, paging)

    async def get(self, memory_ref: str, id: str) -> MemoryEntry | None:
        """Return an entry; None if there is none, or if it is newer than the run.

            run.get(run.memory_ref, entry.id)

        Raises:
            MemoryAccessError: the reference wasn't issued to this tenant.
            MemoryNotFoundError: raised when there is no such run on this memory.
            RunEndedError: the run is over.
        """
        path = f"{_path(memory_ref)}/{quote_segment(id)}"
        try:
            answer = await self._called("GET", path, params=drop_none(runId=self.run_id))
        except MemoryNotFoundError as error:
            if "entry" in error.problem:
                return None
            raise
        return parse(MemoryEntry.from_document, get_member(answer, "entry"))

    async def put(
        self,
        memory_ref: str,
        content: str,
        *,
        tags: Iterable[str] = (),
        expires_at: str | datetime | None = None,
    ) -> MemoryEntry:
        """Write a new entry; return it as it was stored, without secrets.

            run.put(run.memory_ref, "prefers phone", tags=["contact"])

        Raises:
            MemoryAccessError: the reference wasn't issued to this tenant.
            SecretLeakageError: it contains a secret, and the run rejects those.
            ValidationError: a field is invalid, such as an `expires_at` in the past.
            TooLargeError: the content is larger than an entry may be.
            RunEndedError: the run is over.
        """
        more = drop_none(expiresAt=render_time(expires_at), runId=self.run_id)
        body = {"content": content, "tags": [*tags]} | more
        return parse(
            MemoryEntry.from_document, await self._called("POST", _path(memory_ref), json=body)
        )

    async def delete(self, memory_ref: str, id: str) -> bool:
        """Delete an entry for all later runs; return True if it existed.

        The snapshots of this run and of other open runs still contain it.

            run.delete(run.memory_ref, entry.id)

        If an answer is lost, the retry returns False, although this call deleted the entry.

        Raises:
            MemoryAccessError: the reference wasn't issued to this tenant.
            RunEndedError: the run is over.
        """
        path = f"{_path(memory_ref)}/{quote_segment(id)}"
        answer = await self._called("DELETE", path, params=drop_none(runId=self.run_id))
        return bool(get_member(answer, "deleted"))

    async def _called(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        json: Any = None,
    ) -> dict[str, Any]:
        with named_errors():
            answer = await self._client.request(method, path, params=params, json=json)
        return parse_object(answer)


class AsyncMemoryRun(AsyncMemoryAdapter):
    """A run: the operations of the adapter, in its snapshot; it ends with a `with` block.

    Attributes:
        run_id: its id.
        memory_ref: its memory, or the first one. Each principal of the tenant that has the
            reference may use it.
        memory_refs: all of its memories.
        snapshot_at: the time of its snapshot.
    """

    def __init__(
        self,
        client: "AsyncClient",
        run_id: str,
        memory_ref: str,
        snapshot_at: datetime,
        memory_refs: Iterable[str] | None = None,
    ) -> None:
        super().__init__(client, run_id)
        self.memory_ref = memory_ref
        self.memory_refs = tuple(memory_refs or (memory_ref,))
        self.snapshot_at = snapshot_at

    async def add_secrets(self, secrets: Mapping[str, str]) -> None:
        """Add secrets to the run, which are redacted in all later puts.

            run.add_secrets({"portal": "hunter2-hunter2"})

        Raises:
            RunEndedError: the run is over.
            ValidationError: a secret is invalid.
        """
        path = f"/v1/runs/{quote_segment(str(self.run_id))}/secrets"
        await self._called("POST", path, json={"secrets": list_secrets(secrets)})

    async def end(self) -> None:
        """End the run and delete its secrets; it can be replayed. Repeating this changes nothing.

        run.end()
        """
        await self._called("POST", f"/v1/runs/{quote_segment(str(self.run_id))}/end")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.end()


def _path(memory_ref: str) -> str:
    return f"/v1/memory/{quote_segment(memory_ref)}"
