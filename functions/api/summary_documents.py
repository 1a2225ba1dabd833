"""How figures look to callers (RFC-0015 "Agent Memory Summary")."""

from functions.api.documents import Document, moment
from functions.entries.summary import Summary


def summary_document(summary: Summary) -> Document:
    """An agent's memory in figures (RFC-0015 "Agent Memory Summary")."""
    return {
        "agent_id": summary.agent,
        "working": {
            "entry_count": summary.working,
            "total_size_kb": summary.working_kb,
            "tasks_with_memory": summary.tasks,
        },
        "episodic": {
            "entry_count": summary.episodic,
            "capacity": summary.capacity,
            "pinned_count": summary.pinned,
            "total_size_kb": summary.episodic_kb,
            "oldest_entry": moment(summary.oldest),
            "newest_entry": moment(summary.newest),
        },
        "semantic_namespaces_accessible": summary.namespaces,
    }
