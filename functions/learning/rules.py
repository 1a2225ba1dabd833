"""Decide where a strategy writes, when a conversation is due, and which model is asked."""

import re
from collections.abc import Sequence

from functions.conversations.model import Conversation
from functions.learning.model import Position, Strategy, WaitingReason
from functions.namespaces.model import PREFIX_MARK, encode_segment
from functions.platform.sensitivity import ENCRYPTED

_READY_AGAIN = 600_000  # ms; the schedule then makes a position ready again
_FIRST_WAIT, _LONGEST_WAIT = 30_000, 3_600_000  # ms
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_PLACEHOLDERS = ("user_id", "session_id", "agent_id")


def check_template(template: str) -> str:
    """Check the template of a namespace."""
    wrong = [each for each in _PLACEHOLDER.findall(template) if each not in _PLACEHOLDERS]
    rest = _PLACEHOLDER.sub("", template)
    if wrong or "{" in rest or "}" in rest:
        raise ValueError(
            "must have no other placeholders than {user_id}, {session_id} and {agent_id}"
        )
    if PREFIX_MARK in template:
        raise ValueError("must not contain *, which stands for many namespaces")
    if template.startswith("agents/") and not template.startswith("agents/{agent_id}/"):
        raise ValueError("must begin with agents/{agent_id}/ if it is below agents/")
    return template


def fill_template(template: str, conversation: Conversation) -> str:
    """Fill in a template; ids are encoded, so that different ids never give the same name.

    The agent is the conversation's creator or first participant that is not its user.
    """
    user, agents = conversation.user_id, (conversation.created_by, *conversation.agent_participants)
    values = {
        "user_id": user,
        "session_id": conversation.session_id,
        "agent_id": next((each for each in agents if each != user), user),
    }
    return _PLACEHOLDER.sub(lambda found: encode_segment(values[found[1]]), template)


def choose_model(models: Sequence[str], wanted: str | None) -> str | None:
    """Choose a model of the deployment; None if the wanted one is missing.

    An OpenAI-compatible endpoint has one address and one key, so any of its models may be named.
    The function may only call configured models of Bedrock.
    """
    if wanted is None:
        return next(iter(models), None)
    named = [each for each in models if wanted in (each, each.partition(":")[2])]
    if named:
        return named[0]
    is_open = any(each.startswith("openai:") for each in models)
    return f"openai:{wanted.removeprefix('openai:')}" if is_open else None


def may_learn(conversation: Conversation, now: int) -> bool:
    """Tell whether a conversation may be sent to a model."""
    is_open = conversation.sensitivity not in ENCRYPTED and conversation.learn is not False
    return is_open and not conversation.has_expired(now)


def begin(conversation: Conversation, strategy: Strategy) -> Position:
    """Begin to read a conversation for a strategy."""
    return Position(
        conversation.tenant,
        conversation.session_id,
        conversation.user_id,
        strategy.name,
        conversation.generation,
    )


def follow(position: Position, conversation: Conversation) -> Position:
    """Follow a conversation whose messages were replaced: they are read from the beginning."""
    if position.generation == conversation.generation:
        return position
    return position._replace(generation=conversation.generation, read_until=0)


def is_due(position: Position, strategy: Strategy, conversation: Conversation, now: int) -> bool:
    """Tell whether a ready position is to be read.

    The schedule wakes it at the expected end of the idle time, but new messages may have arrived.
    """
    if not position.is_woken or position.reason != "trigger":
        return True
    new = conversation.end - follow(position, conversation).read_until
    is_many = strategy.messages is not None and new >= strategy.messages
    idle_end = find_idle_end(strategy, conversation)
    return is_many or (idle_end is not None and idle_end <= now)


def find_idle_end(strategy: Strategy, conversation: Conversation) -> int | None:
    """Find the end of a conversation's idle time (epoch ms); None: idle time is no trigger."""
    return None if strategy.idle_ms is None else conversation.updated_at + strategy.idle_ms


def schedule(
    position: Position,
    strategy: Strategy,
    conversation: Conversation,
    now: int,
    first: int | None = None,
) -> Position | None:
    """Decide the new position after a change of its conversation; None if it stays.

    A position that is running, or waits for the budget or for another try, stays.

    Args:
        first: the index from which messages are to be read again; None for none.
    """
    after = follow(position, conversation)
    if first is not None:
        after = after._replace(read_until=min(first, after.read_until))
    is_same = after == position
    if is_same and (position.reason not in (None, "trigger") or position.is_ready):
        return None
    new = conversation.end - after.read_until
    if new <= 0:
        return None if position.reason is None else rest(after)
    is_many = strategy.messages is not None and new >= strategy.messages
    if is_many or position.read_until > after.read_until:
        return make_ready(after, now)
    if is_same and position.reason:
        return None
    return wait(after, "trigger", now, find_idle_end(strategy, conversation))


def wait(position: Position, reason: WaitingReason, now: int, due: int | None) -> Position:
    """Let a position wait until it is due (epoch ms); None: until a change makes it ready."""
    since = now if position.reason != reason or position.since is None else position.since
    return _change(position, reason, since, due)


def make_ready(position: Position, now: int) -> Position:
    """Make a position ready; its change in the stream starts the learning function."""
    since = now if position.since is None else position.since
    return _change(position, "trigger", since, now + _READY_AGAIN, is_ready=True)


def wake(position: Position, now: int) -> Position:
    """Make a due position ready."""
    revision, due = position.revision + 1, now + _READY_AGAIN
    return position._replace(is_ready=True, is_woken=True, due=due, revision=revision)


def rest(position: Position) -> Position:
    """Clear the reason and the time of a wait."""
    return _change(position, reason=None, since=None, due=None)


def advance(position: Position, read_until: int) -> Position:
    """Move a position past the messages that were read."""
    return position._replace(
        read_until=read_until, reason=None, since=None, is_ready=False, attempts=0
    )


def compute_backoff(attempts: int) -> int:
    """Compute the wait after a number of failures: 30 s, then twice as long, up to an hour."""
    return int(min(_FIRST_WAIT * 2 ** min(attempts, 16), _LONGEST_WAIT))


def _change(
    position: Position,
    reason: WaitingReason | None,
    since: int | None,
    due: int | None,
    *,
    is_ready: bool = False,
) -> Position:
    return position._replace(
        reason=reason,
        since=since,
        due=due,
        is_ready=is_ready,
        is_woken=False,
        revision=position.revision + 1,
    )
