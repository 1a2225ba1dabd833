"""The client, its parts, and its connections."""

from collections.abc import Iterable, Mapping
from dataclasses import fields as list_fields
from datetime import date
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack

import httpx

from agent_memory._sync.agents import Agents
from agent_memory._sync.audit import Audit
from agent_memory._sync.consolidation import Consolidation
from agent_memory._sync.conversations import Conversations
from agent_memory._sync.deletions import Deletions
from agent_memory._sync.events import Events
from agent_memory._sync.facts import Facts
from agent_memory._sync.groups import Admin, Protocols
from agent_memory._sync.intents import Intents
from agent_memory._sync.memory import Memory
from agent_memory._sync.namespaces import Namespaces
from agent_memory._sync.objects import Objects
from agent_memory._sync.pages import Pages
from agent_memory._sync.pool import Pool
from agent_memory._sync.principals import Principals
from agent_memory._sync.procedures import Procedures
from agent_memory._sync.recall import Answers, RecallFields, ask, get_recalled
from agent_memory._sync.runs import Runs
from agent_memory._sync.states import States
from agent_memory._sync.strategies import Strategies
from agent_memory._sync.tasks import Tasks
from agent_memory._sync.tenants import Tenants
from agent_memory._sync.user_memory import UserMemory
from agent_memory._sync.workflows import Workflows
from agent_memory._sync.working_values import WorkingValues
from agent_memory.exceptions import MemoryNotFoundError
from agent_memory.hints import FORGET, SAY, explain_call, refuse_name
from agent_memory.message_pieces import Uses
from agent_memory.model import AppendedMessages, Entry, Recall, RecallReference, Task, TaskChanges
from agent_memory.page import Paging
from agent_memory.requests import UNSET, Unset, drop_unset, render_json
from agent_memory.responses import parse_object
from agent_memory.settings import resolve_settings


class Client:
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
        transport: httpx.BaseTransport | Pool | None = None,
    ) -> None:
        self.settings = resolve_settings(server_url, api_key, timeout, max_retries, deadline)
        self.pool = (
            transport if isinstance(transport, Pool) else Pool(self.settings, transport)
        )
        self._private_prefixes: set[str] = set()
        self.namespaces = Namespaces(self)
        self.principals = Principals(self)
        self.memory = Memory(self)
        self.tasks = Tasks(self)
        self.intents = Intents(self)
        self.agents = Agents(self)
        self.tenants = Tenants(self)
        self.workflows = Workflows(self)
        self.events = Events(self)
        self.audit = Audit(self)
        self.deletions = Deletions(self)
        self.conversations = Conversations(self)
        self.states = States(self)
        self.runs = Runs(self)
        self.facts = Facts(self)
        self.consolidation = Consolidation(self)
        self.strategies = Strategies(self)
        self.procedures = Procedures(self)
        self.working_values = WorkingValues(self)
        self.objects = Objects(self)

    @property
    def admin(self) -> Admin:
        """The parts for administrators.

        client.admin.principals.create("biller")
        """
        return Admin(
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
    def protocols(self) -> Protocols:
        """The parts that follow a specification.

        client.protocols.runs.start("sdr")
        """
        return Protocols(
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
    ) -> "Client":
        """Return a client with other settings on the same connections.

        Closing either closes both.

            client.with_options(deadline=5).memory.get("invoices", "progress")
        """
        changed = drop_unset(timeout=timeout, max_retries=max_retries, deadline=deadline)
        return Client(**self.settings.to_arguments() | changed, transport=self.pool)

    def for_user(self, user_id: str, *, prefix: str = "users") -> UserMemory:
        """Return the memory of one user of your app.

            client.for_user("ada@example.com").put("tone", {"formal": True})

        Args:
            user_id: any text; different ids never share a memory.
            prefix: the prefix of the namespaces of all users.
        """
        return UserMemory(self, user_id, prefix, self._private_prefixes)

    def remember(
        self, memory: str | dict[str, Any], *, tags: Iterable[str] | None = None, **fields: Any
    ) -> Entry:
        """Store a text or a value in the caller's own memory; the same text is stored once.

            client.remember("Invoices go out on Fridays", tags=["billing"])

        Args:
            memory: what to remember.
            tags: labels to query by.
            fields: as for `client.memory.remember`.
        """
        return self.memory.remember(memory, tags=tags, **fields)

    def recall(
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
        return ask(
            self,
            "/api/v1/recall",
            query,
            user_id=user_id,
            since=since,
            until=until,
            max_tokens=max_tokens,
            fields=fields,
        )

    def get_recalled(self, reference: str) -> RecallReference:
        """Return the item of a reference.

            client.get_recalled("m.chat-42.3").text

        Raises:
            MemoryNotFoundError: raised when there is no such item.
        """
        return get_recalled(self, reference)

    def list_answers(
        self, item: RecallReference | str, **paging: Unpack[Paging]
    ) -> Pages[RecallReference]:
        """Return the messages whose `uses` name an item, newest first.

            for answer in client.list_answers("m.chat-42.3"):
                print(answer.time, answer.session_id, answer.text)

        Args:
            item: of a recall, or its reference.
            paging: `limit`, `page_size`, `after`.
        """
        return Answers(self).list(item, paging)

    @explain_call(SAY)
    def say(
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
        return self.conversations.say(
            session_id, user=user, assistant=assistant, uses=uses, join=join
        )

    @explain_call(FORGET)
    def forget(self, reference: str) -> bool:
        """Delete the item of a reference; return True if it existed.

            client.forget("m.chat-42.3")

        Raises:
            MemoryAccessError: the caller may not delete it.
        """
        try:
            item = get_recalled(self, reference)
        except MemoryNotFoundError:
            return False
        match item.source:
            case "entries":
                return self.memory.delete(id=item.id)
            case "facts":
                return self.facts.forget(item.id)
            case "episodes":
                return self.runs.delete_episode(item.run_id or "", item.id)
            case _:
                index, session_id = item.index or 0, item.session_id or ""
                removed = self.conversations.remove_messages(session_id, index, index + 1)
                return removed > 0

    def hand_over(self, task: Task | str, *, to: str, note: str | None = None) -> Task:
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
        present = self.tasks.get(task) if isinstance(task, str) else task
        changes: TaskChanges = {"assigned_agent": to}
        if note is not None:
            changes["note"] = note
        return self.tasks.update(present.id, version=present.version, **changes)

    def request(
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
        return self.pool.send(self.settings, method, path, params, body, named)

    def get_capabilities(self) -> dict[str, Any]:
        """Return the extensions, limits and retention of this installation.

        client.get_capabilities()["memory"]["limits"]
        """
        return parse_object(self.request("GET", "/api/v1/capabilities"))

    def close(self) -> None:
        """Close the connections; any further call raises `ClientClosedError`.

        client.close()
        """
        self.pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __dir__(self) -> Iterable[str]:
        """List the main attributes: the parts of a group are in the group."""
        grouped = {each.name for kind in (Admin, Protocols) for each in list_fields(kind)}
        return [name for name in super().__dir__() if name not in grouped]

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            refuse_name(type(self).__name__, name)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.settings.server_url!r})"
