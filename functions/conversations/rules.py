"""Define the changes of conversations, messages and states."""

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from functions.conversations.model import (
    SCHEMA,
    Conversation,
    Message,
    RemovedRange,
)
from functions.conversations.requests import (
    ConversationChange,
    MessageChange,
    NewConversation,
    NewMessage,
    NewMessages,
)
from functions.identity.model import ADMIN, Principal
from functions.platform import item_types, limits
from functions.platform.clock import compute_expiry, from_rfc3339, to_rfc3339
from functions.platform.errors import (
    ConversationNotOwned,
    NotFound,
    Throttled,
    UnreadableValue,
    ValidationFailed,
    ValueTooLarge,
    VersionMismatch,
)
from functions.platform.idempotency import RequestToken, Verdict
from functions.platform.json_text import dumps, dumps_checked, loads
from functions.platform.keys import Digest
from functions.platform.references import hash_reference
from functions.platform.sensitivity import ENCRYPTED

OLD_SCHEMA = "0.9"  # messages without timestamp and metadata
_SCHEMAS = (SCHEMA, OLD_SCHEMA)


def check_schema(version: str) -> str:
    """Check that the version of a schema is a known one."""
    if version not in _SCHEMAS:
        raise ValidationFailed("version", f"must be one of {', '.join(_SCHEMAS)}")
    return version


def create_generation() -> str:
    """Create the name of a set of messages: 64 random bits.

    Each replacement has another name, so a reader never mixes two sets.
    """
    return secrets.token_hex(8)


def build_conversation(
    caller: Principal, session: str, new: NewConversation, now: int
) -> Conversation:
    """Build the conversation that a body asks for, without its messages."""
    if new.session_id not in (None, session):
        raise ValidationFailed("session_id", "must be the session id in the path")
    joining = () if caller.id == new.user_id else (caller.id,)
    return Conversation(
        tenant=caller.tenant,
        session_id=session,
        user_id=new.user_id,
        created_by=caller.id,
        agent_participants=_list_names((*new.agent_participants, *joining)),
        shared_with=_list_names(new.shared_with),
        tags=_list_names(new.tags),
        metadata=_render_metadata(new.metadata),
        generation=create_generation(),
        message_count=len(new.messages),
        end=len(new.messages),
        revision=1,
        created_at=now,
        updated_at=now,
        sensitivity=new.sensitivity,
        ttl=new.ttl,
        expires_at=compute_expiry(new.ttl, new.expires_at, now),
        schema=check_schema(new.version),
        searchable=new.searchable,
        learn=new.learn,
        lister=None if new.user_id == caller.id else caller.id,
    )


def supersede(old: Conversation, new: Conversation) -> Conversation:
    """Build a replaced conversation: only its creator and its creation time stay."""
    revision = old.revision + 1
    return replace(
        new,
        created_by=old.created_by,
        created_at=old.created_at,
        revision=revision,
        details_at=revision,
        lister=old.lister if old.user_id == new.user_id else new.lister,
        requests=old.requests,
        requested_at=old.requested_at,
    )


def show_uploaded(new: Conversation, upload: Conversation) -> Conversation:
    """Build a conversation that shows uploaded messages."""
    if new.sensitivity != upload.sensitivity:
        raise ValidationFailed("sensitivity", "must be that of the upload")
    if new.schema != upload.schema:
        raise ValidationFailed("version", "must be that of the upload")
    return replace(
        new,
        generation=upload.generation,
        message_count=upload.message_count,
        end=upload.message_count,
    )


def change_conversation(old: Conversation, change: ConversationChange, now: int) -> Conversation:
    """Build a conversation after a change of some fields."""
    given = change.model_fields_set
    fields: dict[str, Any] = {}
    for name in given & {"agent_participants", "shared_with", "tags"}:
        fields[name] = _list_names(getattr(change, name))
    for name in given & {"searchable", "learn"}:
        fields[name] = getattr(change, name)
    if given & {"ttl", "expires_at"}:
        fields["ttl"] = change.ttl
        fields["expires_at"] = compute_expiry(change.ttl, change.expires_at, now)
    if "metadata" in given:
        fields["metadata"] = _render_metadata(change.metadata)
        fields["details_at"] = old.revision + 1
    return replace(advance(old, now), **fields)


def assert_expected(found: Conversation, new: NewMessages, *, is_trusted: bool) -> None:
    """Check that a conversation has the expected creator and user."""
    creators = new.expect_created_by
    if not is_trusted or (creators is not None and found.created_by not in creators):
        other = "principal"
    elif new.expect_user_id not in (None, found.user_id):
        other = "user"
    else:
        return
    raise ConversationNotOwned(
        f"this conversation belongs to another {other}; use "
        "another session_id, or leave out the expect_"
        " fields (in the SDK: join=True) to continue it"
    )


def is_trusted_creator(creator: Principal, caller: Principal) -> bool:
    """Tell whether a caller trusts this principal's conversations without `expect`."""
    alike = creator.agent_type is not None and creator.agent_type == caller.agent_type
    return alike or creator.may_coordinate or ADMIN in creator.permissions


def advance(old: Conversation, now: int, **changed: Any) -> Conversation:
    """Build the next revision of a conversation."""
    return replace(old, revision=old.revision + 1, updated_at=now, **changed)


def rewrite(old: Conversation, now: int, **changed: Any) -> Conversation:
    """Build the next revision of a conversation whose messages change other than by an append."""
    return advance(old, now, rewritten_at=old.revision + 1, **changed)


def remove_range(old: Conversation, first: int, end: int, count: int, now: int) -> Conversation:
    """Build a conversation after `count` messages of a range were removed."""
    if len(old.removed) >= limits.MAX_REMOVED_RANGES:
        raise Throttled("earlier removed messages are still being deleted; try again in a minute")
    revision = old.revision + 1
    return rewrite(
        old,
        now,
        message_count=old.message_count - count,
        removed=(*old.removed, RemovedRange(first, end, revision)),
    )


def list_shown(conversation: Conversation, first: int, end: int) -> list[tuple[int, int]]:
    """List the ranges between two indexes that readers don't skip, in order."""
    shown = []
    for removed in sorted(conversation.removed):
        if removed.first > first:
            shown.append((first, min(removed.first, end)))
        first = max(first, removed.end)
    shown.append((first, end))
    return [(start, stop) for start, stop in shown if start < stop]


def conversation_not_found() -> NotFound:
    """Build the error for a conversation that does not exist in this tenant."""
    return NotFound("no conversation has this session id; check it, or list the conversations")


def assert_version(found: Conversation | None, version: int | None) -> None:
    """Check that a conversation has the revision that If-Match names, if any."""
    if found is None:
        if version:
            raise conversation_not_found()
    elif version not in (None, found.revision):
        raise VersionMismatch.of("the conversation", found.revision)


def is_repeated(old: Conversation, token: RequestToken | None) -> bool:
    """Tell whether a request is the one that led to the present revision."""
    if token is None or not old.requests:
        return False
    verdict = token.judge(old.requests)
    if verdict is Verdict.REPLAY and old.requested_at == old.revision:
        return True
    if verdict is not Verdict.NEW:
        raise VersionMismatch.of_replay("the conversation", old.revision)
    return False


def record_request(new: Conversation, token: RequestToken | None) -> Conversation:
    """Record which request led to a revision."""
    if token is None:
        return new
    return replace(new, requests=token.add_to(new.requests), requested_at=new.revision)


def build_texts(messages: Iterable[NewMessage], schema: str, now: int) -> list[bytes]:
    """Build the compact JSON of messages, which is stored and measured."""
    texts = []
    for index, message in enumerate(messages):
        try:
            texts.append(_dump(_document(message, schema, now)))
        except (ValidationFailed, ValueTooLarge) as error:
            raise error.at(index) from None
    return texts


def change_message(old: Message, change: MessageChange, caller: str, now: int) -> Message:
    """Build a message after a change of some fields.

    If the caller is not its author, the message names the caller and the time.
    """
    document: dict[str, Any] = loads(old.text)
    if document.get("unreadable"):
        raise UnreadableValue
    document |= {name: getattr(change, name) for name in change.model_fields_set}
    if old.created_by not in (None, caller):
        document |= {"edited_by": caller, "edited_at": to_rfc3339(now)}
    return replace(old, text=_dump(document))


def render_lost_message(conversation: Conversation) -> bytes:
    """Render the placeholder of a message whose text was damaged or moved."""
    time = to_rfc3339(conversation.created_at)
    lost = {"role": "system", "content": "", "timestamp": time, "metadata": {}, "unreadable": True}
    return dumps(lost)


def _dump(document: dict[str, Any]) -> bytes:
    return dumps_checked(document, "messages", limits.MAX_MESSAGE_BYTES, subject="the message has")


def _document(message: NewMessage, schema: str, now: int) -> dict[str, Any]:
    document: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.timestamp is not None or schema == SCHEMA:
        moment = now if message.timestamp is None else message.timestamp
        document["timestamp"] = to_rfc3339(moment)
    if message.metadata or schema == SCHEMA:
        document["metadata"] = message.metadata
    if message.uses:
        document["uses"] = message.uses
    return document


def migrate_message(conversation: Conversation, message: Message) -> Message:
    """Convert a message to the present schema (§4.1 `version`)."""
    if conversation.schema == SCHEMA:
        return message
    stored: dict[str, Any] = loads(message.text)
    defaults = {"timestamp": to_rfc3339(conversation.created_at), "metadata": {}}
    ordered = {"role": stored["role"], "content": stored["content"], **defaults, **stored}
    return replace(message, text=dumps_checked(ordered, "messages"))


def read_uses(text: bytes) -> tuple[list[Digest], int | None]:
    """Read a message's references to items of memory, and its time (epoch ms)."""
    if b'"uses":' not in text:
        return [], None
    document = loads(text)
    time = document.get("timestamp")
    uses = [hash_reference(each) for each in document.get("uses", ())]
    return uses, None if time is None else max(from_rfc3339(time), 0)


def find_use(conversation: Conversation, sort: str, now: int) -> int | None:
    """Find the index of the message that a row of a use names; None if it is hidden."""
    generation, _, place = item_types.USE.parse(sort).partition("#")
    index = int(place.partition("#")[0])
    is_past = conversation.generation != generation or conversation.has_expired(now)
    if is_past or conversation.sensitivity in ENCRYPTED or index >= conversation.end:
        return None
    return index if list_shown(conversation, index, index + 1) else None


def _list_names(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _render_metadata(metadata: dict[str, Any]) -> bytes:
    return dumps_checked(metadata, "metadata", limits.MAX_CONVERSATION_METADATA_BYTES)
