"""Items of the audit log: a tenant's are in one partition, in the order of time."""

from functions.audit.model import AuditRecord
from functions.platform.item_types import AUDIT_RECORD
from functions.platform.json_text import dumps
from functions.platform.keys import encode_timestamp
from functions.platform.schema import TTL_ATTRIBUTE
from functions.platform.writes import Write, put

_DAY_S = 86_400


def put_record(record: AuditRecord, retention_days: int) -> Write:
    """Build the write of a record; `retention_days` of 0 keeps it for good."""
    key = AUDIT_RECORD.build_key(
        tenant=record.tenant, time=encode_timestamp(record.time), id=record.id
    )
    expiry = record.time // 1000 + retention_days * _DAY_S if retention_days else None
    item = {
        "time": record.time,
        "actor": record.actor_id,
        "kind": record.actor_kind,
        "action": record.action,
        "target": record.target,
        "before": None if record.before is None else dumps(record.before),
        "after": None if record.after is None else dumps(record.after),
        "request_id": record.request_id,
        TTL_ATTRIBUTE: expiry,
    }
    return put(key, item)
