"""The commands on conversations."""

from typing import Any

from agent_memory.cli.arguments import add_command, parse_count, parse_text
from agent_memory.cli.columns import select_columns, show
from agent_memory.cli.failures import Failure
from agent_memory.cli.session import Session

_CONVERSATIONS = select_columns("session_id", "user_id", "message_count", "updated_at", "tags")
_MESSAGES = select_columns("timestamp", "role", "content")


def add_commands(commands: Any) -> None:
    """Add the command `conversations`."""
    group = add_command(commands, "conversations", "list, read and append to conversations", None)
    each = group.add_subparsers(dest="conversations_command", required=True, metavar="COMMAND")
    command = add_command(each, "list", "list conversations", list_conversations)
    command.add_argument(
        "--user", metavar="ID", type=parse_text, help="only conversations of this user"
    )
    command = add_command(each, "show", "list the messages of a conversation", show_messages)
    command.add_argument("session_id", metavar="SESSION", type=parse_text)
    command.add_argument("--last", type=parse_count, help="the number of newest messages")
    command = add_command(
        each, "append", "append a message, and create the conversation if there is none", append
    )
    command.add_argument("session_id", metavar="SESSION", type=parse_text)
    command.add_argument("content", metavar="TEXT", type=parse_text)
    command.add_argument(
        "--role", type=parse_text, default="user", help="the role of the author; user by default"
    )
    command.add_argument(
        "--user", metavar="ID", type=parse_text, help="the user of a new conversation"
    )
    command = add_command(each, "rm", "delete a conversation", remove)
    command.add_argument("session_id", metavar="SESSION", type=parse_text)


def list_conversations(session: Session) -> None:
    """`conversations list`: of a user, or all readable ones."""
    found = session.client.conversations.list(session.arguments.user)
    session.output.documents(found, *_CONVERSATIONS)


def show_messages(session: Session) -> None:
    """`conversations show`: its messages, oldest first."""
    given, conversations = session.arguments, session.client.conversations
    if given.last is None:
        session.output.documents(conversations.list_messages(given.session_id), *_MESSAGES)
    else:
        session.output.documents(conversations.get_last(given.session_id, given.last), *_MESSAGES)


def append(session: Session) -> None:
    """`conversations append`: one message; creates the conversation if there is none."""
    given, conversations = session.arguments, session.client.conversations
    message = {"role": given.role, "content": given.content}
    if conversations.get_head(given.session_id) is None:
        user = given.user or session.client.principals.me().id
        show(session, conversations.put(given.session_id, user, [message], revision=0))
    else:
        show(session, conversations.append(given.session_id, [message]))


def remove(session: Session) -> None:
    """`conversations rm`: deletes a conversation with its messages."""
    name = session.arguments.session_id
    if not session.client.conversations.delete(name):
        raise Failure(f"there is no conversation {name}; conversations list shows a user's")
    show(session, {"deleted": name})
