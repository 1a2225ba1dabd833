"""Answers that a command reads itself."""

from typing import Any

import httpx

from agent_memory.exceptions import InvalidAnswerError


def answered(answer: httpx.Response, *names: str) -> dict[str, Any]:
    """The object of an answer, which has at least these members.

    Raises:
        InvalidAnswerError: the answer is something else.
    """
    document = answer.json() if answer.content else None
    if not isinstance(document, dict) or not document.keys() >= set(names):
        raise InvalidAnswerError(
            "what answered isn't the memory service; check the URL, and proxies on the way",
            status=answer.status_code,
        )
    return document
