"""Deletion of tenants and principals."""

from functions.container import Container
from functions.containers.conversations import ConversationContainer
from functions.containers.objects import ObjectContainer
from functions.containers.openwop import OpenWopContainer
from functions.containers.runs import RunContainer
from functions.containers.states import StateContainer
from functions.containers.tombstones import TombstoneContainer
from functions.deletion.principal_data import PrincipalData, Stores
from functions.deletion.service import Deletions


class DeletionContainer:
    """Makes the service of deletions."""

    def __init__(self, common: Container) -> None:
        conversations, openwop = common.get(ConversationContainer), common.get(OpenWopContainer)
        store = common.get(TombstoneContainer).deletion_store
        stores = Stores(
            common.expired_entries,
            conversations.conversation_store,
            conversations.conversation_archive,
            common.get(StateContainer).state_store,
            common.get(ObjectContainer).object_store,
            common.get(RunContainer).run_deletion_store,
            openwop.memory_entry_store,
            openwop.memory_run_store,
            openwop.memory_list_store,
        )
        self.deletions = Deletions(
            store,
            PrincipalData(store, stores, common.clock),
            common.identity.revoke,
            common.principal_store.remove_all,
            common.audit,
            common.clock,
        )
