"""Deletion of tenants and principals."""

from functools import cached_property

from functions.containers import FurtherContainer
from functions.containers.conversations import ConversationContainer
from functions.containers.objects import ObjectContainer
from functions.containers.openwop import OpenWopContainer
from functions.containers.runs import RunContainer
from functions.containers.states import StateContainer
from functions.containers.tombstones import TombstoneContainer
from functions.deletion.principal_data import PrincipalData, Stores
from functions.deletion.service import Deletions


class DeletionContainer(FurtherContainer):
    """Makes the service of deletions."""

    @cached_property
    def deletions(self) -> Deletions:
        store = self._common.get(TombstoneContainer).deletion_store
        stores = Stores(
            self._common.expired_entries,
            self._common.get(ConversationContainer).conversation_store,
            self._common.get(ConversationContainer).conversation_archive,
            self._common.get(StateContainer).state_store,
            self._common.get(ObjectContainer).object_store,
            self._common.get(RunContainer).run_deletion_store,
            self._common.get(OpenWopContainer).memory_entry_store,
            self._common.get(OpenWopContainer).memory_run_store,
            self._common.get(OpenWopContainer).memory_list_store,
        )
        return Deletions(
            store,
            PrincipalData(store, stores, self._common.clock),
            self._common.identity.revoke,
            self._common.principal_store.remove_all,
            self._common.audit,
            self._common.clock,
        )
