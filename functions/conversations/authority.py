"""Define who may do what with conversations and agents' states (Agent Memory Protocol §3, §6).

A conversation belongs to its user and its participants, not to its creator. A state belongs to the
agent under whose id it is, or to all principals of the agent type of that name.
"""

from functions.authorization.rules import HOLDS_ADMIN, INSPECTS, Action, Rule
from functions.conversations.model import Conversation, StateAddress

_IS_USER = Rule[Conversation](
    "user of the conversation", lambda caller, target: caller.id == target.user_id
)
_PARTICIPATES = Rule[Conversation](
    "participant of the conversation", lambda caller, target: caller.id in target.agent_participants
)
_IS_SHARED = Rule[Conversation](
    "the conversation is shared with them", lambda caller, target: caller.id in target.shared_with
)

READ_CONVERSATION = Action(
    "conversation.read",
    (_IS_USER, _PARTICIPATES, _IS_SHARED, INSPECTS),
    denied="this conversation is neither yours nor shared with you: ask its user or a participant",
)
CHANGE_CONVERSATION = Action(
    "conversation.change",
    (_IS_USER, _PARTICIPATES),
    denied="only its user and its participants may change a conversation: use another session_id,"
    " or let one of them add you to agent_participants",
)
DELETE_CONVERSATION = Action(
    "conversation.delete",
    (_IS_USER, _PARTICIPATES, HOLDS_ADMIN),
    denied="only its user, its participants and memory.admin may delete a conversation",
    is_audited=True,
)
"""Audited where another principal has made it."""
REPLACE_CONVERSATION = Action(
    "conversation.replace", CHANGE_CONVERSATION.rules, CHANGE_CONVERSATION.denied, is_audited=True
)
"""Audited where another principal has made it."""
CHANGE_MESSAGE = Action(
    "message.change", CHANGE_CONVERSATION.rules, CHANGE_CONVERSATION.denied, is_audited=True
)
"""Audited where another principal is the author."""
DELETE_MESSAGE = Action(
    "message.delete", CHANGE_CONVERSATION.rules, CHANGE_CONVERSATION.denied, is_audited=True
)
"""Audited where another principal is the author."""
USE_UPLOAD = Action(
    "conversation.upload",
    (
        Rule[Conversation](
            "began the upload", lambda caller, upload: caller.id == upload.created_by
        ),
    ),
    denied="another principal began this upload; begin your own",
)

_IS_AGENT = Rule[StateAddress](
    "agent of the state", lambda caller, address: caller.id == address.agent_id
)
_HAS_TYPE = Rule[StateAddress](
    "of the agent type of the state", lambda caller, address: caller.agent_type == address.agent_id
)
_IS_OWNER = Rule[StateAddress](
    "owner of the state", lambda caller, address: caller.id == address.owner_id
)

READ_STATE = Action(
    "state.read",
    (_IS_AGENT, _HAS_TYPE, _IS_OWNER, INSPECTS),
    denied="only its agent, the agents of its type and its owner may read a state",
)
CHANGE_STATE = Action(
    "state.change",
    (_IS_AGENT, _HAS_TYPE),
    denied="only its agent and the agents of its type may write a state",
    is_audited=True,
)
"""Audited where another principal has made it."""
DELETE_STATE = Action(
    "state.delete",
    (_IS_AGENT, _HAS_TYPE, HOLDS_ADMIN),
    denied="only its agent, the agents of its type and memory.admin may delete a state",
    is_audited=True,
)
"""Audited where another principal has made it."""
