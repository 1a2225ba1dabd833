"""What of the service's OpenAPI document becomes a type of the SDK, and under which name."""

from typing import NamedTuple


class ModelSpec(NamedTuple):
    """A model to generate.

    Attributes:
        schema: the schema's name in the document.
        description: its docstring.
        base: the model that it adds fields to.
        left_out: members of the schema that it doesn't have.
    """

    schema: str
    description: str
    base: str | None = None
    left_out: frozenset[str] = frozenset()


def _spec(schema: str, description: str, base: str | None = None, left_out: str = "") -> ModelSpec:
    return ModelSpec(schema, description, base, frozenset(left_out.split()))


LITERALS = {  # the name of an enumeration, and one place where it stands
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
    "ConsolidationStatus": ("Consolidation", "status"),
    "ConsolidationReason": ("ConsolidationStep", "reason"),
    "StrategyKind": ("Strategy", "kind"),
}

MODULES: dict[str, tuple[str, dict[str, ModelSpec]]] = {
    "access": (
        "Who may do what: principals, permissions, and why.",
        {
            "Principal": _spec("Principal", "Whom a key stands for."),
            "NewPrincipal": _spec(
                "NewPrincipal", "A principal with its key, which is shown this once.", "Principal"
            ),
            "AccessDecision": _spec("AccessDecision", "Whether it is allowed, and by which rule."),
            "AccessExplanation": _spec("Access", "What a principal may do with one thing."),
            "PrincipalAccess": _spec("NamespaceAccess", "The access of one principal."),
            "NamespacePermissions": _spec(
                "NamespacePermissions", "Who may use a namespace, or a space of objects."
            ),
            "Namespace": _spec("Namespace", "A namespace of semantic memory."),
            "Grant": _spec("Grant", "A principal's access to a task's working memory."),
            "AclEntry": _spec("AclEntry", "The access of one principal to an intent."),
            "Acl": _spec("Acl", "Who may use an intent."),
            "Intent": _spec("Intent", "An intent that tasks belong to."),
        },
    ),
    "entries": (
        "Entries of memory (RFC-0015 §1.1).",
        {
            "Entry": _spec("Entry", "A memory entry (RFC-0015 §1.1)."),
            "EntryVersion": _spec("EntryVersion", "A version of an entry."),
            "SearchResult": _spec("SearchResult", "An entry that a search found."),
            "EvictionCandidate": _spec(
                "EvictionCandidate", "An episodic entry that may be evicted.", "Entry"
            ),
        },
    ),
    "tasks": (
        "Tasks (RFC-0012; RFC-0015 §5), and what workflow files make.",
        {
            "MemoryPolicy": _spec("MemoryPolicy", "What holds for a task's working memory."),
            "Task": _spec("Task", "A task (RFC-0012; RFC-0015 §5)."),
            "TaskContext": _spec("Context", "A task's memory, packed for a context window."),
            "AppliedNamespace": _spec("AppliedNamespace", "A namespace that a workflow named."),
            "AppliedEpisodic": _spec("AppliedEpisodic", "What a workflow set for an agent."),
            "AppliedAgent": _spec("AppliedAgent", "An agent that a workflow named."),
            "AppliedTask": _spec("AppliedTask", "A task that a workflow registered."),
            "AppliedWorkflow": _spec("AppliedWorkflow", "What a workflow file set."),
        },
    ),
    "agents": (
        "Agents: what they hold, and what bounds it.",
        {
            "AgentWorking": _spec("AgentWorking", "An agent's working memory outside of tasks."),
            "AgentEpisodic": _spec("AgentEpisodic", "An agent's episodic memory."),
            "Agent": _spec("Agent", "An agent, with what it holds and the room that is left."),
            "EpisodicSettings": _spec("EpisodicSettings", "What bounds episodic memory."),
            "WorkingSettings": _spec(
                "WorkingSettings", "What bounds working memory outside of tasks."
            ),
            "AgentSettings": _spec("AgentSettings", "What bounds an agent's memory."),
            "WorkingSummary": _spec("WorkingSummary", "Working memory in figures."),
            "EpisodicSummary": _spec("EpisodicSummary", "Episodic memory in figures."),
            "MemorySummary": _spec("Summary", "What an agent holds, in figures (RFC-0015 §4)."),
            "Guardrails": _spec("Guardrails", "What bounds a coordinator's tasks; None: nothing."),
            "CoordinatorGuardrails": _spec(
                "CoordinatorGuardrails", "A coordinator's guardrails (RFC-0015 §6.6)."
            ),
        },
    ),
    "logs": (
        "What happened: events, uses of authority, deletions, usage.",
        {
            "Actor": _spec("Actor", "Who did it."),
            "Event": _spec("Event", "An event of a log (RFC-0015 §5.2)."),
            "AuditRecord": _spec("AuditRecord", "A use of authority."),
            "Deletion": _spec("Deletion", "A deletion, and how far it is."),
            "TenantLimits": _spec("Limits", "What a tenant may use; None is no limit."),
            "DayUsage": _spec("DayUsage", "What a tenant used on a day."),
            "TenantUsage": _spec("TenantUsage", "What a tenant used, by day."),
        },
    ),
    "conversations": (
        "What was said, and agents' states (Agent Memory Protocol §3).",
        {
            "ConversationMessage": _spec("Message", "A message of a conversation."),
            "ChangedMessage": _spec(
                "ChangedMessage", "A message after a change.", "ConversationMessage"
            ),
            "AppendedMessages": _spec(
                "Appended", "A conversation after an append.", left_out="messages"
            ),
            "ConversationHead": _spec("ConversationHead", "A conversation without its messages."),
            "Conversation": _spec(
                "Conversation",
                "A conversation with its messages.",
                "ConversationHead",
                "offset next_offset next total",
            ),
            "State": _spec("State", "A value that an agent keeps for an owner."),
            "StateHead": _spec("StateHead", "A state without its value."),
        },
    ),
    "runs": (
        "What agents did, turn by turn.",
        {
            "Run": _spec("Run", "A run of an agent.", left_out="omitted"),
            "Episode": _spec("Episode", "An episode of a run."),
        },
    ),
    "facts": (
        "What agents learned.",
        {
            "Fact": _spec("Fact", "A fact: subject, predicate and object."),
            "RecalledFact": _spec("RecalledFact", "A fact that was recalled.", "Fact"),
            "FactChange": _spec("FactChange", "A change of a fact."),
            "FactPeriod": _spec("FactPeriod", "A fact in a period in which it held.", "Fact"),
        },
    ),
    "consolidation": (
        "Consolidation of facts.",
        {
            "ConsolidationStep": _spec("ConsolidationStep", "What is done with facts."),
            "ConsolidationPreview": _spec("ConsolidationPreview", "What would be done."),
            "StartedConsolidation": _spec(
                "StartedConsolidation", "A consolidation, and how far it is."
            ),
            "ConsolidationRun": _spec(
                "Consolidation", "A consolidation, and what it did.", left_out="limit"
            ),
            "ConsolidationSettings": _spec("ConsolidationSettings", "When and how it is done."),
        },
    ),
    "recall": (
        "What recall finds.",
        {
            "NearbyMessage": _spec("Neighbor", "A message around one that was found."),
            "RecallReference": _spec("RecallReference", "An item that a reference names."),
            "RecallItem": _spec("RecallItem", "An item that recall found.", "RecallReference"),
            "Recall": _spec("Recall", "The items that fit a question best, and their text."),
        },
    ),
    "procedures": (
        "Workflows that are selected by how well they did.",
        {
            "Workflow": _spec("Workflow", "A workflow, and how well it did."),
            "SelectedWorkflow": _spec("SelectedWorkflow", "The workflow to try next.", "Workflow"),
        },
    ),
    "learning": (
        "What is learned from conversations.",
        {
            "Trigger": _spec("Trigger", "When a conversation is read."),
            "Strategy": _spec("Strategy", "What is learned from conversations, and when."),
            "Waiting": _spec("Waiting", "How many conversations wait, by the reason."),
            "LearningBudget": _spec("Budget", "What strategies have used on a day, and may use."),
            "StrategyStatus": _spec("StrategyStatus", "What a strategy has done, and what waits."),
        },
    ),
    "objects": (
        "Objects and their spaces.",
        {
            "ObjectHead": _spec("Object", "An object without its bytes."),
            "Space": _spec("Space", "A space of objects, and who may use it."),
        },
    ),
}

FIELD_SETS = {  # the fields of a body but for those that are arguments of their own
    "ENTRY_FIELDS": ("NewEntryBody", frozenset({"namespace", "key", "value", "agent_id"})),
}
"""Fields that the command line and MCP tools offer, with what the service says of them."""

FIELD_NAMES = {"ENTRY_CHANGES": ("EntryChangeBody", frozenset({"value"}))}
"""Fields of a body, but for those that are arguments of their own, by name alone."""

KEYWORDS = {  # the fields that calls take as keywords
    "EntryFields": (
        "EntryChangeBody",
        "value",
        "Fields of an entry; what isn't given stays as it is.",
    ),
    "MemoryPolicyFields": ("MemoryPolicyBody", "", "What to set of a task's memory policy."),
    "TaskFields": ("NewTaskBody", "intent_id", "Fields of a new task."),
    "TaskChanges": (
        "TaskChangeBody",
        "task_id",
        "Fields of a task; what isn't given stays as it is.",
    ),
    "ConversationFields": (
        "NewConversationBody",
        "session_id user_id messages upload_id",
        "Fields of a conversation.",
    ),
    "LearnedStats": (
        "LearnedStatsBody",
        "",
        "What is known of how well a workflow did; all of it is given.",
    ),
    "LimitChanges": (
        "LimitsBody",
        "",
        "Limits of a tenant to change; None removes one, and what isn't given stays.",
    ),
    "GuardrailChanges": (
        "GuardrailsBody",
        "",
        "Guardrails to change; None takes one away, and what isn't given stays.",
    ),
}
