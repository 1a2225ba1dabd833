"""The calls that test_least_privilege.py tries; none of them changes anything.

Those on tables are named by their IAM action, as in `memory.GetItem`.
"""

from typing import Any

from tests.e2e.deployment import Deployment
from tests.e2e.probe import Call

Calls = dict[str, Call]

_WRONG = "AAAAAAAAAAAAAAAAAAAAAA=="  # so that S3 refuses it after IAM has let it through
_KEY = {"pk": {"S": "nobody#a#nothing"}, "sk": {"S": "nothing"}}
_PRINCIPAL = {"pk": {"S": "nobody#p"}, "sk": {"S": "p#nothing"}}
_API_KEY = {"pk": {"S": "~key#nothing"}, "sk": {"S": "k"}}
_IF_THERE = {"ConditionExpression": "attribute_exists(pk)"}
_UPDATE = {"UpdateExpression": "SET a = :a", "ExpressionAttributeValues": {":a": {"S": "a"}}}
_EXPIRY = {"TimeToLiveSpecification": {"Enabled": True, "AttributeName": "ttl_at"}}
_INDEXES = {
    "by_age": "pk",
    "by_creation": "pk",
    "by_due": "due_index",
    "by_expiry": "pk",
    "by_eviction": "pk",
    "by_task": "task_index",
    "by_type": "type_index",
    "by_tenant": "tenant_index",
    "by_group": "group_index",
}


def calls(deployment: Deployment) -> Calls:
    """All of them, by name."""
    outputs = deployment.outputs
    return {
        **_on_table("memory", outputs["MemoryTable"]),
        **_on_table("log", outputs["LogTable"]),
        **_on_credentials(outputs["MemoryTable"]),
        **_on_indexes(outputs["MemoryTable"]),
        **_on_secrets(outputs["RootKeySecretId"]),
        **_on_archive(outputs["ArchiveBucket"]),
        **_on_queues(outputs),
        **_on_functions(deployment),
        **_on_keys(deployment),
        "publish": Call("events", "put_events", {"Entries": [_event(outputs["EventBus"])]}),
        "publish elsewhere": Call("events", "put_events", {"Entries": [_event("default")]}),
        "read another table": Call("dynamodb", "get_item", {"TableName": "another", "Key": _KEY}),
        "list tables": Call("dynamodb", "list_tables", {}),
        "list roles": Call("iam", "list_roles", {}),
    }


def _on_table(name: str, table: str) -> Calls:
    named = {"TableName": table}
    check = {"ConditionCheck": named | {"Key": _KEY} | _IF_THERE}
    tried: dict[str, tuple[str, dict[str, Any]]] = {
        "GetItem": ("get_item", named | {"Key": _KEY}),
        "BatchGetItem": ("batch_get_item", {"RequestItems": {table: {"Keys": [_KEY]}}}),
        "Query": ("query", named | _where("pk")),
        "Scan": ("scan", named),
        "PutItem": ("put_item", named | {"Item": _KEY} | _IF_THERE),
        "UpdateItem": ("update_item", named | {"Key": _KEY} | _UPDATE | _IF_THERE),
        "DeleteItem": ("delete_item", named | {"Key": _KEY} | _IF_THERE),
        "BatchWriteItem": (
            "batch_write_item",
            {"RequestItems": {table: [{"DeleteRequest": {"Key": _KEY}}]}},
        ),
        "ConditionCheckItem": ("transact_write_items", {"TransactItems": [check]}),
        "DescribeTable": ("describe_table", named),
        "UpdateTable": ("update_table", named | {"DeletionProtectionEnabled": False}),
        "UpdateTimeToLive": ("update_time_to_live", named | _EXPIRY),
        "DeleteTable": ("delete_table", named),
    }
    return {f"{name}.{action}": Call("dynamodb", *call) for action, call in tried.items()}


def _on_credentials(table: str) -> Calls:
    """By the same actions as on other items, on what says who may do what."""
    named = {"TableName": table}
    calls: Calls = {}
    for what, item in (("a principal", _PRINCIPAL), ("an API key", _API_KEY)):
        put = named | {"Item": item} | _IF_THERE
        together = {"TransactItems": [{"Put": put}]}
        batch = {"RequestItems": {table: [{"DeleteRequest": {"Key": item}}]}}
        calls[f"read {what}"] = Call("dynamodb", "get_item", named | {"Key": item})
        calls[f"write {what}"] = Call("dynamodb", "put_item", put)
        calls[f"write {what} in a transaction"] = Call("dynamodb", "transact_write_items", together)
        gone = named | {"Key": item} | _IF_THERE
        calls[f"delete {what}"] = Call("dynamodb", "delete_item", gone)
        calls[f"delete {what} in a batch"] = Call("dynamodb", "batch_write_item", batch)
    return calls


def _on_indexes(table: str) -> Calls:
    return {
        f"memory/{index}": Call(
            "dynamodb", "query", {"TableName": table, "IndexName": index} | _where(attribute)
        )
        for index, attribute in _INDEXES.items()
    }


def _where(attribute: str) -> dict[str, Any]:
    return {
        "KeyConditionExpression": f"{attribute} = :nobody",
        "ExpressionAttributeValues": {":nobody": {"S": "nobody#a#nothing"}},
    }


def _on_secrets(root_key: str) -> Calls:
    secret, changed = {"SecretId": root_key}, {"SecretString": "x" * 43}
    return {
        "read the root key": Call("secretsmanager", "get_secret_value", secret),
        "change the root key": Call("secretsmanager", "put_secret_value", secret | changed),
        "read another secret": Call("secretsmanager", "get_secret_value", {"SecretId": "another"}),
    }


def _on_archive(bucket: str) -> Calls:
    there = {"Bucket": bucket, "Key": "nothing"}
    return {
        "archive": Call("s3", "put_object", there | {"Body": "", "ContentMD5": _WRONG}),
        "read the archive": Call("s3", "get_object", there),
        "delete from the archive": Call("s3", "delete_object", there),
        "list the archive": Call("s3", "list_objects_v2", {"Bucket": bucket}),
    }


def _on_queues(outputs: dict[str, str]) -> Calls:
    queues = {
        "stream": outputs["StreamDeadLetters"],
        "schedule": outputs["ScheduleDeadLetters"],
        "task event": outputs["TaskEventDeadLetters"],
    }
    refused = {"MessageBody": ""}  # after IAM has let it through
    return {
        f"{verb} {name}'s dead letters": Call("sqs", operation, {"QueueUrl": url} | given)
        for name, url in queues.items()
        for verb, operation, given in (
            ("add to", "send_message", refused),
            ("read", "receive_message", {}),
        )
    }


def _on_functions(deployment: Deployment) -> Calls:
    dry = {"InvocationType": "DryRun"}
    return {
        f"invoke {function}": Call(
            "lambda", "invoke", {"FunctionName": deployment.alias_of(function)} | dry
        )
        for function in ("Api", "Stream", "Schedule")
    }


def _on_keys(deployment: Deployment) -> Calls:
    """On each key by itself, past the services that may use it on a role's behalf."""
    tried: dict[str, dict[str, Any]] = {
        "decrypt": {"CiphertextBlob": "none"},
        "encrypt": {"Plaintext": "x"},
        "generate_data_key": {"KeySpec": "AES_256"},
        "schedule_key_deletion": {"PendingWindowInDays": 30},
    }
    return {
        f"{operation} with the {name} key": Call("kms", operation, {"KeyId": id} | given)
        for name, id in (
            ("storage", deployment.key("Storage")),
            ("values", deployment.key("Values")),
        )
        for operation, given in tried.items()
    }


def _event(bus: str) -> dict[str, str]:
    return {"EventBusName": bus, "Source": "probe", "DetailType": "probe", "Detail": "{}"}
