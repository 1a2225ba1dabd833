"""Memories of OpenWOP's runs."""

from functions.container import Container
from functions.openwop.entry_store import MemoryEntryStore
from functions.openwop.garbage_collector import MemoryGarbageCollector
from functions.openwop.list_store import MemoryListStore
from functions.openwop.lists import MemoryLists
from functions.openwop.memory_secrets import MemorySecrets
from functions.openwop.references import MemoryReferences
from functions.openwop.run_store import MemoryRunStore
from functions.openwop.runs import MemoryRuns
from functions.openwop.secret_store import RunSecretStore
from functions.openwop.sequence_store import SequenceNumbers
from functions.openwop.service import Memories
from functions.platform.values import ValueCodec


class OpenWopContainer:
    """Makes the services of OpenWOP's memories."""

    def __init__(self, common: Container) -> None:
        table, clock = common.table, common.clock
        self.memory_references = MemoryReferences(common.derive_key)
        self.memory_run_store = MemoryRunStore(table)
        self.sequence_numbers = SequenceNumbers(table, clock)
        self.memory_entry_store = MemoryEntryStore(table, self.sequence_numbers)
        self.memory_list_store = MemoryListStore(table)
        self.memory_lists = MemoryLists(self.memory_list_store, clock)
        run_secret_store = RunSecretStore(table)
        memory_secrets = MemorySecrets(
            run_secret_store, ValueCodec(common.cipher), common.settings.openwop
        )
        self.memory_runs = MemoryRuns(
            self.memory_run_store,
            self.sequence_numbers,
            memory_secrets,
            self.memory_references,
            common.audit,
            clock,
        )
        self.memories = Memories(
            self.memory_entry_store, self.memory_runs, memory_secrets, self.memory_references, clock
        )
        self.memory_garbage_collector = MemoryGarbageCollector(
            self.memory_run_store, self.memory_entry_store, run_secret_store, clock
        )
