"""Writes who may do what: principals, agents' settings, guardrails, namespaces, tasks, intents."""

from agent_memory.cli.output import note
from agent_memory.cli.tenant.import_context import (
    Document,
    ImportContext,
    select_fields,
    send_once,
)
from agent_memory.exceptions import MemoryConflictError
from agent_memory.model import TaskFields

_ENDED = ("completed", "failed", "cancelled")


class AccessWriter:
    """Writes what an export has of access, each document as often as one likes."""

    def __init__(self, context: ImportContext) -> None:
        self._context = context
        self._client = context.client

    def write_principal(self, document: Document) -> None:
        """Make a principal and keep its key, unless it is there."""
        id = document["id"]
        if id == self._context.me or id in self._context.keys:
            return
        if self._context.has_expired(document.get("expires_at")):
            note(f"the principal {id} has expired and is left out")
            return
        try:
            made = self._client.principals.create(
                id,
                document["kind"],
                permissions=document["permissions"],
                agent_type=document.get("agent_type"),
                expires_at=document.get("expires_at"),
            )
        except MemoryConflictError:
            note(f"the principal {id} is there already; its private memory needs its own key")
            return
        self._context.add_key(id, made.api_key)

    def write_agent(self, document: Document) -> None:
        """Set what bounds an agent's memory."""
        episodic, working = document["episodic"], document["working"]
        self._client.agents.configure(
            document["agent_id"],
            capacity=episodic["capacity"],
            pinned_namespaces=episodic["pinned_namespaces"],
            max_entries=working["max_entries"],
            max_total_size_kb=working["max_total_size_kb"],
        )

    def write_guardrails(self, document: Document) -> None:
        """Set a coordinator's guardrails; they come last, since they bind the import as well."""
        self._client.agents.set_guardrails(document["coordinator_id"], **document["guardrails"])

    def open_namespace(self, document: Document) -> None:
        """Let the importer write the namespace's entries, and nobody else more than before."""
        name = document["namespace"]
        self._client.namespaces.set_permissions(name, allow={self._context.me: "admin"})
        if document.get("search_fields"):
            self._client.namespaces.set_search_fields(name, document["search_fields"])

    def write_namespace(self, document: Document) -> None:
        """Set a namespace's permissions."""
        permissions = document["permissions"]
        allow = {each["agent"]: each["access"] for each in permissions["allow"]}
        self._client.namespaces.set_permissions(
            document["namespace"],
            default=permissions["default"],
            allow={self._context.me: permissions["default"]} | allow,
        )

    def write_task(self, document: Document) -> None:
        """Register a task as its coordinator, else as its assignee; end it if it has ended."""
        is_known = document["coordinator"] in {*self._context.keys, self._context.me}
        creator = self._context.get_client(document["coordinator"] or document["assigned_agent"])
        fields = select_fields(document, TaskFields.__annotations__)
        status = fields.pop("status")
        if is_known or not document["coordinator"]:
            fields.pop("coordinator", None)
        ended = {name: fields.pop(name, None) for name in ("output", "error")}
        body = {"intent_id": document["intent_id"], **fields}
        try:
            task = send_once(creator, "POST", "/api/v1/tasks", body)
        except MemoryConflictError:
            task = dict(creator.tasks.get(document["id"]).raw)
        if task["status"] != status and task["status"] not in _ENDED:
            changes = {"status": status, **({} if status not in _ENDED else ended)}
            changes = {name: each for name, each in changes.items() if each is not None}
            creator.tasks.update(document["id"], version=task["version"], **changes)
        for grant in document["grants"] if status not in _ENDED else ():
            self._write_grant(document, grant)

    def _write_grant(self, task: Document, grant: Document) -> None:
        """Make a grant as who made it, unless it has expired."""
        if not self._context.has_expired(grant.get("expires_at")):
            self._context.get_client(grant["granted_by"]).tasks.grant(
                task["id"],
                grant["principal"],
                grant["access"],
                expires_at=grant.get("expires_at"),
            )

    def write_intent(self, document: Document) -> None:
        """Set an intent's owner, if it is another one by now, and its access list."""
        intent, owner = document["intent_id"], document.get("owner")
        if owner is None:
            return
        if self._client.intents.get_acl(intent).owner != owner:
            self._client.intents.set_owner(intent, owner)
        access = {each["principal"]: each["access"] for each in document.get("entries", ())}
        if access:
            self._context.get_client(owner).intents.set_acl(intent, access)
