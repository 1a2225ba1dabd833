"""With a body: conversations put, messages appended."""

from urllib.parse import quote

from functions.api.call import Answer, Call
from functions.api.conversation_documents import conversation_document, message_document
from functions.api.parsing import parsed
from functions.api.route import Route
from functions.api.routes.conversations.without_bodies import CONVERSATION, CONVERSATIONS, answer
from functions.conversations.requests import NewConversation, NewMessages
from functions.identity.model import WRITE, Principal
from functions.platform.limits import MAX_NAME_CHARACTERS


def put(call: Call, caller: Principal) -> Answer:
    new, session = parsed(call, NewConversation), call.name("session_id", MAX_NAME_CHARACTERS)
    made, first = call.services.conversations.put(caller, session, new, call.if_match)
    located = {"location": _address(session)} if first else {}
    return answer(201 if first else 200, made, conversation_document(made), **located)


def append(call: Call, caller: Principal) -> Answer:
    new, session = parsed(call, NewMessages), call.names["session_id"]
    token = None if call.idempotency_key is None else call.token(caller)
    after, added = call.services.conversations.append(caller, session, new.all, token)
    document = {
        "session_id": after.session,
        "revision": after.revision,
        "message_count": after.count,
        "messages": [message_document(message) for message in added],
    }
    return answer(201, after, document, location=_address(session))


def _address(session: str) -> str:
    return f"{CONVERSATIONS}/{quote(session, safe='')}"


ROUTES = [
    Route(
        "POST",
        f"{CONVERSATION}/messages",
        append,
        WRITE,
        "Append messages to a conversation",
        {201: "Appended"},
        body=NewMessages,
        also=(404, 409, 413),
        once=True,
    ),
    Route(
        "PUT",
        CONVERSATION,
        put,
        WRITE,
        "Store a whole conversation, in place of the one before it",
        {200: "ConversationHead", 201: "ConversationHead"},
        body=NewConversation,
        also=(404, 409, 413),
        if_match="optional",
    ),
]
