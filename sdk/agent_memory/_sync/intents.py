"""`client.intents`: who may use an intent."""

from collections.abc import Mapping
from typing import Any

from agent_memory._sync.resource import Resource
from agent_memory.model import GrantAccess, Intent
from agent_memory.requests import quote_segment
from agent_memory.responses import parse

_List = list[Intent]


class Intents(Resource):
    """The intents of the caller's tenant."""

    def list(self) -> _List:
        """Return the intents that the caller may read."""
        found = self._list("/api/v1/intents", "intents")
        return [parse(Intent.from_document, document) for document in found]

    def set_owner(self, intent_id: str, principal: str) -> dict[str, Any]:
        """Make a coordinator or user the owner of an intent; needs `memory.admin`.

            client.intents.set_owner("invoices", "boss")

        Returns:
            the intent's access list.
        """
        path = f"/api/v1/intents/{quote_segment(intent_id)}/owner"
        return self._call("PUT", path, json={"principal": principal})

    def acl(self, intent_id: str) -> dict[str, Any]:
        """Return an intent's access list: `{intent_id, owner, entries, version}`."""
        return self._call("GET", _acl(intent_id))

    def set_acl(self, intent_id: str, access: Mapping[str, GrantAccess]) -> dict[str, Any]:
        """Replace an intent's access list: `read` or `write` for principals, by id."""
        entries = [{"principal": id, "access": level} for id, level in access.items()]
        return self._call("PUT", _acl(intent_id), json={"entries": entries})


def _acl(intent_id: str) -> str:
    return f"/api/v1/intents/{quote_segment(intent_id)}/acl"
