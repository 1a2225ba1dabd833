"""Without a body: conversations read, popped from, deleted."""

from collections.abc import Iterable
from typing import Any

from functions.api.call import Answer, Call, json_answer
from functions.api.conversation_documents import conversation_document, message_document
from functions.api.documents import Document
from functions.api.filters import tags_of
from functions.api.paging import PAGE, cut, envelope, limits, number, single
from functions.api.route import Route
from functions.conversations.model import Conversation, Message
from functions.identity.model import READ, WRITE, Principal
from functions.platform.errors import ValidationFailed
from functions.platform.limits import MAX_PAGE_ITEMS

CONVERSATIONS = "/api/v1/conversations"
CONVERSATION = f"{CONVERSATIONS}/{{session_id+}}"
_ARCHIVE = f"{CONVERSATION}/archive"


def get(call: Call, caller: Principal) -> Answer:
    first, most = _range(call)
    newest = number(call, "last", 0, 1, MAX_PAGE_ITEMS)
    if newest and call.query.keys() & set(PAGE):
        raise ValidationFailed("last", "goes without limit and offset")
    session = call.names["session_id"]
    found, page = call.services.conversations.read(caller, session, -newest or first, most, _page)
    return answer(
        200, found, _document(found, max(found.count - newest, 0) if newest else first, page)
    )


def pop(call: Call, caller: Principal) -> Answer:
    token = None if call.idempotency_key is None else call.token(caller)
    after, popped = call.services.conversations.pop(caller, call.names["session_id"], token)
    document = {
        "session_id": after.session,
        "revision": after.revision,
        "message_count": after.count,
        "message": None if popped is None else message_document(popped),
    }
    return answer(200, after, document)


def delete(call: Call, caller: Principal) -> Answer:
    call.services.conversations.delete(caller, call.names["session_id"], call.if_match)
    return Answer(204)


def of_user(call: Call, caller: Principal) -> Answer:
    limit, offset = limits(call)
    found, total = call.services.conversations.of_user(
        caller, call.names["user_id"], tags_of(call, "tags"), limit, offset
    )
    page = cut(map(conversation_document, found))
    return json_answer(200, envelope("conversations", page, total, limit, offset, len(page)))


def get_archive(call: Call, caller: Principal) -> Answer:
    first, most = _range(call)
    session = call.names["session_id"]
    found, page = call.services.archives.read(caller, session, first, most, _page)
    return answer(200, found, _document(found, first, page))


def delete_archive(call: Call, caller: Principal) -> Answer:
    call.services.archives.delete(caller, call.names["session_id"])
    return Answer(204)


def _range(call: Call) -> tuple[int, int | None]:
    """The first message, and how many at most; without `limit`, as many as an answer holds."""
    limited = single(call, "limit") is not None
    limit, offset = limits(call)
    return offset, limit if limited else None


def _page(messages: Iterable[Message]) -> list[Any]:
    return cut(map(message_document, messages))


def _document(found: Conversation, first: int, page: list[Any]) -> Document:
    upto = first + len(page)
    more = {"next_offset": upto} if upto < found.count else {}
    return conversation_document(found) | {"messages": page, "offset": first} | more


def answer(status: int, found: Conversation, document: Document, **headers: str) -> Answer:
    """An answer that shows something of a conversation, with its version."""
    return json_answer(status, document, etag=f'"{found.revision}"', **headers)


ROUTES = [
    Route(
        "POST",
        f"{CONVERSATION}/messages/pop",
        pop,
        WRITE,
        "Take the last message off a conversation",
        {200: "Popped"},
        also=(404, 409),
        once=True,
    ),
    Route(
        "GET",
        _ARCHIVE,
        get_archive,
        READ,
        "Read a conversation whose retention is over back from cold storage",
        {200: "Conversation"},
        query=PAGE,
        also=(404,),
    ),
    Route(
        "DELETE",
        _ARCHIVE,
        delete_archive,
        WRITE,
        "Remove a conversation from cold storage",
        {204: None},
        also=(404,),
    ),
    Route(
        "GET",
        CONVERSATION,
        get,
        READ,
        "Get a conversation and a page of its messages, oldest first",
        {200: "Conversation"},
        query=("last", *PAGE),
        also=(404,),
    ),
    Route(
        "DELETE",
        CONVERSATION,
        delete,
        WRITE,
        "Delete a conversation",
        {204: None},
        also=(404, 409),
        if_match="optional",
    ),
    Route(
        "GET",
        "/api/v1/users/{user_id+}/conversations",
        of_user,
        READ,
        "List a user's conversations, newest first, without their messages",
        {200: "ConversationPage"},
        query=("tags", *PAGE),
    ),
]
