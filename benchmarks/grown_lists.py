"""Measure pages of lists that grow: ten elements without a total, with and without filters."""

from collections.abc import Iterator
from functools import partial

from benchmarks.grown import Operation, Subject
from benchmarks.inprocess import Caller, Function
from benchmarks.workload import entry

PAGE = 10
_MEMORY, _OBJECTS, _PROCEDURES = "/api/v1/memory", "/api/v1/objects", "/api/v1/procedures"
_NAMESPACES = f"{_MEMORY}/namespaces"
_FEW = 3  # namespaces with a rare prefix


class ListSubject(Subject):
    """Elements of lists, and the pages of ten of these lists.

    Attributes:
        pages: the name of each page, and its path with filters.
    """

    pages: tuple[tuple[str, str], ...]

    def operations(self) -> Iterator[tuple[str, Operation]]:
        """Yield the first page of each list."""
        for name, path in self.pages:
            yield name, partial(self._admin.get, _limit(path))


def _limit(path: str) -> str:
    """Ask for ten elements without a total; logs have no totals, and reject the parameter."""
    paging = f"limit={PAGE}" if path.startswith("/api/v1/audit") else f"limit={PAGE}&total=none"
    return f"{path}{'&' if '?' in path else '?'}{paging}"


class TenantLists(ListSubject):
    """A tenant's principals, namespaces, intents, and audit log, which grow together."""

    lists = (
        "/api/v1/principals",
        "/api/v1/agents",
        "/api/v1/intents",
        "/api/v1/memory/namespaces",
        "/api/v1/audit",
    )
    pages = (
        *((f"first page of {each}", f"/api/v1/{each}") for each in ("principals", "agents")),
        ("first page of intents", "/api/v1/intents"),
        ("first page of memory/namespaces", _NAMESPACES),
        ("first page of the audit log", "/api/v1/audit?order=desc"),
        ("audit log, of an actor without records", "/api/v1/audit?order=desc&actor=absent"),
        ("query by a prefix of 3 namespaces", f"{_MEMORY}?memory_type=semantic&namespace=few.*"),
        ("query by a prefix of all namespaces", f"{_MEMORY}?memory_type=semantic&namespace=n*"),
    )
    examined = frozenset(
        {"audit log, of an actor without records", "query by a prefix of all namespaces"}
    )

    def __init__(self, function: Function, admin: Caller) -> None:
        super().__init__(function, admin)
        for number in range(_FEW):
            body = entry(admin.id, "rate", "semantic", ()) | {"namespace": f"few.{number}"}
            admin.send("POST", _MEMORY, body)

    def _add(self, number: int) -> None:
        self._admin.function.new_agent(self._admin, f"agent-{number}")
        acl: dict[str, object] = {"entries": []}
        self._admin.send("PUT", f"/api/v1/intents/intent-{number}/acl", acl)
        body = entry(self._admin.id, "rate", "semantic", ()) | {"namespace": f"n-{number}"}
        self._admin.send("POST", _MEMORY, body)


class RunLists(ListSubject):
    """One instance's runs, each of a different agent type."""

    lists = ("/api/v1/runs", "/api/v1/agent-types")
    pages = (
        ("first page of runs", "/api/v1/runs"),
        ("first page of an instance's runs", "/api/v1/runs?instance_id=one"),
        ("runs, of a status that none has", "/api/v1/runs?status=failed"),
        ("first page of agent types", "/api/v1/agent-types"),
    )
    examined = frozenset({"runs, of a status that none has"})

    def _add(self, number: int) -> None:
        body = {"agent_type": f"type-{number}", "instance_id": "one"}
        self._admin.send("POST", "/api/v1/runs", body)


class OpenwopRunLists(ListSubject):
    """OpenWOP's runs that one principal started."""

    lists = ("/v1/runs", "/v1/memories")
    pages = (
        ("OpenWOP: first page of runs", "/v1/runs"),
        ("OpenWOP: first page of memories", "/v1/memories"),
    )

    def _add(self, number: int) -> None:
        self._admin.send("POST", "/v1/runs", {"agent": f"agent-{number}"})


class FactLists(ListSubject):
    """One subject's facts, each with a different predicate."""

    lists = ("/api/v1/facts",)
    pages = (
        ("first page of facts", "/api/v1/facts"),
        ("first page of a subject's facts", "/api/v1/facts?subject=acme"),
        ("facts, of a predicate that none has", "/api/v1/facts?predicate=nothing"),
    )
    examined = frozenset({"facts, of a predicate that none has"})

    def _add(self, number: int) -> None:
        body = {"subject": "acme", "predicate": f"p{number}", "object": "x"}
        self._admin.send("POST", "/api/v1/facts", body)


class ConversationLists(ListSubject):
    """One user's conversations, and those that the caller can read."""

    lists = ("/api/v1/users/{user_id+}/conversations", "/api/v1/conversations")
    pages = (
        ("first page of readable conversations", "/api/v1/conversations"),
        ("first page of a user's conversations", "/api/v1/users/ada/conversations"),
        ("conversations, of a tag that none has", "/api/v1/users/ada/conversations?tags=rare"),
    )
    examined = frozenset({"conversations, of a tag that none has"})

    def _add(self, number: int) -> None:
        body = {"user_id": "ada", "tags": ["common"]}
        self._admin.send("PUT", f"/api/v1/conversations/session-{number}", body)


class ObjectLists(ListSubject):
    """One space's objects, and the same number of spaces."""

    lists = ("/api/v1/objects", "/api/v1/objects/{space}")
    pages = (
        ("first page of spaces", _OBJECTS),
        ("first page of a space's objects", f"{_OBJECTS}/one"),
        ("objects, of a prefix that none has", f"{_OBJECTS}/one?prefix=none"),
    )

    def _add(self, number: int) -> None:
        self._admin.send("PUT", f"{_OBJECTS}/one/key-{number}", {"n": number})
        self._admin.send("PUT", f"{_OBJECTS}/space-{number}/key", {"n": number})


class WorkflowLists(ListSubject):
    """A task type's workflows, and the same number of task types of one agent type."""

    lists = ("/api/v1/procedures/{agent_type}", "/api/v1/procedures/{agent_type}/{task_type}")
    pages = (
        ("first page of task types", f"{_PROCEDURES}/sdr"),
        ("first page of a task type's workflows", f"{_PROCEDURES}/sdr/one"),
    )

    def _add(self, number: int) -> None:
        for path in (f"one/w-{number}", f"type-{number}/only"):
            self._admin.send("PUT", f"{_PROCEDURES}/sdr/{path}", {"spec": {"n": number}})


LISTS: tuple[type[ListSubject], ...] = (
    TenantLists,
    RunLists,
    OpenwopRunLists,
    FactLists,
    ConversationLists,
    ObjectLists,
    WorkflowLists,
)
UNMEASURED = {
    "/api/v1/agents/{agent_id}/objects/{space}": "the list of a shared space, by another address",
    "/api/v1/conversations/{session_id+}/archive": "an archive is one file, read from its begin",
    "/api/v1/consolidation/{id}": "a page of a run's steps is one query",
    "/api/v1/strategies": "a tenant has 20 at most",
    "/api/v1/memory/{id}/history": "one query for a page of 20 versions, however many there are",
}
"""Lists without a measured page, each with the reason."""
