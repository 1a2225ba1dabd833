"""Values of enumerated fields.

Generated from the service's OpenAPI document; do not edit.
"""

from typing import Literal

MemoryType = Literal["working", "episodic", "semantic"]
Priority = Literal["low", "normal", "high"]
Sensitivity = Literal["public", "internal", "confidential", "restricted"]
EventType = Literal[
    "memory.created",
    "memory.updated",
    "memory.deleted",
    "memory.archived",
    "memory.evicted",
    "memory.expired",
]
TaskStatus = Literal[
    "pending",
    "ready",
    "claimed",
    "running",
    "blocked",
    "completed",
    "failed",
    "cancelled",
    "skipped",
]
PrincipalKind = Literal["agent", "coordinator", "user"]
ActorKind = Literal["agent", "coordinator", "user", "operator", "service"]
Permission = Literal["memory.read", "memory.write", "memory.admin", "memory.inspect"]
GrantAccess = Literal["read", "write"]
NamespaceAccess = Literal["none", "read", "write", "admin"]
RecallSource = Literal["entries", "facts", "messages", "episodes"]
VersionChange = Literal["created", "updated"]
FactChangeKind = Literal["ended", "held_again", "merged", "evidence_added", "weakened", "undone"]
RunStatus = Literal["running", "completed", "failed"]
DeletionKind = Literal["tenant", "agent", "person"]
DeletionStatus = Literal["running", "done"]
ConsolidationStatus = Literal["running", "done", "undoing", "undone"]
ConsolidationReason = Literal[
    "same_spelling", "near_identical", "contradicted", "not_used", "low_confidence"
]
StrategyKind = Literal["facts", "preferences", "summary", "episodes"]
