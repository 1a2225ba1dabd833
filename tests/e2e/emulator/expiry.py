"""Time to live as DynamoDB has it: removals are in the stream, as made by the service."""

import threading
import time
from typing import Any

from ministack.core import responses
from ministack.services import dynamodb

_SWEEP_SECONDS = 1.0
_OLDEST_SECONDS = 5 * 365 * 86_400  # DynamoDB leaves what expired longer ago
_SERVICE = {"type": "Service", "principalId": "dynamodb.amazonaws.com"}

_SILENT_SWEEPER = "dynamodb-ttl-reaper"  # the emulator's own: once a minute, without a record
_SWEEPER = "expiry"

_plain_record = dynamodb._build_change_record
_plain_remove = dynamodb._remove_item


def _record(*change: Any) -> Any:
    record = _plain_record(*change)
    if threading.current_thread().name == _SWEEPER:
        record["userIdentity"] = _SERVICE
    return record


def _remove(*place: Any) -> Any:
    silent = threading.current_thread().name == _SILENT_SWEEPER
    return None if silent else _plain_remove(*place)


def _expired(item: dict[str, Any], attribute: str, now: float) -> bool:
    value = item.get(attribute) or {}
    return "N" in value and now - _OLDEST_SECONDS < float(value["N"]) <= now


def _sweep_table(name: str, table: dict[str, Any], attribute: str) -> None:
    now = time.time()  # noqa: TID251 - the emulator's time is this machine's
    for partition, items in list(table["items"].items()):
        for sort, item in list(items.items()):
            if _expired(item, attribute, now):
                removed = dynamodb._remove_item(table, partition, sort)
                dynamodb._emit_stream_event(name, "REMOVE", removed, None)


def _sweep() -> None:
    for (account, region, name), setting in list(dynamodb._ttl_settings.all_items()):
        table = dynamodb._tables.get_scoped(account, region, name)
        if setting.get("TimeToLiveStatus") != "ENABLED" or not table:
            continue
        with responses.request_scope(account, region), dynamodb._lock:
            _sweep_table(name, table, setting["AttributeName"])


def _sweep_forever() -> None:
    while True:
        time.sleep(_SWEEP_SECONDS)
        _sweep()


def mend() -> None:
    """Take the place of the emulator's own sweep."""
    dynamodb._build_change_record = _record
    dynamodb._remove_item = _remove
    threading.Thread(target=_sweep_forever, name=_SWEEPER, daemon=True).start()
