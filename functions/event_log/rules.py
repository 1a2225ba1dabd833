"""Where an event belongs and what identifies it; pure decisions."""

from hashlib import blake2b

from functions.event_log.model import LogName
from functions.platform.json_text import dumps
from functions.platform.keys import build_id


def event_id(tenant: str, *cause: str | int) -> str:
    """The id of the event with this cause: the same for the same cause, whenever it is asked.

    The cause of an entry's event is its id, version and the event's type.
    """
    return build_id("evt", blake2b(dumps([tenant, *cause]), digest_size=16).digest())


def log_of(*, intent: str | None, agent: str, namespace: str | None) -> LogName:
    """The log of an event: the intent's, if there is one (RFC-0015 §5).

    `namespace` is given for semantic memory, which has no stream of an agent's own.
    """
    if intent is not None:
        return LogName("intent", intent)
    if namespace is not None:
        return LogName("namespace", namespace)
    return LogName("agent", agent)
