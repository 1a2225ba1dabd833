"""Define who may do what with intents: the actions and their rules."""

from typing import NamedTuple

from functions.authorization.model import Action, Rule
from functions.authorization.rules import HOLDS_ADMIN, INSPECTS
from functions.tasks.model import Intent


class SnapshotTarget(NamedTuple):
    """The values of an agent's snapshots in an intent's log."""

    intent: Intent
    agent: str


_OWNS = Rule[Intent]("owner of the intent", lambda caller, intent: caller.id == intent.owner)
_TAKES_PART = Rule[Intent](
    "takes or took part in the intent", lambda caller, intent: caller.id in intent.participants
)
_IS_LISTED = Rule[Intent](
    "on the intent's access list", lambda caller, intent: caller.id in intent.acl
)
_MAY_CLAIM = Rule[Intent](
    "first coordinator or user to name the intent",
    lambda caller, intent: intent.owner is None and caller.may_coordinate,
)
_USES_UNCLAIMED = Rule[Intent](
    "agent, while the intent has no owner",
    lambda caller, intent: intent.owner is None and caller.kind == "agent",
)

READ_INTENT = Action(
    "intent.read",
    (_OWNS, _TAKES_PART, _IS_LISTED, HOLDS_ADMIN, INSPECTS),
    denied="you have no part in this intent",
)
READ_LOG = Action(
    "intent.read_log", (*READ_INTENT.rules, _USES_UNCLAIMED), denied=READ_INTENT.denied
)
"""The principal that reads the log, but not the intent, reads only the events of its memory."""

READ_SNAPSHOT = Action(
    "intent.read_snapshot",
    (
        Rule[SnapshotTarget](_OWNS.name, lambda caller, of: _OWNS.holds(caller, of.intent)),
        Rule[SnapshotTarget](
            _IS_LISTED.name, lambda caller, of: _IS_LISTED.holds(caller, of.intent)
        ),
        Rule[SnapshotTarget](
            "the agent whose memory it was", lambda caller, of: caller.id == of.agent
        ),
        INSPECTS,
    ),
    denied="a snapshot's values are for the intent's owner, its access list and the agent",
)

USE_INTENT = Action(
    "intent.use",
    (
        _OWNS,
        _TAKES_PART,
        Rule[Intent](
            "write access by the intent's access list",
            lambda caller, intent: intent.acl.get(caller.id) == "write",
        ),
        _MAY_CLAIM,
        _USES_UNCLAIMED,
    ),
    denied="this intent belongs to somebody else; ask its owner for access",
)
SET_ACL = Action(
    "intent.set_acl",
    (
        _OWNS,
        _MAY_CLAIM,
        Rule[Intent](
            "holds memory.admin, and the intent has an owner",
            lambda caller, intent: intent.owner is not None and HOLDS_ADMIN.holds(caller, intent),
        ),
    ),
    denied="only an intent's owner sets its access list; first it needs one",
    is_audited=True,
)
SET_OWNER = Action(
    "intent.set_owner",
    (HOLDS_ADMIN,),
    denied="an intent's owner is set with memory.admin",
    is_audited=True,
)
