"""Who deletes runs and episodes (ADR-043). They are open to the whole tenant."""

from functions.authorization.model import Action
from functions.authorization.rules import HOLDS_ADMIN, HOLDS_WRITE

DELETE_RUN = Action(
    "run.delete",
    (HOLDS_WRITE, HOLDS_ADMIN),
    denied="runs are deleted with memory.write or memory.admin",
    is_audited=True,
)
"""Audited where another principal has started the run."""
DELETE_EPISODES = Action(
    "episodes.delete",
    (HOLDS_WRITE, HOLDS_ADMIN),
    denied="episodes are deleted with memory.write or memory.admin",
    is_audited=True,
)
"""Audited where another principal has appended one of them."""
