"""Define who changes and deletes runs and episodes (ADR-043). They are open to the whole tenant."""

from functions.authorization.rules import HOLDS_ADMIN, HOLDS_WRITE, Action

END_RUN = Action(
    "run.end", (HOLDS_WRITE,), denied="ending runs needs memory.write", is_audited=True
)
"""Audited where another principal has started the run."""
APPEND_EPISODE = Action(
    "run.append", (HOLDS_WRITE,), denied="appending episodes needs memory.write", is_audited=True
)
"""Audited where another principal has started the run."""
DELETE_RUN = Action(
    "run.delete",
    (HOLDS_WRITE, HOLDS_ADMIN),
    denied="deleting runs needs memory.write or memory.admin",
    is_audited=True,
)
"""Audited where another principal has started the run."""
DELETE_EPISODES = Action(
    "episodes.delete",
    (HOLDS_WRITE, HOLDS_ADMIN),
    denied="deleting episodes needs memory.write or memory.admin",
    is_audited=True,
)
"""Audited where another principal has appended one of them."""
