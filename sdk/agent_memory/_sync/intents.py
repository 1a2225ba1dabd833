"""`client.intents`: intents and their access lists."""

from collections.abc import Mapping
from typing import Unpack

from agent_memory._sync.pages import Pages
from agent_memory._sync.resource import Resource
from agent_memory.model import Acl, GrantAccess, Intent
from agent_memory.page import Paging
from agent_memory.requests import quote_segment
from agent_memory.responses import parse


class Intents(Resource):
    """The intents of the caller's tenant."""

    def list(self, **paging: Unpack[Paging]) -> Pages[Intent]:
        """Return the intents that the caller may read, newest first.

            [(each.intent_id, each.owner) for each in client.intents.list()]

        Args:
            paging: `limit`, `page_size`, `after`.
        """
        return self._list("/api/v1/intents", "intents", Intent.from_document, paging)

    def set_owner(self, intent_id: str, principal: str) -> Acl:
        """Make a coordinator or user the owner of an intent; needs `memory.admin`.

            client.intents.set_owner("invoices", "boss")

        Returns:
            The intent's access list.
        """
        path = f"/api/v1/intents/{quote_segment(intent_id)}/owner"
        answer = self._call("PUT", path, json={"principal": principal})
        return parse(Acl.from_document, answer)

    def get_acl(self, intent_id: str) -> Acl:
        """Return an intent's access list.

        client.intents.get_acl("invoices").entries
        """
        return parse(Acl.from_document, self._call("GET", _acl(intent_id)))

    def set_acl(self, intent_id: str, access: Mapping[str, GrantAccess]) -> Acl:
        """Replace an intent's access list: `read` or `write` for principals, by id.

        client.intents.set_acl("invoices", {"auditor": "read"})
        """
        entries = [{"principal": id, "access": level} for id, level in access.items()]
        answer = self._call("PUT", _acl(intent_id), json={"entries": entries})
        return parse(Acl.from_document, answer)


def _acl(intent_id: str) -> str:
    return f"/api/v1/intents/{quote_segment(intent_id)}/acl"
