"""The client, its parts, and its connections."""

from collections.abc import Iterable, Mapping
from dataclasses import fields as list_fields
from datetime import date
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack

import httpx

from agent_memory._async.agents import AsyncAgents
from agent_memory._async.audit import AsyncAudit
from agent_memory._async.consolidation import AsyncConsolidation
from agent_memory._async.conversations import AsyncConversations
from agent_memory._async.deletions import AsyncDeletions
from agent_memory._async.events import AsyncEvents
from agent_memory._async.facts import AsyncFacts
from agent_memory._async.groups import AsyncAdmin, AsyncProtocols
from agent_memory._async.intents import AsyncIntents
from agent_memory._async.memory import AsyncMemory
from agent_memory._async.namespaces import AsyncNamespaces
from agent_memory._async.objects import AsyncObjects
from agent_memory._async.pages import AsyncPages
from agent_memory._async.pool import AsyncPool
from agent_memory._async.principals import AsyncPrincipals
from agent_memory._async.procedures import AsyncProcedures
from agent_memory._async.recall import AsyncAnswers, RecallFields, ask, get_recalled
from agent_memory._async.runs import AsyncRuns
from agent_memory._async.states import AsyncStates
from agent_memory._async.strategies import AsyncStrategies
from agent_memory._async.tasks import AsyncTasks
from agent_memory._async.tenants import AsyncTenants
from agent_memory._async.user_memory import AsyncUserMemory
from agent_memory._async.workflows import AsyncWorkflows
from agent_memory._async.working_values import AsyncWorkingValues
from agent_memory.exceptions import MemoryNotFoundError
from agent_memory.hints import FORGET, SAY, explain_call, refuse_name
from agent_memory.message_pieces import Uses
from agent_memory.model import AppendedMessages, Entry, Recall, RecallReference, Task, TaskChanges
from agent_memory.page import Paging
from agent_memory.requests import UNSET, Unset, drop_unset, render_json
from agent_memory.responses import parse_object
from agent_memory.settings import resolve_settings


class AsyncClient:
    """A client of the Agent memory service (RFC-0015 "Client Interface").

    A client keeps its connections open. Create one for each process, share it, and close it at the
    end, or use it in a `with` block.

    Args:
        server_url: the address of the service; by default `AGENT_MEMORY_URL`, or else
            http://127.0.0.1:8080.
        api_key: the principal's key; by default `AGENT_MEMORY_API_KEY`, or else the key of the
            service that `agent-memory serve` runs in this folder.
        timeout: seconds that one attempt may wait for each of connection and answer.
        max_retries: the number of retries after a transient failure.
        deadline: seconds that a call may take with all its attempts; by default, no limit.
        transport: replaces the network, or is the pool of another client. It is closed with the
            client.

    Raises:
        ValueError: there is no key, or a value is invalid.
        TypeError: an address or a key is no text.

    Attributes:
        settings: the settings of the client.
        pool: its connections.
        memory, conversations, facts, objects, tasks, events: calls, grouped by subject.
        admin: `principals`, `namespaces`, `agents`, `tenants`, `strategies`, `consolidation`,
            `deletions`, `audit`.
        protocols: `intents`, `procedures`, `runs`, `states`, `workflows`, `working_values`.

    The parts of both groups are also attributes of the client.
    """

    def __init__(
        self,
        server_url: str | None = None,
        api_key: str | None = None,
        *,
        timeout: float = 30.0,
        max_retries: int = 4,
        deadline: float | None = None,
        transport: httpx.AsyncBaseTransport | AsyncPool | None = None,
    ) -> None:
        self.settings = resolve_settings(server_url, api_key, timeout, max_retries, deadline)
        self.pool = (
            transport if isinstance(transport, AsyncPool) else AsyncPool(self.settings, transport)
        )
        self._private_prefixes: set[str] = set()
        self.namespaces = AsyncNamespaces(self)
        self.principals = AsyncPrincipals(self)
        self.memory = AsyncMemory(self)
        self.tasks = AsyncTasks(self)
        self.intents = AsyncIntents(self)
        self.agents = AsyncAgents(self)
        self.tenants = AsyncTenants(self)
        self.workflows = AsyncWorkflows(self)
        self.events = AsyncEvents(self)
        self.audit = AsyncAudit(self)
        self.deletions = AsyncDeletions(self)
        self.conversations = AsyncConversations(self)
        self.states = AsyncStates(self)
        self.runs = AsyncRuns(self)
        self.facts = AsyncFacts(self)
        self.consolidation = AsyncConsolidation(self)
        self.strategies = AsyncStrategies(self)
        self.procedures = AsyncProcedures(self)
        self.working_values = AsyncWorkingValues(self)
        self.objects = AsyncObjects(self)

    @property
    def admin(self) -> AsyncAdmin:
        """The parts for administrators.

        client.admin.principals.create("biller")
        """
        return AsyncAdmin(
            self.principals,
            self.namespaces,
            self.agents,
            self.tenants,
            self.strategies,
            self.consolidation,
            self.deletions,
            self.audit,
        )

    @property
    def protocols(self) -> AsyncProtocols:
        """The parts that follow a specification.

        client.protocols.runs.start("sdr")
        """
        return AsyncProtocols(
            self.intents,
            self.procedures,
            self.runs,
            self.states,
            self.workflows,
            self.working_values,
        )

    def with_options(
        self,
        *,
        timeout: float | Unset = UNSET,
        max_retries: int | Unset = UNSET,
        deadline: float | Unset | None = UNSET,
    ) -> "AsyncClient":
        """Return a client with other settings on the same connections.

        Closing either closes both.

            client.with_options(deadline=5).memory.get("invoices", "progress")
        """
        changed = drop_unset(timeout=timeout, max_retries=max_retries, deadline=deadline)
        return AsyncClient(**self.settings.to_arguments() | changed, transport=self.pool)

    def for_user(self, user_id: str, *, prefix: str = "users") -> AsyncUserMemory:
        """Return the memory of one user of your app.

            client.for_user("ada@example.com").put("tone", {"formal": True})

        Args:
            user_id: any text; different ids never share a memory.
            prefix: the prefix of the namespaces of all users.
        """
        return AsyncUserMemory(self, user_id, prefix, self._private_prefixes)

    async def remember(
        self, memory: str | dict[str, Any], *, tags: Iterable[str] | None = None, **fields: Any
    ) -> Entry:
        """Store a text or a value in the caller's own memory; the same text is stored once.

            client.remember("Invoices go out on Fridays", tags=["billing"])

        Args:
            memory: what to remember.
            tags: labels to query by.
            fields: as for `client.memory.remember`.
        """
        return await self.memory.remember(memory, tags=tags, **fields)

    async def recall(
        self,
        query: str | None = None,
        *,
        user_id: str | None = None,
        since: date | str | None = None,
        until: date | str | None = None,
        max_tokens: int | None = None,
        **fields: Unpack[RecallFields],
    ) -> Recall:
        """Search all memory that the caller may read.

            prompt += client.recall("What did we promise in March?", max_tokens=500).text

        Args:
            query: a question or words.
            user_id: only memory of this user.
            since, until: only items about this period.
            max_tokens: the maximum size of `text`.
            fields: see `RecallFields`.

        Raises:
            ValidationError: a filter needs another one: `fields` needs a namespace.
        """
        return await ask(
            self,
            "/api/v1/recall",
            query,
            user_id=user_id,
            since=since,
            until=until,
            max_tokens=max_tokens,
            fields=fields,
        )

    async def get_recalled(self, reference: str) -> RecallReference:
        """Return the item of a reference.

            client.get_recalled("m.chat-42.3").text

        Raises:
            MemoryNotFoundError: raised when there is no such item.
        """
        return await get_recalled(self, reference)

    def list_answers(
        self, item: RecallReference | str, **paging: Unpack[Paging]
    ) -> AsyncPages[RecallReference]:
        """Return the messages whose `uses` name an item, newest first.

            for answer in client.list_answers("m.chat-42.3"):
                print(answer.time, answer.session_id, answer.text)

        Args:
            item: of a recall, or its reference.
            paging: `limit`, `page_size`, `after`.
        """
        return AsyncAnswers(self).list(item, paging)

    @explain_call(SAY)
    async def say(
        self,
        session_id: str,
        *,
        user: str | None = None,
        assistant: str | None = None,
        uses: Uses | None = None,
        join: bool = False,
    ) -> AppendedMessages:
        """Append messages to a conversation of the caller; create it if there is none.

            client.say("chat-42", user="Hello", assistant="Hi, how can I help?")
            client.say("chat-42", assistant="In March", uses=client.recall("When do we deliver?"))

        Args:
            session_id: the conversation.
            user, assistant: the text of each, in this order.
            uses: a recall, items or references that `assistant` was made from.
            join: continue a conversation of another principal.

        Raises:
            ConversationNotOwned: another principal created it.
        """
        return await self.conversations.say(
            session_id, user=user, assistant=assistant, uses=uses, join=join
        )

    @explain_call(FORGET)
    async def forget(self, reference: str) -> bool:
        """Delete the item of a reference; return True if it existed.

            client.forget("m.chat-42.3")

        Raises:
            MemoryAccessError: the caller may not delete it.
        """
        try:
            item = await get_recalled(self, reference)
        except MemoryNotFoundError:
            return False
        match item.source:
            case "entries":
                return await self.memory.delete(id=item.id)
            case "facts":
                return await self.facts.forget(item.id)
            case "episodes":
                return await self.runs.delete_episode(item.run_id or "", item.id)
            case _:
                index, session_id = item.index or 0, item.session_id or ""
                removed = await self.conversations.remove_messages(session_id, index, index + 1)
                return removed > 0

    async def hand_over(self, task: Task | str, *, to: str, note: str | None = None) -> Task:
        """Hand a task over to another agent, with a note for it.

            client.hand_over("task_42", to="reviewer", note="Rows 1 to 40 are done")

        Args:
            task: the task, or its id.
            to: one of the task's delegates; any agent if the caller coordinates the task.
            note: a text; the task shows it as `hand_over_note`.

        Raises:
            MemoryAccessError: the caller may not hand the task to this agent.
            MemoryConflictError: raised when the task was changed since it was read.
        """
        present = await self.tasks.get(task) if isinstance(task, str) else task
        changes: TaskChanges = {"assigned_agent": to}
        if note is not None:
            changes["note"] = note
        return await self.tasks.update(present.id, version=present.version, **changes)

    async def request(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        json: Any = None,
        text: str | None = None,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx.Response:
        """Send any request to the service, with this client's retries and exceptions.

            client.request("GET", "/api/v1/memory", params={"namespace": "invoices"}).json()

        POST, PUT and PATCH carry an Idempotency-Key, the same on each attempt. The body is `json`,
        or `text` or `content` with the Content-Type that `headers` name.

        Raises:
            AgentMemoryError: the service rejected the request, or did not answer.
            ValueError: the body can't be written as JSON.
        """
        named = dict(headers or {})
        body = content if text is None else text.encode()
        if json is not None:
            body = render_json(json)
            named["Content-Type"] = "application/json"
        return await self.pool.send(self.settings, method, path, params, body, named)

    async def get_capabilities(self) -> dict[str, Any]:
        """Return the extensions, limits and retention of this installation.

        client.get_capabilities()["memory"]["limits"]
        """
        return parse_object(await self.request("GET", "/api/v1/capabilities"))

    async def close(self) -> None:
        """Close the connections; any further call raises `ClientClosedError`.

        client.close()
        """
        await self.pool.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def __dir__(self) -> Iterable[str]:
        """List the main attributes: the parts of a group are in the group."""
        grouped = {each.name for kind in (AsyncAdmin, AsyncProtocols) for each in list_fields(kind)}
        return [name for name in super().__dir__() if name not in grouped]

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            refuse_name(type(self).__name__, name)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.settings.server_url!r})"
