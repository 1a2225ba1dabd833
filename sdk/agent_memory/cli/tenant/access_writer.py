"""Writes who may do what: principals, agents' settings, guardrails, namespaces, intents."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from agent_memory.cli.output import note
from agent_memory.cli.tenant.import_context import (
    ORIGIN,
    Document,
    ImportContext,
    select_fields,
)
from agent_memory.cli.tenant.importing_client import PERMISSION
from agent_memory.exceptions import MemoryConflictError, MemoryNotFoundError
from agent_memory.model import Acl, GuardrailChanges, NamespaceAccess, Permission, Principal

_PRINCIPAL = ("id", "kind", "agent_type", "expires_at", "created_at")
_IMPORTERS = "importers.jsonl"  # what permissions they had before


class AccessWriter:
    """Writes what an export has of access, each document as often as one likes."""

    def __init__(self, context: ImportContext) -> None:
        self._context = context
        self._client = context.client

    def write_principal(self, document: Document) -> None:
        """Make a principal and keep its key, unless it is there."""
        id = document["id"]
        if self._context.has_key(id):
            return
        if self._context.has_expired(document.get("expires_at")):
            note(f"the principal {id} has expired and is left out")
            return
        try:
            fields = select_fields(document, _PRINCIPAL)
            permissions = [*document["permissions"], PERMISSION]
            key = self._context.create_principal({**fields, "permissions": permissions})
        except MemoryConflictError:
            note(f"the principal {id} is there already; its private memory needs its key: --with")
            return
        self._context.add_key(id, key)

    def take_permission(self, document: Document) -> None:
        """Take the permission to import from a principal that this import has made."""
        if document["id"] in self._context.keys:
            self._client.principals.update(document["id"], permissions=document["permissions"])

    @contextmanager
    def hold_permission(self) -> Iterator[None]:
        """Give those whose keys were given the permission to import; take it back at the end."""
        with ExitStack() as stack:
            for each in self._context.given:
                stack.enter_context(self._hold_permission(each.principals.me()))
            yield

    @contextmanager
    def _hold_permission(self, principal: Principal) -> Iterator[None]:
        id, state = principal.id, self._context.state
        before: list[Permission] = list(principal.permissions)
        if PERMISSION not in before:
            state.add(_IMPORTERS, id, json.dumps(before))
            self._client.principals.update(id, permissions=[*before, PERMISSION])
        elif id in (known := state.read(_IMPORTERS)):  # by a run that was killed
            before = json.loads(known[id])
        try:
            yield
        finally:
            if PERMISSION not in before:
                self._client.principals.update(id, permissions=before)

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

    def require_archives(self, document: Document) -> None:
        """Have a coordinator's tasks archived when they end, if its guardrails say so."""
        if document["guardrails"].get("memory_archive_required"):
            coordinator = document["coordinator_id"]
            self._client.agents.set_guardrails(coordinator, memory_archive_required=True)

    def write_guardrails(self, document: Document) -> None:
        """Set a coordinator's guardrails; all come last, since they bind the import as well."""
        known = GuardrailChanges.__annotations__
        given: Any = {name: document["guardrails"].get(name) for name in known}
        with self._client.keep(**select_fields(document, ["updated_at"])):
            self._client.agents.set_guardrails(document["coordinator_id"], **given)

    def open_namespace(self, document: Document) -> None:
        """Let the importer write the namespace's entries, and nobody else more than before."""
        name = document["namespace"]
        if name.endswith("*"):
            return
        with self._client.keep(**select_fields(document, ["created_at"])):
            self._client.namespaces.set_permissions(name, allow={self._context.me: "admin"})
        if document.get("search_fields"):
            self._client.namespaces.set_search_fields(name, document["search_fields"])

    def write_namespace(self, document: Document) -> None:
        """Set a namespace's permissions, and take the importer's own out if it had none."""
        name, permissions = document["namespace"], document["permissions"]
        allow = {each["agent"]: each["access"] for each in permissions["allow"]}
        if self._context.me not in allow and not name.endswith("*"):
            closed: dict[str, NamespaceAccess] = {self._context.me: "none"}
            self._client.namespaces.set_permissions(name, default="none", allow=closed)
        with self._client.keep(**select_fields(document, ORIGIN)):
            self._client.namespaces.set_permissions(
                name, default=permissions["default"], allow=allow
            )

    def write_intent(self, document: Document) -> None:
        """Set an intent's owner and access list; an intent without an owner comes by its use."""
        intent, owner = document["intent_id"], document.get("owner")
        if owner is None:
            return
        present = self._find_acl(intent)
        access = {each["principal"]: each["access"] for each in document.get("entries", ())}
        listed = () if present is None else present.entries
        with self._client.keep(**select_fields(document, ("created_at", "version"))):
            if present is None or present.owner != owner:
                self._client.intents.set_owner(intent, owner)
            if access != {each.principal: each.access for each in listed}:
                self._client.intents.set_acl(intent, access)

    def _find_acl(self, intent_id: str) -> Acl | None:
        try:
            return self._client.intents.get_acl(intent_id)
        except MemoryNotFoundError:
            return None
