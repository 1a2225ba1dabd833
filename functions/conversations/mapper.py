"""Conversations and messages as items and back. Sensitive ones are encrypted."""

from dataclasses import replace

from functions.conversations.model import Conversation, Message, RemovedRange
from functions.conversations.rules import migrate_message, render_lost_message
from functions.platform import item_types
from functions.platform.items import Item, from_attributes, to_attributes
from functions.platform.keys import Key, build_due_attributes, encode_timestamp
from functions.platform.newest_first import build_list_attributes
from functions.platform.values import ValueCodec, read_text

_VERSION = 1  # no text is ever replaced
DETAILS = "details"
"""The place to which a conversation's encrypted metadata are bound."""


def header_key(conversation: Conversation) -> Key:
    """Build the key of a conversation's header."""
    return item_types.CONVERSATION.build_key(conversation.tenant, session=conversation.session_id)


def marker_key(conversation: Conversation) -> Key:
    """Build the key of the marker of messages that a conversation does not show."""
    partition, _ = header_key(conversation)
    return item_types.ORPHANED_MESSAGES.build_key_in(partition, generation=conversation.generation)


def listing_key(conversation: Conversation) -> Key:
    """Build the key of a conversation's row in its user's list."""
    return item_types.USER_CONVERSATION.build_key(
        conversation.tenant,
        user=conversation.user_id,
        updated=encode_timestamp(conversation.updated_at),
        session=conversation.session_id,
    )


def parse_message_index(sort: str) -> int:
    """Parse the index that a message's sort key ends with."""
    return int(sort.rpartition("#")[2])


def encode_header(conversation: Conversation) -> Item:
    """Encode all but the metadata, so that an append stays cheap."""
    key = header_key(conversation)
    listed_in = item_types.CONVERSATION.build_group(conversation.tenant)
    return {
        **to_attributes(conversation, "tenant", "metadata"),
        "removed": [list(each) for each in conversation.removed] or None,
        **build_list_attributes(listed_in, conversation.created_at, key[0]),
        **build_due_attributes(key[0], conversation.expires_at),
    }


def encode_listing(conversation: Conversation) -> Item:
    """Encode the row of the user's list, with the fields that decide who may see it."""
    return {
        "session_id": conversation.session_id,
        "readers": conversation.owners | set(conversation.shared_with),
        "tags": conversation.tags or None,
        "expires_at": conversation.expires_at,
    }


def decode_header(tenant: str, header: Item) -> Conversation:
    """Decode a conversation without its metadata."""
    removed = tuple(RemovedRange(*each) for each in header.get("removed", ()))
    return from_attributes(Conversation, header, tenant=tenant, metadata=b"{}", removed=removed)


class ConversationMapper:
    """Encodes and decodes values that may be encrypted, and are split into parts if large."""

    def __init__(self, values: ValueCodec) -> None:
        self._values = values

    def decode(self, head: Conversation, details: Item) -> Conversation:
        """Decode the metadata of a conversation, whose parts are joined."""
        text = read_text(details, lambda: self.decode_value(head, details, DETAILS))
        return replace(head, metadata=text)

    def decode_message(
        self, conversation: Conversation, item: Item, index: int | None = None
    ) -> Message:
        """Decode a message, in the present schema, whose parts are joined.

        If `index` is not given, the key has it.
        """
        if index is None:
            index = parse_message_index(item["sk"])
        lost = render_lost_message(conversation)
        text = read_text(item, lambda: self.decode_value(conversation, item, str(index)), lost)
        return migrate_message(conversation, Message(index, text, item.get("created_by")))

    def encode_value(self, conversation: Conversation, text: bytes, place: str) -> Item:
        """Encode a text, bound to its place: a message's index, `details`, or a request."""
        context = _context(conversation, place)
        return self._values.encode(
            text, conversation.sensitivity, conversation.tenant, context, _VERSION
        )

    def decode_value(self, conversation: Conversation, item: Item, place: str) -> bytes:
        """Decode a text that is bound to a place."""
        context = _context(conversation, place)
        return self._values.decode(item, conversation.tenant, context, _VERSION)


def _context(conversation: Conversation, place: str) -> str:
    """Build the context that a text is encrypted with: it can't be decrypted in another place."""
    return f"{header_key(conversation)[0]}#{conversation.generation}#{place}"
