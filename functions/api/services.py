"""The rooms' services, put together once per function."""

from dataclasses import dataclass
from pathlib import Path

from functions.conversations.appends import Appends
from functions.conversations.archives import Archives
from functions.conversations.items import ConversationItems
from functions.conversations.pops import Pops
from functions.conversations.remains import Remains
from functions.conversations.retention import Retention
from functions.conversations.service import Conversations
from functions.conversations.states import States
from functions.conversations.store import ConversationStore
from functions.entries.access import Access
from functions.entries.agents import Agents
from functions.entries.archival import Archival
from functions.entries.batch import Batches
from functions.entries.context import Contexts
from functions.entries.endings import Endings
from functions.entries.expiry import Expiry
from functions.entries.items import EntryItems
from functions.entries.query import Queries
from functions.entries.recency import Recency
from functions.entries.service import Entries
from functions.entries.snapshots import SnapshotStore
from functions.entries.store import EntryStore
from functions.entries.summary import Summaries
from functions.entries.writer import EntryWriter
from functions.facts.service import Facts
from functions.identity.service import Identity
from functions.identity.store import PrincipalStore
from functions.instances.service import Instances
from functions.logs.service import Logs
from functions.logs.store import LogStore
from functions.namespaces.service import Namespaces
from functions.namespaces.store import NamespaceStore
from functions.platform.aws import client, client_later
from functions.platform.clock import Clock
from functions.platform.cold import ColdStorage, cold_storage
from functions.platform.encryption import Cipher, FileKeys, KmsKeys
from functions.platform.settings import ApiSettings
from functions.platform.table import Table
from functions.platform.values import Values
from functions.procedures.service import Procedures
from functions.procedures.store import WorkflowStore
from functions.runs.counts import EpisodeCounts
from functions.runs.episodes import Episodes
from functions.runs.ids import RunIds
from functions.runs.items import RunItems
from functions.runs.quota import Quota
from functions.runs.service import Runs
from functions.runs.store import RunStore
from functions.search.service import Search
from functions.snapshots.handles import Handles
from functions.snapshots.positions import Positions
from functions.snapshots.redaction import Edition
from functions.snapshots.registry import Registry
from functions.snapshots.runs import Runs as MemoryRuns
from functions.snapshots.service import Memories
from functions.snapshots.store import MemoryStore
from functions.tasks.governance import Governance
from functions.tasks.grants import Grants
from functions.tasks.guarding import Guarding
from functions.tasks.intents import Intents
from functions.tasks.service import Tasks
from functions.tasks.store import TaskStore
from functions.vectors.choice import meanings_of
from functions.workflows.service import Workflows


@dataclass(frozen=True, slots=True)
class Services:
    """What the routes call."""

    identity: Identity
    entries: Entries
    queries: Queries
    search: Search
    batches: Batches
    summaries: Summaries
    namespaces: Namespaces
    tasks: Tasks
    endings: Endings
    grants: Grants
    intents: Intents
    logs: Logs
    agents: Agents
    guarding: Guarding
    contexts: Contexts
    workflows: Workflows
    conversations: Conversations
    archives: Archives
    states: States
    facts: Facts
    instances: Instances
    procedures: Procedures
    memory_runs: MemoryRuns
    runs: Runs
    episodes: Episodes
    memories: Memories
    handles: Handles
    openwop: Edition


def build_services(settings: ApiSettings, clock: Clock) -> Services:
    """All services on the tables and keys that the settings name."""
    dynamodb = client("dynamodb")
    table, logs = (
        Table(dynamodb, settings.memory_table),
        LogStore(Table(dynamodb, settings.log_table)),
    )
    cipher = _cipher(settings)
    items = EntryItems(cipher)
    root_key = _root_key(settings)
    identity = Identity(PrincipalStore(table), root_key, clock, settings.key_cache_seconds)
    namespaces = Namespaces(NamespaceStore(table), clock)
    task_store = TaskStore(table)
    agents = Agents(table, clock)
    governance = Governance(table, task_store, agents.limit)
    tasks = Tasks(task_store, governance, clock, identity.kind_of)
    store = EntryStore(table, items)
    writer = EntryWriter(table, items, store)
    recency = Recency(store, clock)
    expiry = Expiry(store, writer, clock)
    entries = Entries(store, writer, expiry, Access(tasks), recency, namespaces, clock)
    queries = Queries(store, tasks, namespaces, recency, clock)
    archival = Archival(store, writer, SnapshotStore(table), task_store, logs, clock)
    said, cold = ConversationItems(Values(cipher)), cold_storage(settings)
    memories, positions, handles = MemoryStore(table), Positions(table, clock), Handles(root_key)
    registry = Registry(cipher, settings.openwop)
    memory_runs = MemoryRuns(table, memories, positions, registry, handles, clock)
    runs, episodes = _runs(table, Values(cipher), root_key, clock)
    meanings = meanings_of(settings, table, clock)
    return Services(
        identity=identity,
        entries=entries,
        queries=queries,
        search=Search(meanings, store, queries, tasks, recency, clock),
        facts=Facts(table, meanings, clock),
        batches=Batches(entries, store, queries, namespaces, clock),
        summaries=Summaries(store, tasks, namespaces, clock),
        namespaces=namespaces,
        tasks=tasks,
        endings=Endings(tasks, archival),
        grants=Grants(task_store, clock),
        intents=Intents(task_store),
        logs=Logs(logs, Intents(task_store), namespaces),
        agents=agents,
        guarding=Guarding(governance, clock),
        contexts=Contexts(queries, tasks, governance),
        workflows=Workflows(table, namespaces, agents, tasks, clock),
        conversations=_conversations(table, said, cold, clock),
        archives=Archives(table, said, cold),
        states=States(table, Values(cipher), clock),
        instances=Instances(table, clock),
        procedures=Procedures(WorkflowStore(table), clock),
        memory_runs=memory_runs,
        runs=runs,
        episodes=episodes,
        memories=Memories(memories, positions, memory_runs, handles, clock),
        handles=handles,
        openwop=settings.openwop,
    )


def _conversations(
    table: Table, items: ConversationItems, cold: ColdStorage | None, clock: Clock
) -> Conversations:
    store = ConversationStore(table, items)
    remains = Remains(table, store)
    retention = Retention(table, items, remains, cold, clock)
    appends, pops = Appends(store, items, clock), Pops(store, items, clock)
    return Conversations(store, items, appends, pops, remains, retention, clock)


def _runs(table: Table, values: Values, root_key: str, clock: Clock) -> tuple[Runs, Episodes]:
    items, ids = RunItems(values), RunIds(root_key)
    store = RunStore(table, items, ids)
    quota = Quota(EpisodeCounts(table, clock), clock)
    return Runs(table, store, items, ids, clock), Episodes(table, store, items, quota, clock)


def _cipher(settings: ApiSettings) -> Cipher:
    if settings.encryption_key_file is not None:
        return Cipher(FileKeys(Path(settings.encryption_key_file)))
    return Cipher(KmsKeys(client_later("kms"), str(settings.encryption_key_id)))


def _root_key(settings: ApiSettings) -> str:
    if settings.root_key is not None:
        return settings.root_key
    answer = client("secretsmanager").get_secret_value(SecretId=settings.root_key_secret_id)
    return str(answer["SecretString"])
