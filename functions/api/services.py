"""The rooms' services, put together once per function."""

from dataclasses import dataclass
from pathlib import Path

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
from functions.identity.service import Identity
from functions.identity.store import PrincipalStore
from functions.logs.service import Logs
from functions.logs.store import LogStore
from functions.namespaces.service import Namespaces
from functions.namespaces.store import NamespaceStore
from functions.platform.aws import client
from functions.platform.clock import Clock
from functions.platform.encryption import Cipher, FileKeys, KmsKeys
from functions.platform.settings import ApiSettings
from functions.platform.table import Table
from functions.tasks.governance import Governance
from functions.tasks.grants import Grants
from functions.tasks.guarding import Guarding
from functions.tasks.intents import Intents
from functions.tasks.service import Tasks
from functions.tasks.store import TaskStore
from functions.workflows.service import Workflows


@dataclass(frozen=True, slots=True)
class Services:
    """What the routes call."""

    identity: Identity
    entries: Entries
    queries: Queries
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


def build_services(settings: ApiSettings, clock: Clock) -> Services:
    """All services on the tables and keys that the settings name."""
    dynamodb = client("dynamodb")
    table, logs = (
        Table(dynamodb, settings.memory_table),
        LogStore(Table(dynamodb, settings.log_table)),
    )
    items = EntryItems(_cipher(settings))
    identity = Identity(
        PrincipalStore(table), _root_key(settings), clock, settings.key_cache_seconds
    )
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
    return Services(
        identity=identity,
        entries=entries,
        queries=queries,
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
    )


def _cipher(settings: ApiSettings) -> Cipher:
    if settings.encryption_key_file is not None:
        return Cipher(FileKeys(Path(settings.encryption_key_file)))
    return Cipher(KmsKeys(client("kms"), str(settings.encryption_key_id)))


def _root_key(settings: ApiSettings) -> str:
    if settings.root_key is not None:
        return settings.root_key
    answer = client("secretsmanager").get_secret_value(SecretId=settings.root_key_secret_id)
    return str(answer["SecretString"])
