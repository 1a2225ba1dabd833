"""A second Region: replicas of tables and of keys by a template, and separate names.

The emulator replicates tables and keys where its API is asked to, but its templates ask for none.
It replicates secrets, and removes no replica of them.
"""

import json
import os
import zlib
from collections.abc import Callable
from typing import Any

from ministack import app
from ministack.core.responses import get_account_id, get_region, json_response, request_scope
from ministack.services import dynamodb, kms, secretsmanager
from ministack.services.cloudformation import provisioners

Properties = dict[str, Any]
Made = tuple[str, dict[str, Any]]

_TABLE, _KEY = "AWS::DynamoDB::GlobalTable", "AWS::KMS::ReplicaKey"
_name = provisioners._physical_name


def _replicate(name: str, properties: Properties) -> None:
    """Add the replicas that a table lacks, and remove those that it has no longer."""
    wanted = {each["Region"] for each in properties.get("Replicas", ())} - {get_region()}
    present = set(dynamodb._replica_group(dynamodb._tables[name])) - {get_region()}
    changes = [("Create", each) for each in wanted - present]
    changes += [("Delete", each) for each in present - wanted]
    for action, region in changes:
        updates = [{action: {"RegionName": region}}]
        _check(dynamodb._update_table({"TableName": name, "ReplicaUpdates": updates}))


def _check(answer: Any) -> Any:
    if answer[0] != 200:
        raise ValueError(answer[2])
    return json.loads(answer[2])


def _with_replicas(make: Callable[..., Made]) -> Callable[..., Made]:
    def made(*given: Any) -> Made:
        name, attributes = make(*given)
        _replicate(name, given[-2])  # the properties, before the stack's name
        return name, attributes

    return made


def _create_key(_logical_id: str, properties: Properties, _stack: str) -> Made:
    region, primary = get_region(), properties["PrimaryKeyArn"]
    asked = {"KeyId": primary, "ReplicaRegion": region}
    given = {name: properties[name] for name in ("Description", "Tags") if name in properties}
    policy = json.dumps(properties["KeyPolicy"])
    with request_scope(get_account_id(), primary.split(":")[3]):
        made = _check(kms._replicate_key(asked | given | {"Policy": policy}))
    found = made["ReplicaKeyMetadata"]
    return found["KeyId"], {"Arn": found["Arn"], "KeyId": found["KeyId"]}


def _delete_key(physical_id: str, properties: Properties) -> None:
    days = properties.get("PendingWindowInDays", 30)
    kms._schedule_key_deletion({"KeyId": physical_id, "PendingWindowInDays": days})


async def _serve_secrets(
    method: str, path: str, headers: dict[str, str], body: bytes, query: Any
) -> Any:
    """Answer RemoveRegionsFromReplication; leave all else to the emulator."""
    if not headers.get("x-amz-target", "").endswith(".RemoveRegionsFromReplication"):
        return await secretsmanager.handle_request(method, path, headers, body, query)
    asked = json.loads(body)
    _, secret = secretsmanager._resolve(asked["SecretId"])
    removed = asked["RemoveReplicaRegions"]
    for region in removed:
        secretsmanager._secrets.pop_scoped(get_account_id(), region, secret["Name"], None)
    left = [each for each in secret["ReplicationStatus"] if each["Region"] not in removed]
    secret["ReplicationStatus"] = left
    return json_response({"ARN": secret["ARN"], "ReplicationStatus": left})


def _regional_name(*named: Any, **options: Any) -> str:
    """Name a resource otherwise in another Region: roles are those of the whole account."""
    name: str = _name(*named, **options)
    if get_region() == os.environ["MINISTACK_REGION"]:
        return name
    return f"{name[:-2]}{zlib.crc32(get_region().encode()) % 90 + 10}"


def mend() -> None:
    """Have a template's replicas made."""
    handlers = provisioners._RESOURCE_HANDLERS[_TABLE]
    for what in ("create", "update"):
        handlers[what] = _with_replicas(handlers[what])
    provisioners._RESOURCE_HANDLERS[_KEY] = {"create": _create_key, "delete": _delete_key}
    provisioners._physical_name = _regional_name
    app.SERVICE_HANDLERS["secretsmanager"] = _serve_secrets
