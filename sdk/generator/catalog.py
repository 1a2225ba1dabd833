"""The schemas of the OpenAPI document that become types of the SDK, with their names."""

from typing import NamedTuple


class ModelSpec(NamedTuple):
    """A model to generate, with the name of its schema in the document.

    Attributes:
        description: its docstring.
        base: the model that it adds fields to.
        left_out: members of the schema that it omits.
    """

    description: str
    base: str | None = None
    left_out: frozenset[str] = frozenset()


def _spec(description: str, base: str | None = None, left_out: str = "") -> ModelSpec:
    return ModelSpec(description, base, frozenset(left_out.split()))


LITERALS = {  # the name of an enumeration, and one place where it is used
    "MemoryType": ("Entry", "memory_type"),
    "Priority": ("Entry", "priority"),
    "Sensitivity": ("Entry", "sensitivity"),
    "EventType": ("Event", "type"),
    "TaskStatus": ("Task", "status"),
    "PrincipalKind": ("Principal", "kind"),
    "ActorKind": ("Actor", "kind"),
    "Permission": ("Principal", "permissions"),
    "GrantAccess": ("Grant", "access"),
    "NamespaceAccess": ("NamespacePermissions", "default"),
    "RecallSource": ("RecallReference", "source"),
    "VersionChange": ("EntryVersion", "change"),
    "FactChangeKind": ("FactChange", "change"),
    "RunStatus": ("Run", "status"),
    "DeletionKind": ("Deletion", "kind"),
    "DeletionStatus": ("Deletion", "status"),
    "ConsolidationStatus": ("ConsolidationRun", "status"),
    "ConsolidationReason": ("ConsolidationStep", "reason"),
    "StrategyKind": ("Strategy", "kind"),
}

MODULES: dict[str, tuple[str, dict[str, ModelSpec]]] = {
    "access": (
        "Principals, their permissions, and explanations of access.",
        {
            "Principal": _spec("The owner of an API key."),
            "NewPrincipal": _spec(
                "A principal with its key, which is returned only once.",
                "Principal",
            ),
            "AccessDecision": _spec("A decision about access, and the rule that made it."),
            "AccessExplanation": _spec(
                "The access of a principal to one resource, with the rules."
            ),
            "PrincipalAccess": _spec("The access of one principal."),
            "NamespacePermissions": _spec(
                "The permissions of a namespace, or of a space of objects."
            ),
            "Namespace": _spec("A namespace of semantic memory."),
            "Grant": _spec("A principal's access to a task's working memory."),
            "AclEntry": _spec("The access of one principal to an intent."),
            "Acl": _spec("The access list of an intent."),
            "Intent": _spec("An intent that tasks belong to."),
        },
    ),
    "entries": (
        "Entries of memory (RFC-0015 §1.1).",
        {
            "Entry": _spec("A memory entry (RFC-0015 §1.1)."),
            "EntryVersion": _spec("A version of an entry."),
            "SearchResult": _spec("An entry that a search found."),
            "EvictionCandidate": _spec("An episodic entry that may be evicted.", "Entry"),
        },
    ),
    "tasks": (
        "Tasks (RFC-0012; RFC-0015 §5), and results of workflow files.",
        {
            "MemoryPolicy": _spec("The limits and rules of a task's working memory."),
            "Task": _spec("A task (RFC-0012; RFC-0015 §5)."),
            "TaskContext": _spec("A task's memory, packed for a context window."),
            "AppliedNamespace": _spec("A namespace that a workflow named."),
            "AppliedEpisodic": _spec("Episodic settings that a workflow set for an agent."),
            "AppliedAgent": _spec("An agent that a workflow named."),
            "AppliedTask": _spec("A task that a workflow registered."),
            "AppliedWorkflow": _spec("The result of applying a workflow file."),
        },
    ),
    "agents": (
        "Agents: their memory and its limits.",
        {
            "AgentWorking": _spec("An agent's working memory outside tasks."),
            "AgentEpisodic": _spec("An agent's episodic memory."),
            "Agent": _spec("An agent, with the use and the limits of its memory."),
            "EpisodicSettings": _spec("The limits of episodic memory."),
            "WorkingSettings": _spec("The limits of working memory outside tasks."),
            "AgentSettings": _spec("The limits of an agent's memory."),
            "WorkingSummary": _spec("Working memory in figures."),
            "EpisodicSummary": _spec("Episodic memory in figures."),
            "MemorySummary": _spec("An agent's memory in figures (RFC-0015 §4)."),
            "Guardrails": _spec("Limits of a coordinator's tasks; None: no limit."),
            "CoordinatorGuardrails": _spec("A coordinator's guardrails (RFC-0015 §6.6)."),
        },
    ),
    "logs": (
        "Records: events, uses of authority, deletions, usage.",
        {
            "Actor": _spec("The author of a change."),
            "Event": _spec("An event of a log (RFC-0015 §5.2)."),
            "AuditRecord": _spec("A use of authority."),
            "Deletion": _spec("A deletion and its progress."),
            "TenantLimits": _spec("The limits of a tenant; None: no limit."),
            "DayUsage": _spec("The usage of a tenant on one day."),
            "TenantUsage": _spec("The usage of a tenant, by day."),
        },
    ),
    "conversations": (
        "Conversations and agents' states (Agent Memory Protocol §3).",
        {
            "ConversationMessage": _spec("A message of a conversation."),
            "ChangedMessage": _spec("A message after a change.", "ConversationMessage"),
            "AppendedMessages": _spec("A conversation after an append.", left_out="messages"),
            "ConversationHead": _spec("A conversation without its messages."),
            "Conversation": _spec(
                "A conversation with its messages.",
                "ConversationHead",
                "offset next_offset next total",
            ),
            "State": _spec("A value that an agent keeps for an owner."),
            "StateHead": _spec("A state without its value."),
        },
    ),
    "runs": (
        "Runs of agents and their episodes.",
        {
            "Run": _spec("A run of an agent.", left_out="omitted"),
            "Episode": _spec("An episode of a run."),
        },
    ),
    "facts": (
        "Facts that agents learned.",
        {
            "Fact": _spec("A fact: subject, predicate and object."),
            "RecalledFact": _spec("A fact that was recalled.", "Fact"),
            "FactChange": _spec("A change of a fact."),
            "FactPeriod": _spec("A fact in a period in which it held.", "Fact"),
        },
    ),
    "consolidation": (
        "Consolidation of facts.",
        {
            "ConsolidationStep": _spec("A change of facts by a consolidation."),
            "ConsolidationPreview": _spec("The changes that a consolidation would make."),
            "StartedConsolidation": _spec("A consolidation and its progress."),
            "ConsolidationRun": _spec("A consolidation and its changes.", left_out="limit"),
            "ConsolidationSettings": _spec("The settings of consolidation."),
        },
    ),
    "recall": (
        "Results of recall.",
        {
            "NearbyMessage": _spec("A message around one that was found."),
            "RecallReference": _spec("An item that a reference names."),
            "RecallItem": _spec("An item that recall found.", "RecallReference"),
            "Recall": _spec("The items that fit a question best, and their text."),
        },
    ),
    "procedures": (
        "Workflows that are selected by their results.",
        {
            "Workflow": _spec("A workflow and its results."),
            "SelectedWorkflow": _spec("The workflow to try next.", "Workflow"),
        },
    ),
    "learning": (
        "Strategies that learn from conversations.",
        {
            "Trigger": _spec("The conditions that start the learning from a conversation."),
            "Strategy": _spec("A strategy that learns from conversations."),
            "Waiting": _spec("The number of waiting conversations, by reason."),
            "LearningBudget": _spec("The daily budget of strategies, and its use."),
            "StrategyStatus": _spec("The progress of a strategy."),
        },
    ),
    "objects": (
        "Objects and their spaces.",
        {
            "ObjectHead": _spec("An object without its bytes."),
            "Space": _spec("A space of objects with its permissions."),
        },
    ),
}

FIELD_SETS = {  # the fields of a body, except those that are separate arguments
    "ENTRY_FIELDS": ("NewEntryBody", frozenset({"namespace", "key", "value", "agent_id"})),
}
"""Fields of the command line and MCP tools, with the service's descriptions."""

FIELD_NAMES = {"ENTRY_CHANGES": ("EntryChangeBody", frozenset({"value"}))}
"""Names of a body's fields, except those that are separate arguments."""

KEYWORDS = {  # the fields that calls take as keywords
    "EntryFields": (
        "EntryChangeBody",
        "value",
        "Fields of an entry; the others stay unchanged.",
    ),
    "MemoryPolicyFields": ("MemoryPolicyBody", "", "Fields of a task's memory policy."),
    "TaskFields": ("NewTaskBody", "intent_id", "Fields of a new task."),
    "TaskChanges": (
        "TaskChangeBody",
        "task_id",
        "Fields of a task; the others stay unchanged.",
    ),
    "ConversationFields": (
        "NewConversationBody",
        "session_id user_id messages upload_id",
        "Fields of a conversation.",
    ),
    "LearnedStats": (
        "LearnedStatsBody",
        "",
        "The measured results of a workflow; all fields are required.",
    ),
    "LimitChanges": (
        "LimitsBody",
        "",
        "Limits of a tenant to change; None removes one, and the others stay.",
    ),
    "GuardrailChanges": (
        "GuardrailsBody",
        "",
        "Guardrails to change; None removes one, and the others stay.",
    ),
}
