"""Memories of OpenWOP's runs."""

from functools import cached_property

from functions.containers import FurtherContainer
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


class OpenWopContainer(FurtherContainer):
    """Makes the services of OpenWOP's memories."""

    @cached_property
    def memory_references(self) -> MemoryReferences:
        return MemoryReferences(self._common.derive_key)

    @cached_property
    def memory_run_store(self) -> MemoryRunStore:
        return MemoryRunStore(self._common.table)

    @cached_property
    def sequence_numbers(self) -> SequenceNumbers:
        return SequenceNumbers(self._common.table, self._common.clock)

    @cached_property
    def memory_entry_store(self) -> MemoryEntryStore:
        return MemoryEntryStore(self._common.table, self.sequence_numbers)

    @cached_property
    def memory_list_store(self) -> MemoryListStore:
        return MemoryListStore(self._common.table)

    @cached_property
    def memory_lists(self) -> MemoryLists:
        return MemoryLists(self.memory_list_store, self._common.clock)

    @cached_property
    def memory_runs(self) -> MemoryRuns:
        return MemoryRuns(
            self.memory_run_store,
            self.sequence_numbers,
            self.memory_secrets,
            self.memory_references,
            self._common.audit,
            self._common.clock,
        )

    @cached_property
    def run_secret_store(self) -> RunSecretStore:
        return RunSecretStore(self._common.table)

    @cached_property
    def memory_secrets(self) -> MemorySecrets:
        edition = self._common.settings.openwop
        return MemorySecrets(self.run_secret_store, self._common.required_cipher, edition)

    @cached_property
    def memories(self) -> Memories:
        return Memories(
            self.memory_entry_store,
            self.memory_runs,
            self.memory_secrets,
            self.memory_references,
            self._common.clock,
        )

    @cached_property
    def memory_garbage_collector(self) -> MemoryGarbageCollector:
        return MemoryGarbageCollector(
            self.memory_run_store,
            self.memory_entry_store,
            self.run_secret_store,
            self._common.clock,
        )
