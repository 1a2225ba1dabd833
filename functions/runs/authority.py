"""Define who changes and deletes runs and episodes (ADR-043). They are open to the whole tenant."""

from typing import Any

from functions.audit.service import AuditTrail
from functions.authorization.model import Action
from functions.authorization.rules import HOLDS_ADMIN, HOLDS_WRITE
from functions.identity.model import Principal
from functions.platform.writes import Write

END_RUN = Action(
    "run.end", (HOLDS_WRITE,), denied="runs are ended with memory.write", is_audited=True
)
"""Audited where another principal has started the run."""
APPEND_EPISODE = Action(
    "run.append", (HOLDS_WRITE,), denied="episodes are appended with memory.write", is_audited=True
)
"""Audited where another principal has started the run."""
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


def record_change(
    audit: AuditTrail, caller: Principal, action: Action[Any], run_id: str, starter: str
) -> list[Write]:
    """Build the record of a change of a run that another principal has started."""
    if starter == caller.id:
        return []
    return [audit.record(caller, action, f"run:{run_id}", {"created_by": starter})]
