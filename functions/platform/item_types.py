"""Register every type of item: its key, package, purpose, lifetime and indexes.

Only these types build and recognize keys. Names in a key are hashes (`functions.platform.keys`), so
no separator in a name can make two names equal. Each partition begins with the tenant's name, whose
alphabet has no `#`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import chain, takewhile
from typing import Literal

from functions.platform import schema
from functions.platform.keys import Digest, Key, hash_name


@dataclass(frozen=True, eq=False)
class ItemType:
    """A type of item.

    Attributes:
        package: the domain package that reads and writes it.
        name: unique among all types.
        partition: the template of the partition key. `{task:task}` is the name `task`, hashed as
            the id of a task; `{index:012d}` is a number; `{event}` is a time, an id or a hash.
        sort: the template of the sort key.
        lifetime: when an item is deleted; `{NAME}` is the limit of this name.
        indexes: the indexes that list it.
        listed: the partitions' templates in further indexes that list it, smaller partitions first.
        sealed: the attributes that the seal of its items covers (`functions.platform.macs`).
    """

    package: str
    name: str
    partition: str
    sort: str
    purpose: str
    lifetime: str = "until deleted"
    indexes: tuple[str, ...] = ()
    listed: Mapping[str, str] = field(default_factory=dict)
    table: Literal["memory", "log"] = "memory"
    sealed: tuple[str, ...] = ()

    @cached_property
    def sort_prefix(self) -> str:
        """Return the common prefix of the type's sort keys; without braces, the whole key."""
        return self.sort.partition("{")[0]

    def build_key(self, tenant: str = "", /, **names: str | int) -> Key:
        """Build the key of an item from the names in braces."""
        values = {"tenant": tenant, **names}
        return _fill(self.partition, values), _fill(self.sort, values)

    def build_key_in(self, partition: str, /, **names: str | int) -> Key:
        """Build the key of an item in a known partition."""
        return partition, _fill(self.sort, names)

    def build_partition(self, tenant: str = "", /, **names: str | int) -> str:
        return _fill(self.partition, {"tenant": tenant, **names})

    def build_index_attributes(self, tenant: str, /, **names: str | None) -> dict[str, str]:
        """Build the attributes of the indexes whose names are all given."""
        given = {name: each for name, each in names.items() if each is not None}
        given["tenant"] = tenant
        return {
            schema.INDEX_KEYS[index][0]: _fill(template, given)
            for index, template in self.listed.items()
            if given.keys() >= set(_FIELD.findall(template))
        }

    def choose_index(self, tenant: str, /, **names: str | None) -> tuple[str, str]:
        """Choose the first index by these names, and build its partition."""
        attribute, partition = next(iter(self.build_index_attributes(tenant, **names).items()))
        indexes = (each for each in self.listed if schema.INDEX_KEYS[each][0] == attribute)
        return next(indexes), partition

    def build_index_partition(self, index: str, tenant: str, /, **names: str | int) -> str:
        """Build the partition of an index that lists items with these names."""
        return _fill(self.listed[index], {"tenant": tenant, **names})

    def build_group(self, tenant: str, /, **names: str | int) -> str:
        """Build the partition of `by_group` that lists items with these names; else their own."""
        template = self.listed.get(schema.BY_GROUP, self.partition)
        return _fill(template, {"tenant": tenant, **names})

    def build_sort(self, **names: str | int) -> str:
        return _fill(self.sort, names)

    def build_range(self, tenant: str = "", /, **names: str | int) -> tuple[str, str]:
        """Build the partition, and the prefix of the sort keys with these names."""
        return self.build_partition(tenant, **names), self.build_sort_prefix(**names)

    def build_sort_prefix(self, **names: str | int) -> str:
        """Build the prefix of the sort keys with these names."""
        given = re.split(r"(?<=#)(?=\{)", self.sort)  # "h#{agent}#{task}": "h#", "{agent}#", …
        known = takewhile(lambda part: names.keys() >= set(_FIELD.findall(part)), given)
        return _fill("".join(known), names)

    def parse(self, sort: str) -> str:
        """Parse the parts of a sort key that are in braces in the template."""
        return sort.removeprefix(self.sort_prefix)

    def has_sort(self, sort: str) -> bool:
        """Tell whether a sort key, in one of the type's partitions, is of this type."""
        return sort.startswith(self.sort_prefix) if "{" in self.sort else sort == self.sort


def _fill(template: str, names: Mapping[str, str | int]) -> str:
    plain, kinds = _find_kinds(template)
    hashed = {
        name: hash_name(kind, str(names[name]))
        for name, kind in kinds.items()
        if type(names[name]) is not Digest
    }
    return plain.format_map({**names, **hashed})


@cache
def _find_kinds(template: str) -> tuple[str, dict[str, str]]:
    """Split a template into the template without kinds, and the kinds of hashed names.

    Example: `t#{task:task}` becomes `t#{task}` and `{"task": "task"}`.
    """
    return _HASHED.sub(r"{\1}", template), dict(_HASHED.findall(template))


_AGENT, _NAMESPACE = "{tenant}#a#{agent:agent}", "{tenant}#n#{namespace:namespace}"
_TASK, _INTENT = "{tenant}#t#{task:task}", "{tenant}#i#{intent:intent}"
_COORDINATOR = "{tenant}#c#{agent:agent}"
_CONVERSATION, _RUN = "{tenant}#v#{session:session}", "{tenant}#r#{seed}"
_PROCEDURE = "{tenant}#b#{agent_type:agent_type}#{task_type:task_type}"
_MEMORY, _SPACE = "{tenant}#o#{memory}", "{tenant}#x#{space:object_space}"
_LOG = "the partition of its agent, namespace or intent"
_ITS_ITEM = "the partition of its item"
_NAME = re.compile(r"\{[^}]*\}")
_FIELD = re.compile(r"\{(\w+)")
_HASHED = re.compile(r"\{(\w+):([a-z]\w*)\}")
_EXPIRING = "until deleted or expired"
_VECTOR_INDEX = "the vector index"


# A table: package, name, partition, sort key and purpose of each type, then lifetime and indexes.
# fmt: off

# identity
TENANT = ItemType("identity", "tenant", "{tenant}#p", "tenant", "A tenant exists")
_IDENTITY = ("tenant", "id", "kind", "permissions", "agent_type", "expires_at", "created_at")
PRINCIPAL = ItemType("identity", "principal", "{tenant}#p", "p#{principal:principal}",
    "A principal's kind and permissions", sealed=(*_IDENTITY, "key_partition"),
    indexes=(schema.BY_GROUP,))
REVOKED_PRINCIPAL = ItemType("identity", "revoked principal", "{tenant}#p",
    "r#{principal:principal}", "A revoked principal had this id")
PERSON = ItemType("identity", "person", "{tenant}#persons", "n#{person:principal}",
    "A person that items name or named")
STATE_OWNER = ItemType("identity", "state owner", "{tenant}#persons",
    "w#{person:principal}#{agent:agent}", "An agent has or had states for an owner")
API_KEY = ItemType("identity", "API key", "~key#{sha256}", "k", "The principal of a key",
    "until revoked", sealed=_IDENTITY)

# platform
DEPLOYMENT_SECRET = ItemType("platform", "deployment secret", "~deployment", "secret",
    "The deployment's secret, encrypted")
DATA_VERSION = 1
"""The latest version of the data that this release reads (docs/how-to/upgrade.md)."""

# deletions
_PROGRESS = (
    *("tenant", "kind", "name", "requested_by", "requested_at", "dry_run"),
    *("stage", "after", "pass_began_at", "found", "passes", "finished_at", "revision"),
)
DELETION = ItemType("deletions", "deletion", "~deletions", "deletion#{subject}",
    "The deletion of a tenant, an agent or a person: its progress, and a bar against new writes",
    "tenants: for ever; others: {DELETION_RETENTION_DAYS}", (schema.BY_DUE,), sealed=_PROGRESS)
DELETION_PREVIEW = ItemType("deletions", "preview of a deletion", "~deletions", "preview#{subject}",
    "The items that a deletion would remove", "{DELETION_PREVIEW_DAYS}", (schema.BY_DUE,),
    sealed=_PROGRESS)

# audit
AUDIT_RECORD = ItemType("audit", "audit record", "{tenant}#audit", "r#{position}",
    "A use of authority", "as long as logs")

# tasks, namespaces, workflows
NAMESPACE = ItemType("namespaces", "namespace", "{tenant}#ns", "n#{namespace:namespace}",
    "A namespace's permissions", indexes=(schema.BY_CREATION, schema.BY_GROUP))
PREFIX_RULE = ItemType("namespaces", "prefix rule", "{tenant}#ns", "r#{namespace:namespace}",
    "The permissions of all names with a prefix", indexes=(schema.BY_GROUP,))
TASK = ItemType("tasks", "task", _TASK, "t", "A task: its roles, its policy and its counters",
    indexes=(schema.BY_DUE,))
GRANT = ItemType("tasks", "grant", _TASK, "g#{principal:agent}",
    "A principal's access to a task's working memory", "until revoked or expired",
    indexes=(schema.BY_GROUP,))
INHERITING_TASK = ItemType("tasks", "inheriting sub-task", _TASK, "h#{agent:agent}#{sub_task:task}",
    "An open sub-task of an agent reads a task's working memory", "until the sub-task ends")
FORMER_MEMBER = ItemType("tasks", "former member", _TASK, "f#{role}#{principal:agent}",
    "A principal was a task's assignee or coordinator")
INTENT = ItemType("tasks", "intent", _INTENT, "i", "An intent's owner and access list")
PARTICIPANT = ItemType("tasks", "participant of an intent", _INTENT, "part#{principal:agent}",
    "A principal takes or took part")
LISTED_INTENT = ItemType("tasks", "listed intent", "{tenant}#il", "i#{intent:intent}",
    "Lists an intent under its tenant", indexes=(schema.BY_GROUP,))
INTENT_TASK = ItemType("tasks", "task of an intent", _INTENT, "t#{task:task}", "Lists a task",
    indexes=(schema.BY_GROUP,))
ASSIGNMENT = ItemType("tasks", "assignment", _AGENT, "t#{coordinator:agent}#{task:task}",
    "An open task is assigned to an agent", "until it ends or is handed over",
    indexes=(schema.BY_GROUP,))
HELD_TASK = ItemType("tasks", "task with memory of an agent", _AGENT, "u#{task:task}",
    "An agent that isn't the assignee has memory in a task",
    "until the task's memory is archived")
OWN_TASKS = ItemType("tasks", "own tasks", _AGENT, "own",
    "The number of an agent's open tasks without a coordinator")
GUARDRAILS = ItemType("tasks", "guardrails", _COORDINATOR, "g", "A coordinator's guardrails",
    indexes=(schema.BY_DUE,))
COORDINATED_TASK = ItemType("tasks", "task of a coordinator", _COORDINATOR, "t#{task}",
    "Lists an open task under its coordinator", "until it ends")
WORKFLOW = ItemType("workflows", "workflow", "{tenant}#w#{workflow:namespace}", "w",
    "A workflow's seed and last file")
PROCESSED_EVENT = ItemType("tasks", "processed task event",
    "{tenant}#e#{source:source}#{event:event}", "e", "An external event was processed",
    "{PROCESSED_EVENT_LIFETIME}")

# entries
PRIVATE_ENTRY = ItemType("entries", "entry", _AGENT, "e#{group}#{key}",
    "An entry of working or episodic memory", _EXPIRING,
    (schema.BY_TASK, schema.BY_CREATION, schema.BY_EXPIRY, schema.BY_EVICTION, schema.BY_DUE))
SEMANTIC_ENTRY = ItemType("entries", "semantic entry", _NAMESPACE, "e#{group}#{key}",
    "An entry of semantic memory", _EXPIRING,
    (schema.BY_TASK, schema.BY_EXPIRY, schema.BY_DUE), {schema.BY_TENANT: "{tenant}#n"})
ENTRY_VERSION = ItemType("entries", "entry version", "{tenant}#h#{owner}",
    "v#{entry}#{superseded}#{version:010d}", "An earlier version of an entry",
    "as its entry; as long as its namespace or agent keeps history")
INDEX_ROW = ItemType("entries", "index row", _NAMESPACE, "x#{tag:tag}#{sort_token}",
    "Lists a semantic entry under a tag, or under all", "as its entry")
PRIVATE_TOMBSTONE = ItemType("entries", "tombstone", _AGENT, "z#{entry_id}",
    "The reason and the actor of an entry's removal", "{TOMBSTONE_LIFETIME}")
SEMANTIC_TOMBSTONE = ItemType("entries", "semantic tombstone", _NAMESPACE, "z#{entry_id}",
    "As a tombstone", "{TOMBSTONE_LIFETIME}")
AGENT = ItemType("entries", "agent", _AGENT, "a", "An agent's counters and settings",
    indexes=(schema.BY_DUE,))
SNAPSHOT_PART = ItemType("entries", "snapshot part", _TASK, "s#{agent:agent}#{nonce}",
    "Archived entries of a task, until its log has them", "until the archive event is in the log")
ANNOUNCEMENT = ItemType("entries", "archival announcement", _TASK, "m#{event}",
    "Tells the stream that a task was archived", "{TOMBSTONE_LIFETIME}")

# search
AGENT_VECTOR = ItemType("search", "vector of a private entry", "{tenant}#va#{agent:agent}",
    "v#{ref}", "An entry's embedding", "as its entry", (schema.BY_AGE, _VECTOR_INDEX))
NAMESPACE_VECTOR = ItemType("search", "vector of a semantic entry",
    "{tenant}#vn#{namespace:namespace}", "v#{ref}", "An entry's embedding", "as its entry",
    (schema.BY_AGE, _VECTOR_INDEX))
CLIENT_VECTOR = ItemType("search", "vector of the client's", "{tenant}#vc#{owner}#{namespace}",
    "v#{time:015d}#{ref}",
    "A client's vector of an entry, in order of time",
    "as its entry")
CLIENT_VECTOR_LENGTH = ItemType("search", "length of the client's vectors",
    "{tenant}#vc#{owner}#{namespace}", "n", "The dimensions of a namespace's vectors")
FACT = ItemType("facts", "fact", "{tenant}#vf", "v#{fact:fact}", "A fact and its embedding",
    indexes=(schema.BY_AGE, _VECTOR_INDEX),
    listed={schema.BY_GROUP: "{tenant}#f#{subject:subject}",
        schema.BY_TYPE: "{tenant}#f#{agent_type:agent_type}", schema.BY_TENANT: "{tenant}#f"})
FACT_CHAIN = ItemType("facts", "fact chain", "{tenant}#fc#{chain:chain}", "chain",
    "The present facts of one subject, predicate and user")
SINGLE_VALUED = ItemType("facts", "single-valued predicates", "{tenant}#fp", "single-valued",
    "The predicates that have one value at a time")
CONSOLIDATION = ItemType("consolidation", "consolidation", "{tenant}#fm", "settings",
    "The settings of a tenant's consolidations", indexes=(schema.BY_DUE,))
CONSOLIDATION_RUN = ItemType("consolidation", "consolidation run", "{tenant}#fm", "run#{run}",
    "A consolidation and its progress", "{CONSOLIDATION_RETENTION_DAYS}", indexes=(schema.BY_DUE,))
CONSOLIDATION_STEP = ItemType("consolidation", "consolidation step", "{tenant}#fm",
    "step#{run}#{step}",
    "A change of facts by a consolidation, without their statements",
    "{CONSOLIDATION_RETENTION_DAYS}")
USED_REQUEST = ItemType("platform", "used request", "{tenant}#vq#{request}", "q",
    "The use of an Idempotency-Key", "{IDEMPOTENCY_SECONDS}")
EMBEDDING = ItemType("vectors", "embedding model", "~#embedding", "embedding",
    "The model and format of all vectors", "for ever", (schema.BY_DUE,))

# conversations
CONVERSATION = ItemType("conversations", "conversation", _CONVERSATION, "h",
    "A conversation's owners, length and version", "until deleted, or its retention ends",
    (schema.BY_DUE,), {schema.BY_GROUP: "{tenant}#c"})
CONVERSATION_DETAILS = ItemType("conversations", "conversation details", _CONVERSATION, "d",
    "Metadata and tags")
MESSAGE = ItemType("conversations", "message", _CONVERSATION, "msg#{generation}#{index:012d}",
    "A message")
USE = ItemType("conversations", "use of a memory", _CONVERSATION,
    "w#{generation}#{index:012d}#{item}",
    "A message that uses an item of memory", "as the message",
    listed={schema.BY_GROUP: "{tenant}#w#{item}"})
REMOVED_RANGE = ItemType("conversations", "removed range", _CONVERSATION,
    "j#{generation}#{revision:012d}",
    "Hidden messages that are to be deleted", "until they are",
    (schema.BY_DUE,))
APPEND_REQUEST = ItemType("conversations", "append request", _CONVERSATION,
    "k#{generation}#{request}", "The messages of an Idempotency-Key")
ORPHANED_MESSAGES = ItemType("conversations", "orphaned messages", _CONVERSATION, "g#{generation}",
    "Messages of a generation that are to be deleted", "until they are", (schema.BY_DUE,))
ARCHIVE = ItemType("conversations", "archived conversation", _CONVERSATION,
    "r#{expired}#{generation}", "The place of an archived conversation's messages",
    listed={schema.BY_GROUP: "{tenant}#v"})
USER_CONVERSATION = ItemType("conversations", "conversation of a user", "{tenant}#u#{user:user}",
    "c#{updated}#{session:session}", "Lists a conversation, by its last update",
    "as the conversation")
LISTED_COUNT = ItemType("conversations", "listed conversations", "{tenant}#u#{user:user}",
    "n#{principal:agent}", "The conversations that a principal has put into others' lists, counted")
STATE = ItemType("conversations", "agent state", "{tenant}#s#{agent:agent}#{owner:owner}",
    "s#{state:state}", "An agent's state", listed={schema.BY_GROUP: "{tenant}#s#{agent:agent}"})

# objects
OBJECT_SPACE = ItemType("objects", "object space", "{tenant}#objects", "s#{space:object_space}",
    "A space's permissions and owner", indexes=(schema.BY_GROUP,))
OBJECT = ItemType("objects", "object", _SPACE, "obj#{key}",
    "An object with its description, and its bytes if they are few; the key isn't hashed",
    _EXPIRING, (schema.BY_DUE,))
OBJECT_FILE = ItemType("objects", "unused file", _SPACE, "file#{file}",
    "A file without an object, which is to be deleted; or the file of an upload",
    "until the file is deleted", (schema.BY_DUE,))

# values of several packages
VALUE_PART = ItemType("platform", "value part", _ITS_ITEM, "y#{name}#{number:04d}",
    "A part of a value that exceeds its item", "as its item")
ORPHANED_VALUES = ItemType("platform", "orphaned values", _ITS_ITEM, "l#{path}",
    "Values without an item that refers to them, which are to be deleted", "until they are",
    (schema.BY_DUE,))

# runs, procedures, working values
RUN = ItemType("runs", "run", _RUN, "run", "A run (ADR-043)", "{RUN_RETENTION_DAYS}",
    listed={schema.BY_GROUP: "{tenant}#r#{instance:instance}",
        schema.BY_TYPE: "{tenant}#r#{agent_type:agent_type}", schema.BY_TENANT: "{tenant}#r"})
EPISODE = ItemType("runs", "episode", _RUN, "ep#{request}", "An episode of a run", "as its run",
    listed={schema.BY_TYPE: "{tenant}#p#{agent_type:agent_type}",
        schema.BY_GROUP: "{tenant}#p#{seed}"})
DELETED_RUN = ItemType("runs", "deleted run", _RUN, "deleted",
    "A run was deleted; its episodes are being deleted",
    "{RUN_RETENTION_DAYS} after the run's start", (schema.BY_DUE,))
AGENT_TYPE = ItemType("runs", "agent type", "{tenant}#at", "y#{type}", "An agent type was used",
    "{RUN_RETENTION_DAYS} after its last use; never, once it has had workflows")
LEARNED_WORKFLOW = ItemType("procedures", "learned workflow", _PROCEDURE, "w#{workflow:workflow}",
    "A workflow and its outcomes", indexes=(schema.BY_GROUP,))
TASK_TYPE = ItemType("procedures", "task type", "{tenant}#pt#{agent_type:agent_type}", "t#{name}",
    "A task type and its number of workflows")
OUTCOME = ItemType("procedures", "counted outcome", _PROCEDURE, "q#{workflow}#{request}",
    "It was counted", "{IDEMPOTENCY_SECONDS}")
INSTANCE = ItemType("working_values", "instance", "{tenant}#y#{instance:instance}", "w",
    "An instance's working values", "{WORKING_VALUE_LIFETIME} after the last write")

# usage
USAGE = ItemType("usage", "usage", "{tenant}#usage", "total",
    "A tenant's stored amounts by kind, and its limits", indexes=(schema.BY_GROUP,))
USAGE_RECONCILIATION = ItemType("usage", "usage reconciliation", "~usage", "reconcile",
    "The progress of the comparison of counts with stored items", "for ever", (schema.BY_DUE,))
COUNTED_RECORDS = ItemType("usage", "counted records", "{tenant}#q#usage#{records}", "c",
    "They were counted", "{COUNTED_RECORDS_LIFETIME}")
DAILY_USAGE = ItemType("usage", "usage of a day", "{tenant}#usage", "day#{day}",
    "A tenant's usage of a day", "{USAGE_RETENTION_DAYS}")

# learning
STRATEGY = ItemType("learning", "strategy", "{tenant}#k", "s#{strategy:strategy}",
    "A strategy that learns from conversations")
STRATEGY_COUNTS = ItemType("learning", "counts of a strategy", "{tenant}#k",
    "c#{strategy:strategy}", "The results of a strategy")
LEARNING_BUDGET = ItemType("learning", "learning budget", "{tenant}#k", "b#{day}",
    "The tokens and requests of a tenant's strategies on a day",
    "{LEARNING_BUDGET_DAYS}")
LEARNING_POSITION = ItemType("learning", "learning position", "{tenant}#k#{session:session}",
    "learn#{strategy:strategy}", "The progress of a strategy in a conversation",
    "as the conversation", (schema.BY_DUE,), {schema.BY_GROUP: "{tenant}#k#{strategy:strategy}"})
LEARNED_ITEM = ItemType("learning", "learned item", "{tenant}#k#{session:session}",
    "learned#{strategy:strategy}#{item:learned}",
    "The messages from which a fact or an entry was learned", "as the conversation",
    listed={schema.BY_GROUP: "{tenant}#k#{target:target}"})

# OpenWOP memories
MEMORY = ItemType("openwop", "memory", _MEMORY, "o",
    "The latest sequence number of a memory; lists it; counts its secrets",
    listed={schema.BY_GROUP: "{tenant}#o#{owner_kind}#{owner:owner}"})
MEMORY_ENTRY = ItemType("openwop", "memory entry", _MEMORY, "o#{sequence:018d}", "An entry",
    _EXPIRING, (schema.BY_DUE,))
TAG_ROW = ItemType("openwop", "tag of a memory entry", _MEMORY, "x#{tag:tag}#{sequence:018d}",
    "Lists an entry under a tag", "as its entry")
SNAPSHOT_PIN = ItemType("openwop", "snapshot pin", _MEMORY, "r#{sequence:018d}#{run}",
    "Keeps the snapshot of a run", "as long as the snapshot is kept")
RUN_SECRETS = ItemType("openwop", "run secrets", _MEMORY, "k#{run}",
    "Encrypted secrets of an open run", "until the run ends", (schema.BY_DUE,))
PUT_REQUEST = ItemType("openwop", "put request", _MEMORY, "q#{request}",
    "The entry of an Idempotency-Key", "as its entry")
MEMORY_RUN = ItemType("openwop", "memory run", "{tenant}#l#{run}", "l", "A run on memories",
    "{ENDED_OPENWOP_RUN_LIFETIME} longer than its snapshot",
    listed={schema.BY_GROUP: "{tenant}#l#{principal:principal}"})

# events
LOG_ITEM = ItemType("events", "log item", _LOG, "b#{number:016d}",
    "Events, in order; number 0 has the first number of the log", "as long as logs", table="log")
EVENT_PART = ItemType("events", "event part", _LOG, "p#{event}#{number:04d}",
    "A part of a large event", "as long as logs", table="log")
PUBLISHED_EVENT = ItemType("events", "published event", "{tenant}#m#{event}", "m#{event}",
    "The bus has an event", "{PUBLISHED_EVENT_LIFETIME}", table="log")

# fmt: on

ITEM_TYPES = tuple(each for each in list(globals().values()) if isinstance(each, ItemType))


def find_item_type(table: Literal["memory", "log"], key: Key) -> ItemType | None:
    """Find the type of an item by its key; None if no type of the table has such keys."""
    partition, sort = key
    possible = [each for each in _list_types(table, sort[:1]) if each.has_sort(sort)]
    own = (each for each in possible if _compile(each.partition).fullmatch(partition))
    others = (each for each in possible if each.partition in (_LOG, _ITS_ITEM))
    return next(chain(own, others), None)


@cache
def _list_types(table: str, first: str) -> list[ItemType]:
    """List the types of a table with sort keys that may begin with a character."""
    of_table = (each for each in ITEM_TYPES if each.table == table)
    return [each for each in of_table if each.sort_prefix[:1] in ("", first)]


@cache
def _compile(template: str) -> re.Pattern[str]:
    return re.compile(_NAME.sub("[^#]+", template))


def find_due_type(sort: str) -> ItemType | None:
    """Find the type of an item of the index of due items by its sort key."""
    return next((each for each in _DUE_TYPES if each.has_sort(sort)), None)


def find_sealed_type(key: Key) -> ItemType | None:
    """Find the type of a sealed item by its key; None if its type has no seal."""
    if key[1][:2] not in _SEALED_SORTS:
        return None
    found = find_item_type("memory", key)
    return found if found is not None and found.sealed else None


_SEALED_SORTS = frozenset(each.sort[:2] for each in ITEM_TYPES if each.sealed)
_DUE_TYPES = [each for each in ITEM_TYPES if schema.BY_DUE in each.indexes]
