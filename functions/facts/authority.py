"""Define who deletes facts and declares predicates (ADR-043); the whole tenant reads them."""

from functions.authorization.rules import HOLDS_ADMIN, HOLDS_WRITE, Action

DELETE_FACT = Action(
    "fact.delete",
    (HOLDS_WRITE, HOLDS_ADMIN),
    denied="facts are deleted with memory.write or memory.admin",
    is_audited=True,
)
"""Audited where another principal has learned the fact."""
CHANGE_FACT = Action(
    "fact.change", (HOLDS_WRITE,), denied="facts are learned with memory.write", is_audited=True
)
"""Learn again, or end, a fact that another principal has learned."""
DECLARE_PREDICATE = Action(
    "predicate.declare",
    (HOLDS_ADMIN,),
    denied="predicates are declared with memory.admin",
    is_audited=True,
)
