"""All that there is of a tenant: exported, or deleted to the last trace.

Both scan the tables, so they cost what the tables hold, not what the tenant holds.
"""

import base64
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from functions.platform.item_types import API_KEY

_FOLDERS = ("conversations", "objects")  # of the archive
_AT_ONCE = 25
_OBJECTS_AT_ONCE = 1000
_REMEMBERED = 61.0  # seconds for which a running function may remember a key
_API_KEYS = API_KEY.build_partition(sha256="")
_OF_TENANT = "begins_with(pk, :own) OR (begins_with(pk, :key) AND tenant = :tenant)"

Item = dict[str, Any]


@dataclass(frozen=True)
class Storage:
    """Where a deployment keeps its data; `bucket` is the archive, if there is one."""

    dynamodb: Any
    tables: tuple[str, ...]
    s3: Any = None
    bucket: str | None = None


def open_private(file: Path) -> TextIO:
    """Make a file that its owner alone may read; it must not be there yet."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    return os.fdopen(descriptor, "w", encoding="utf-8")


def export_tenant(storage: Storage, tenant: str, out: TextIO) -> dict[str, int]:
    """Writes all items and archived objects of a tenant as lines of JSON; return how many of each.

    Sealed values stay sealed.
    """
    counts: Counter[str] = Counter()
    for table in storage.tables:
        for item in _items(storage, table, tenant):
            out.write(json.dumps({"table": table, "item": item}, default=_base64) + "\n")
            counts[table] += 1
    for name in _objects(storage, tenant):
        body = storage.s3.get_object(Bucket=storage.bucket, Key=name)["Body"].read()
        out.write(json.dumps({"object": name, "body": _base64(body)}) + "\n")
        counts["archive"] += 1
    return dict(counts)


def delete_tenant(
    storage: Storage, tenant: str, wait: Callable[[float], object] = time.sleep
) -> dict[str, int]:
    """Delete all items and archived objects of a tenant; return how many of each.

    Its keys go first. Running functions remember a key for up to a minute, so this is repeated
    after that time, until nothing is found. Whatever cuts it off, it can be called again.
    """
    counts = _deleted(storage, tenant)
    while True:
        wait(_REMEMBERED)
        more = _deleted(storage, tenant)
        if not more:
            return dict(counts)
        counts += more


def _deleted(storage: Storage, tenant: str) -> Counter[str]:
    counts: Counter[str] = Counter()
    for table in storage.tables:
        keys = (
            {name: item[name] for name in ("pk", "sk")} for item in _items(storage, table, tenant)
        )
        ordered = sorted(
            keys, key=lambda key: (not key["pk"]["S"].startswith(_API_KEYS), key["pk"]["S"])
        )
        for start in range(0, len(ordered), _AT_ONCE):
            _delete(storage, table, ordered[start : start + _AT_ONCE])
        counts += Counter({table: len(ordered)})
    names = list(_objects(storage, tenant))
    for start in range(0, len(names), _OBJECTS_AT_ONCE):
        listed = [{"Key": name} for name in names[start : start + _OBJECTS_AT_ONCE]]
        storage.s3.delete_objects(Bucket=storage.bucket, Delete={"Objects": listed})
    return counts + Counter(archive=len(names))


def _items(storage: Storage, table: str, tenant: str) -> Iterator[Item]:
    pages = storage.dynamodb.get_paginator("scan").paginate(
        TableName=table,
        FilterExpression=_OF_TENANT,
        ExpressionAttributeValues={
            ":own": {"S": f"{tenant}#"},
            ":key": {"S": _API_KEYS},
            ":tenant": {"S": tenant},
        },
        ConsistentRead=True,
    )
    for page in pages:
        yield from page["Items"]


def _delete(storage: Storage, table: str, keys: list[Item]) -> None:
    wanted = [{"DeleteRequest": {"Key": key}} for key in keys]
    while wanted:
        answer = storage.dynamodb.batch_write_item(RequestItems={table: wanted})
        wanted = answer.get("UnprocessedItems", {}).get(table, [])


def _objects(storage: Storage, tenant: str) -> Iterator[str]:
    if storage.bucket is None:
        return
    pages = storage.s3.get_paginator("list_objects_v2")
    for folder in _FOLDERS:
        for page in pages.paginate(Bucket=storage.bucket, Prefix=f"{folder}/{tenant}/"):
            yield from (each["Key"] for each in page.get("Contents", ()))


def _base64(value: bytes) -> str:
    return base64.b64encode(value).decode()
