"""What all parts of an import use: clients of the owners, requests that count once."""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from hashlib import sha256
from secrets import token_hex
from time import monotonic
from typing import Any

from agent_memory import Client
from agent_memory.cli.tenant.import_state import ImportState
from agent_memory.cli.tenant.importing_client import ImportingClient
from agent_memory.settings import Settings

Document = dict[str, Any]
KEYS = "keys.jsonl"
ORIGIN = ("created_at", "updated_at", "version")
_FORMER = "former.jsonl"
_REQUESTS = "requests.jsonl"


class ImportContext:
    """Where an import writes, and under whose keys.

    Attributes:
        client: of a principal with all permissions, in the tenant that is written to.
        state: what was made already.
        me: the id of the client's principal.
        given: clients of the principals whose keys were given, that one first.
        keys: the keys of the principals that the import has made, by their ids.
    """

    def __init__(
        self, client: Client, others: Iterable[Client], state: ImportState, now: datetime | None
    ) -> None:
        self.client = _import_with(client.settings, client.settings.api_key)
        self.state = state
        self._began, self._started = now, monotonic()
        self.me = client.principals.cached_me().id
        self.keys = state.read(KEYS)
        self._former = state.read(_FORMER)
        self._owners = {self.me: self.client}
        for each in others:
            id = each.principals.cached_me().id
            self._owners.setdefault(id, _import_with(each.settings, each.settings.api_key))
        self.given = list(self._owners.values())

    @property
    def now(self) -> datetime | None:
        """The server's time; what has expired by then is left out."""
        passed = timedelta(seconds=monotonic() - self._started)
        return None if self._began is None else self._began + passed

    def create_principal(self, body: Document) -> str:
        """Create a principal; return its key, the same one again after a run that was cut off.

        Raises:
            MemoryConflictError: there is one already, or was, that this import hasn't made.
        """
        sent, id = self.state.read(_REQUESTS), body["id"]
        if id not in sent:
            sent[id] = token_hex(16)  # nobody guesses it: who repeats the request gets the key
            self.state.add(_REQUESTS, id, sent[id])
        headers = {"Idempotency-Key": sent[id]}
        answer = self.client.request("POST", "/api/v1/principals", json=body, headers=headers)
        return str(answer.json()["api_key"])

    def add_key(self, id: str, api_key: str) -> None:
        """Keep the key of a principal that was made."""
        self.keys[id] = api_key
        self.state.add(KEYS, id, api_key)

    def add_former(self, id: str, api_key: str) -> None:
        """Keep the key of a principal that ends with the import."""
        self._former[id] = api_key
        self.state.add(_FORMER, id, api_key)

    def list_former(self) -> list[str]:
        """Return the principals that end with the import."""
        return list(self._former)

    def has_key(self, id: str | None) -> bool:
        """Return whether the import can write in a principal's name."""
        return id in self._owners or id in self.keys or id in self._former

    def get_client(self, id: str | None) -> ImportingClient:
        """Return a client of a principal whose key was made or given; else the importer's."""
        if id is None or not self.has_key(id):
            return self.client
        if id not in self._owners:
            key = (self._former | self.keys)[id]
            self._owners[id] = _import_with(self.client.settings, key)
        return self._owners[id]

    def close(self) -> None:
        """Close the clients."""
        for client in self._owners.values():
            client.close()

    def has_expired(self, moment: str | None) -> bool:
        """Return whether a moment, RFC 3339, has come by the server's time."""
        return (
            moment is not None
            and self.now is not None
            and datetime.fromisoformat(moment) <= self.now
        )


def _import_with(settings: Settings, api_key: str) -> ImportingClient:
    return ImportingClient(settings.server_url, api_key, timeout=settings.timeout)


def select_fields(document: Mapping[str, Any], names: Iterable[str]) -> Document:
    """Return the fields with these names that the document has, but for null."""
    return {name: document[name] for name in names if document.get(name) is not None}


def send_once(client: Client, method: str, path: str, body: Document, name: str = "") -> Document:
    """Send a body under an Idempotency-Key of what it is, and of a name; return the answer."""
    text = json.dumps([name, method, path, body], ensure_ascii=False)
    headers = {"Idempotency-Key": sha256(text.encode()).hexdigest()}
    answer: Document = client.request(method, path, json=body, headers=headers).json()
    return answer
