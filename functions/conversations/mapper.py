"""Conversations and messages as items and back. Sensitive ones are encrypted."""

from dataclasses import replace

from functions.conversations.model import Conversation, Message
from functions.platform.conversation_keys import (
    build_conversation_key,
    build_user_row_key,
    parse_message_index,
)
from functions.platform.items import Item
from functions.platform.keys import Key, get_due_shard
from functions.platform.schema import DUE_ATTRIBUTE, DUE_SHARD_ATTRIBUTE
from functions.platform.values import ValueCodec

_VERSION = 1  # no text is ever replaced


def header_key(conversation: Conversation) -> Key:
    """Build the key of a conversation's header."""
    return build_conversation_key(conversation.tenant, conversation.session)


def listing_key(conversation: Conversation) -> Key:
    """Build the key of a conversation's row in its user's list."""
    partition, _ = header_key(conversation)
    return build_user_row_key(
        conversation.tenant, conversation.user, conversation.created, partition
    )


def encode_header(conversation: Conversation) -> Item:
    """Encode all but metadata and tags, so that an append stays cheap."""
    expires = conversation.expires
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
        "sensitivity": conversation.sensitivity,
        "ttl_rule": conversation.ttl,
        "expires": expires,
        "schema": conversation.schema,
        DUE_ATTRIBUTE: expires,
        DUE_SHARD_ATTRIBUTE: None
        if expires is None
        else get_due_shard(header_key(conversation)[0]),
    }


def encode_listing(conversation: Conversation) -> Item:
    """Encode the row of the user's list, with what decides who sees it."""
    return {
        "session": conversation.session,
        "readers": conversation.owners | set(conversation.shared_with),
        "tags": conversation.tags or None,
        "expires": conversation.expires,
    }


class ConversationMapper:
    """Encodes and decodes what may be encrypted."""

    def __init__(self, values: ValueCodec) -> None:
        self._values = values

    def encode_details(self, conversation: Conversation) -> Item:
        """Encode what the header leaves out."""
        value = self._encode_value(conversation, conversation.metadata, "details")
        return value | {
            "tags": conversation.tags or None,
            "generation": conversation.generation,
        }

    def decode(self, tenant: str, header: Item, details: Item | None = None) -> Conversation:
        """Decode a conversation; without its details, it has no metadata and tags."""
        conversation = Conversation(
            tenant=tenant,
            session=header["session"],
            user=header["owner"],
            creator=header["creator"],
            participants=tuple(header.get("agents", ())),
            shared_with=tuple(header.get("shared", ())),
            tags=tuple((details or {}).get("tags", ())),
            metadata=b"{}",
            generation=header["generation"],
            count=header["messages"],
            revision=header["version"],
            created=header["created"],
            updated=header["updated"],
            sensitivity=header.get("sensitivity"),
            ttl=header.get("ttl_rule"),
            expires=header.get("expires"),
            schema=header["schema"],
        )
        if details is None:
            return conversation
        metadata = self._decode_value(conversation, details, "details")
        return replace(conversation, metadata=metadata)

    def encode_message(self, conversation: Conversation, message: Message) -> Item:
        """Encode a message."""
        return self._encode_value(conversation, message.text, str(message.index))

    def decode_message(
        self, conversation: Conversation, item: Item, index: int | None = None
    ) -> Message:
        """Decode a message; its index is that of its sort key, unless given."""
        if index is None:
            index = parse_message_index(item["sk"])
        return Message(index, self._decode_value(conversation, item, str(index)))

    def _encode_value(self, conversation: Conversation, text: bytes, part: str) -> Item:
        context = _context(conversation, part)
        return self._values.encode(
            text, conversation.sensitivity, conversation.tenant, context, _VERSION
        )

    def _decode_value(self, conversation: Conversation, item: Item, part: str) -> bytes:
        return self._values.decode(item, conversation.tenant, _context(conversation, part))


def _context(conversation: Conversation, part: str) -> str:
    """Build what an encrypted text is bound to: it decrypts as no other part."""
    return f"{header_key(conversation)[0]}#{conversation.generation}#{part}"
