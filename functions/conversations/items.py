"""How conversations and messages look as items."""

from typing import Any

from functions.conversations.model import Conversation, Message
from functions.platform.conversation_keys import (
    build_conversation_key,
    build_details_key,
    build_message_key,
    build_user_row_key,
    parse_message_index,
)
from functions.platform.items import Item
from functions.platform.keys import Key, get_due_shard
from functions.platform.schema import DUE_ATTRIBUTE, DUE_SHARD_ATTRIBUTE
from functions.platform.values import Values, pack
from functions.platform.writes import Write, put, update

_DETAILS = "details"


def place_of(conversation: Conversation) -> Key:
    """Where a conversation's header stands."""
    return build_conversation_key(conversation.tenant, conversation.session)


def row_of(conversation: Conversation) -> Key:
    """Where its user's list names it."""
    place, _ = place_of(conversation)
    return build_user_row_key(conversation.tenant, conversation.user, conversation.created, place)


def header(conversation: Conversation) -> Item:
    """A header's attributes: all but metadata and tags, so that an append stays cheap."""
    place, _ = place_of(conversation)
    ends = conversation.expires
    return {
        "session": conversation.session,
        "owner": conversation.user,
        "creator": conversation.creator,
        "agents": conversation.participants or None,
        "shared": conversation.shared_with or None,
        "generation": conversation.generation,
        "messages": conversation.count,
        "version": conversation.revision,
        "created": conversation.created,
        "updated": conversation.updated,
        "sens": conversation.sensitivity,
        "ttl_rule": conversation.ttl,
        "ends": ends,
        "form": conversation.schema,
        DUE_ATTRIBUTE: ends,
        DUE_SHARD_ATTRIBUTE: None if ends is None else get_due_shard(place),
    }


def listing(conversation: Conversation) -> Write:
    """The row of its user's list, with what decides who sees it there."""
    readers = conversation.owners | set(conversation.shared_with)
    row = {
        "session": conversation.session,
        "readers": readers,
        "tags": conversation.tags or None,
        "ends": conversation.expires,
    }
    return put(row_of(conversation), row)


def moved(before: Conversation, after: Conversation) -> Write:
    """Takes the header from one number of messages to another, unless others were faster."""
    return update(
        place_of(before),
        "SET messages = :after, updated = :now, version = :version",
        "messages = :before AND generation = :of",
        before=before.count,
        of=before.generation,
        after=after.count,
        now=after.updated,
        version=after.revision,
    )


class ConversationItems:
    """Turns conversations and messages into items and back. Sensitive ones are sealed."""

    def __init__(self, values: Values) -> None:
        self._values = values

    def details(self, conversation: Conversation) -> Write:
        """What the header leaves out."""
        value = self._stored(conversation, conversation.metadata, _DETAILS)
        partition, _ = place_of(conversation)
        more = {"tags": conversation.tags or None, "generation": conversation.generation}
        return put(build_details_key(partition), value | more)

    def conversation(self, tenant: str, item: Item, details: Item | None) -> Conversation:
        """The conversation of a header; without its details, it has no metadata and tags."""
        known = _conversation(tenant, item, details or {})
        metadata = b"{}" if details is None else self._opened(known, details, _DETAILS)
        return _conversation(tenant, item, details or {}, metadata)

    def message(
        self, conversation: Conversation, message: Message, request: bytes | None = None
    ) -> Write:
        """A message in its place, with the request that appended it."""
        partition, _ = place_of(conversation)
        key = build_message_key(partition, conversation.generation, message.index)
        stored = self._stored(conversation, message.text, str(message.index))
        return put(key, stored | {"req": request}, "attribute_not_exists(pk)")

    def message_of(self, conversation: Conversation, item: Item) -> Message:
        """The message of an item."""
        index = parse_message_index(item["sk"])
        return Message(index, self._opened(conversation, item, str(index)))

    def _stored(self, conversation: Conversation, text: bytes, part: str) -> Item:
        if not conversation.sealed:
            return {"val": pack(text)}
        return self._values.sealed(text, conversation.tenant, _bound(conversation, part), 1)

    def _opened(self, conversation: Conversation, item: Item, part: str) -> bytes:
        return self._values.opened(item, conversation.tenant, _bound(conversation, part))


def _bound(conversation: Conversation, part: str) -> str:
    """What a sealed text belongs to: opened as another part, it doesn't open."""
    return f"{place_of(conversation)[0]}#{conversation.generation}#{part}"


def _conversation(tenant: str, item: Item, details: Item, metadata: bytes = b"{}") -> Conversation:
    fields: dict[str, Any] = {
        "tenant": tenant,
        "session": item["session"],
        "user": item["owner"],
        "creator": item["creator"],
        "participants": tuple(item.get("agents", ())),
        "shared_with": tuple(item.get("shared", ())),
        "tags": tuple(details.get("tags", ())),
        "metadata": metadata,
        "generation": item["generation"],
        "count": item["messages"],
        "revision": item["version"],
        "created": item["created"],
        "updated": item["updated"],
        "sensitivity": item.get("sens"),
        "ttl": item.get("ttl_rule"),
        "expires": item.get("ends"),
        "schema": item["form"],
    }
    return Conversation(**fields)
