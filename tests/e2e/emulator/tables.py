"""Settings of tables that the emulator's CloudFormation drops."""

from collections.abc import Callable
from typing import Any

from ministack.services import dynamodb
from ministack.services.cloudformation import provisioners

Properties = dict[str, Any]
Created = tuple[str, dict[str, Any]]
Create = Callable[[str, Properties, str], Created]

_TYPES = ("AWS::DynamoDB::Table", "AWS::DynamoDB::GlobalTable")


def _own_replica(properties: Properties) -> Properties:
    """Return this Region's replica: a global table has most of its settings there."""
    replicas = properties.get("Replicas") or [{}]
    replica: Properties = replicas[0]
    return replica


def _set_recovery(name: str, properties: Properties) -> None:
    setting = "PointInTimeRecoverySpecification"
    if recovery := properties.get(setting) or _own_replica(properties).get(setting):
        dynamodb._update_continuous_backups({"TableName": name, setting: recovery})


def _set_encryption(name: str, properties: Properties) -> None:
    asked = properties.get("SSESpecification") or {}
    if not (asked.get("SSEEnabled") or asked.get("Enabled")):
        return
    own = _own_replica(properties).get("SSESpecification") or {}
    key = asked.get("KMSMasterKeyId") or own.get("KMSMasterKeyId")
    encryption = {"Enabled": True, "SSEType": "KMS"} | ({"KMSMasterKeyId": key} if key else {})
    dynamodb._update_table({"TableName": name, "SSESpecification": encryption})


def _set_expiry(name: str, properties: Properties) -> None:
    dynamodb._ttl_settings.pop(name, None)
    if expiry := properties.get("TimeToLiveSpecification"):
        dynamodb._update_ttl({"TableName": name, "TimeToLiveSpecification": expiry})


def _with_all_settings(create: Create) -> Create:
    def created(logical_id: str, properties: Properties, stack: str) -> Created:
        name, attributes = create(logical_id, properties, stack)
        _set_expiry(name, properties)
        _set_recovery(name, properties)
        _set_encryption(name, properties)
        if _own_replica(properties).get("DeletionProtectionEnabled"):
            dynamodb._tables[name]["DeletionProtectionEnabled"] = True
        return name, attributes

    return created


def mend() -> None:
    """Expiry, recovery, encryption and deletion protection are set as the template says."""
    for kind in _TYPES:
        handlers = provisioners._RESOURCE_HANDLERS[kind]
        handlers["create"] = _with_all_settings(handlers["create"])
