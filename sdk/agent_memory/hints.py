"""Hints for names of other memory libraries, such as mem0's `add`."""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import NoReturn, ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")

SAY = (
    'write say(session_id, user="Hello", assistant="Hi"), or, for a list of messages, '
    "client.conversations.extend(session_id, messages, user_id)"
)
REMEMBER = (
    'write remember("Pays by invoice", tags=["billing"]), or remember a dict that has your metadata'
)
FORGET = "write forget(reference), or client.for_user(user_id).forget() for all about a user"
_ASK = "recall(query)"
_HINTS = {
    "Client": {
        "add": "remember(text), or say(session_id, user=..., assistant=...) for messages",
        "search": "recall(query), or client.memory.search(query) for entries alone",
        "get": "client.memory.get(namespace, key)",
        "get_all": "client.memory.query()",
        "update": "client.memory.update(namespace, key, fn)",
        "delete": "forget(reference), with a reference of a recall",
        "delete_all": "client.for_user(user_id).forget()",
        "history": "client.memory.history(namespace, key)",
        "users": "for_user(user_id)",
        "user": "for_user(user_id)",
        "instances": "working_values",
    },
    "Memory": {
        "add": "remember(text), or client.say(session_id, user=..., assistant=...) for messages",
        "get_all": "query()",
        "delete_all": "delete_batch(...)",
        "recall": "client.recall(query)",
        "forget": "client.forget(reference)",
    },
    "UserMemory": {
        "add": "remember(text), or say(session_id, user=..., assistant=...) for messages",
        "get_all": "query()",
        "delete_all": "forget()",
        "history": "client.memory.history(namespace, key)",
    },
    "agent_memory": dict.fromkeys(
        ("Memory", "MemoryClient", "AsyncMemory", "AsyncMemoryClient"),
        "Client or AsyncClient, with remember, say, recall, and forget",
    ),
}


def refuse_name(owner: str, name: str) -> NoReturn:
    """Raise the error for an unknown name, with a hint what to use if there is one.

    Raises:
        AttributeError: always, except for the next case.
        ImportError: another library has the name; `from ... import` shows no other error.
    """
    hint = _HINTS.get(owner.removeprefix("Async"), {}).get(name)
    if hint and owner == "agent_memory":
        raise ImportError(f"{owner} has no {name}; use {hint}", name=owner)
    instead = "" if hint is None else f"; use {hint}"
    raise AttributeError(f"{owner!r} has no attribute {name!r}{instead}", name=name)


def explain_call(
    hint: str,
) -> Callable[[Callable[Parameters, Returned]], Callable[Parameters, Returned]]:
    """Explain wrong arguments of a function."""

    def decorate(function: Callable[Parameters, Returned]) -> Callable[Parameters, Returned]:
        expected = signature(function)

        @wraps(function)
        def call(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Returned:
            try:
                expected.bind(*args, **kwargs)
            except TypeError as error:
                raise TypeError(f"{function.__name__}: {error}; {hint}") from None
            return function(*args, **kwargs)

        return call

    return decorate
