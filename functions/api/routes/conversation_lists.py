"""Lists of conversations (Agent Memory Protocol §3)."""

from functions.api.documents import (
    PagePosition,
)
from functions.api.http import Request, Response, json_response
from functions.api.paging import PageRequest, build_page, mark_hidden, read_page_request
from functions.api.parameters import CURSOR_PAGE, TAGS, VALUES, BooleanParameter
from functions.api.routes.conversations import (
    CONVERSATIONS,
    ConversationHeadDocument,
    render_conversation,
)
from functions.api.routing import RouteTable
from functions.conversations.model import ListedConversation
from functions.identity.model import READ, Principal
from functions.platform.bounded_pages import BoundedPage


class ConversationPageDocument(PagePosition):
    """A page of conversations."""

    conversations: list[ConversationHeadDocument]


ROUTES = RouteTable()

_ARCHIVED = BooleanParameter(
    "archived",
    "`true` lists archived (expired) conversations, the last expired first, without `metadata`.",
)


@ROUTES.add(
    f"GET {CONVERSATIONS}",
    READ,
    {200: ConversationPageDocument},
    query=(_ARCHIVED, TAGS, VALUES, *CURSOR_PAGE),
)
def list_conversations(request: Request, caller: Principal) -> Response:
    """List the conversations that you may read, the last created first, without their messages.

    Lists conversations of all users. The index is eventually consistent.
    """
    asked, is_archived = read_page_request(request, caller), _ARCHIVED.read(request)
    has_values = VALUES.read(request) is None and not is_archived
    lists, tags = request.services.conversation_lists, TAGS.read(request)
    if is_archived:
        found = lists.list_archived(caller, tags, asked.wanted)
    else:
        found = lists.list_readable(caller, tags, asked.wanted, with_metadata=has_values)
    page, position = _render_page(asked, found, has_values=has_values)
    return json_response(200, ConversationPageDocument(conversations=page, **position))


@ROUTES.add(
    "GET /api/v1/users/{user_id+}/conversations",
    READ,
    {200: ConversationPageDocument},
    query=(TAGS, VALUES, *CURSOR_PAGE),
)
def list_user_conversations(request: Request, caller: Principal) -> Response:
    """List a user's conversations, the last updated first, without their messages."""
    asked, has_values = read_page_request(request, caller), VALUES.read(request) is None
    user_id = request.path_params["user_id"]
    lists = request.services.conversation_lists
    found = lists.list_for_user(
        caller, user_id, TAGS.read(request), asked.wanted, with_metadata=has_values
    )
    page, position = _render_page(asked, found, has_values=has_values)
    position = mark_hidden(position, page, lambda: not lists.can_read_all(caller, user_id))
    return json_response(200, ConversationPageDocument(conversations=page, **position))


def _render_page(
    asked: PageRequest, found: BoundedPage[ListedConversation], *, has_values: bool
) -> tuple[list[ConversationHeadDocument], PagePosition]:
    return build_page(
        asked,
        found,
        lambda each: render_conversation(
            each.load() if has_values else each.head, with_values=has_values
        ),
        lambda each: each.position,
    )
