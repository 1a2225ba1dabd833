"""Decide where a strategy writes, when a conversation is due, and which model is asked."""

import re
from collections.abc import Sequence

from functions.conversations.model import Conversation
from functions.namespaces.model import PREFIX_MARK, encode_segment

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_PLACEHOLDERS = ("user_id", "session_id", "agent_id")


def check_template(template: str) -> str:
    """Check the template of a namespace.

    Raises:
        ValueError: it names something else than a conversation has, or memory of a fixed agent.
    """
    wrong = [each for each in _PLACEHOLDER.findall(template) if each not in _PLACEHOLDERS]
    rest = _PLACEHOLDER.sub("", template)
    if wrong or "{" in rest or "}" in rest:
        raise ValueError("takes the placeholders {user_id}, {session_id} and {agent_id}")
    if PREFIX_MARK in template:
        raise ValueError("must not contain *, which stands for many namespaces")
    if template.startswith("agents/") and not template.startswith("agents/{agent_id}/"):
        raise ValueError("below agents/, it begins with agents/{agent_id}/")
    return template


def fill_template(template: str, conversation: Conversation) -> str:
    """Fill in a template; ids are encoded, so that no two of them meet."""
    values = {
        "user_id": conversation.user_id,
        "session_id": conversation.session_id,
        "agent_id": find_agent(conversation),
    }
    return _PLACEHOLDER.sub(lambda found: encode_segment(values[found[1]]), template)


def find_agent(conversation: Conversation) -> str:
    """Find the agent of a conversation: its creator, if that is not its user."""
    agents = (conversation.created_by, *conversation.agent_participants)
    return next((each for each in agents if each != conversation.user_id), conversation.user_id)


def choose_model(models: Sequence[str], wanted: str | None) -> str | None:
    """Choose a model of the deployment; None if it has not the wanted one.

    An OpenAI-compatible endpoint has one address and one key, so any of its models may be named.
    Of Bedrock's models, the function may call the configured ones alone.
    """
    if wanted is None:
        return next(iter(models), None)
    named = [each for each in models if wanted in (each, each.partition(":")[2])]
    if named:
        return named[0]
    is_open = any(each.startswith("openai:") for each in models)
    return f"openai:{wanted.removeprefix('openai:')}" if is_open else None
