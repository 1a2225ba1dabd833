"""The SDK has a call for each operation of the service."""

import json
from operator import attrgetter

from agent_memory import Client
from agent_memory.openwop import MemoryAdapter, MemoryRun

from tests.contract.local_server import ROOT

CALLS = {
    "append_episode": "runs.append",
    "append_messages": "conversations.append",
    "apply_workflow": "workflows.apply",
    "begin_upload": "conversations.put",
    "change_conversation": "conversations.change",
    "change_entry": "memory.set",
    "change_guardrails": "agents.set_guardrails",
    "change_message": "conversations.change_message",
    "change_principal": "principals.update",
    "change_task": "tasks.update",
    "complete_run": "runs.complete",
    "configure_agent": "agents.configure",
    "configure_namespace": "namespaces.set_permissions",
    "create_entry": "memory.set",
    "create_principal": "principals.create",
    "create_tenant": "tenants.create",
    "delete_archived_conversation": "conversations.delete_archived",
    "delete_batch": "memory.delete_batch",
    "delete_conversation": "conversations.delete",
    "delete_episode": "runs.delete_episode",
    "delete_entry": "memory.delete",
    "delete_tenant": "tenants.delete",
    "delete_run": "runs.delete",
    "delete_runs": "runs.delete_all",
    "delete_state": "states.delete",
    "delete_workflow": "procedures.delete",
    "delete_working_value": "instances.delete",
    "explain_access": "principals.explain_access",
    "fail_run": "runs.fail",
    "forget_fact": "facts.forget",
    "get_acl": "intents.acl",
    "get_agent_settings": "agents.settings",
    "get_archived_conversation": "conversations.messages",
    "get_capabilities": "capabilities",
    "get_conversation": "conversations.get",
    "get_deletion": "deletions.get",
    "get_entry": "memory.get_entry",
    "get_fact": "facts.get",
    "get_guardrails": "agents.guardrails",
    "get_namespace": "namespaces.get",
    "get_own_principal": "principals.me",
    "get_run": "runs.get",
    "get_state": "states.get",
    "get_tenant_deletion": "tenants.deletion",
    "get_task": "tasks.get",
    "get_task_context": "tasks.context",
    "get_workflow": "procedures.get",
    "get_working_value": "instances.get",
    "grant_access": "tasks.grant",
    "learn_fact": "facts.learn",
    "list_agent_types": "runs.agent_types",
    "list_agents": "agents.list",
    "list_agent_tasks": "tasks.assigned",
    "list_grants": "tasks.grants",
    "list_intent_tasks": "tasks.list",
    "list_intents": "intents.list",
    "list_namespaces": "namespaces.list",
    "list_spaces": "objects.spaces",
    "list_principals": "principals.list",
    "list_runs": "runs.query",
    "list_states": "states.all",
    "list_user_conversations": "conversations.list",
    "list_workflows": "procedures.list",
    "list_working_values": "instances.all",
    "pop_message": "conversations.pop",
    "put_conversation": "conversations.put",
    "put_entry": "memory.put",
    "put_state": "states.put",
    "put_workflow": "procedures.put",
    "put_working_value": "instances.put",
    "query_entries": "memory.query",
    "read_agent_log": "events.agent",
    "read_audit_log": "audit.records",
    "read_intent_log": "events.intent",
    "read_namespace_log": "events.namespace",
    "recall_episodes": "runs.recall",
    "recall_facts": "facts.recall",
    "register_task": "tasks.create",
    "remove_messages": "conversations.remove",
    "report_outcome": "procedures.outcome",
    "revoke_grant": "tasks.revoke",
    "revoke_principal": "principals.revoke",
    "rotate_key": "principals.rotate",
    "search_entries": "memory.search",
    "select_workflow": "procedures.select",
    "set_acl": "intents.set_acl",
    "set_intent_owner": "intents.set_owner",
    "start_deletion": "deletions.start",
    "start_run": "runs.start",
    "summarize_agent_memory": "memory.summary",
    "upload_messages": "conversations.put",
    "write_batch": "memory.batch",
    "forget_facts": "facts.forget_all",
    "list_facts": "facts.query",
    "put_object": "objects.put",
    "begin_object_upload": "objects.put",
    "get_object": "objects.get",
    "read_objects": "objects.get_many",
    "delete_object": "objects.delete",
    "delete_objects": "objects.delete_all",
    "list_objects": "objects.list",
    "rename_object": "objects.rename",
    "configure_space": "objects.share",
}
OPENWOP = {
    "add_run_secrets": MemoryRun.add_secrets,
    "delete_memory_entry": MemoryAdapter.delete,
    "delete_memory_run": MemoryAdapter.delete_run,
    "end_memory_run": MemoryRun.end,
    "get_memory_entry": MemoryAdapter.get,
    "get_memory_run": MemoryAdapter.get_state,
    "list_memory_entries": MemoryAdapter.list,
    "list_seen_entries": MemoryAdapter.list_seen,
    "put_memory_entry": MemoryAdapter.put,
    "start_memory_run": MemoryAdapter.start,
}
FOR_OTHERS = {  # documents of the service, and a list for another vendor's client
    "get_docs",
    "get_health",
    "get_openapi_document",
    "get_openintent_discovery",
    "get_openwop_discovery",
    "get_root",
    "query_agent_entries",
}


def test_each_operation_of_the_service_has_a_call() -> None:
    document = json.loads((ROOT / "functions/api/openapi.json").read_text("utf-8"))
    operations = {
        operation["operationId"]
        for path in document["paths"].values()
        for operation in path.values()
        if isinstance(operation, dict) and "operationId" in operation
    }
    assert CALLS.keys() | OPENWOP.keys() | FOR_OTHERS == operations
    client = Client(api_key="am_x")
    assert [name for name in CALLS.values() if not callable(attrgetter(name)(client))] == []
