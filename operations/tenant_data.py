"""Export all data of a tenant.

It scans the tables, so its cost grows with the size of the tables, not of the tenant.
"""

import base64
import json
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from functions.platform.item_types import API_KEY

_FOLDERS = ("conversations", "objects")  # folders of the archive
_API_KEYS = API_KEY.build_partition(sha256="")
_OF_TENANT = "begins_with(pk, :own) OR (begins_with(pk, :key) AND tenant = :tenant)"

Item = dict[str, Any]


@dataclass(frozen=True)
class Storage:
    """The tables and the archive of a deployment; `bucket` is None without an archive."""

    dynamodb: Any
    tables: tuple[str, ...]
    s3: Any = None
    bucket: str | None = None


def open_private(file: Path) -> TextIO:
    """Create a file that only its owner can read; fail if it exists."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    return os.fdopen(descriptor, "w", encoding="utf-8")


def export_tenant(storage: Storage, tenant: str, out: TextIO) -> dict[str, int]:
    """Write all items and archived objects of a tenant as JSON Lines; return the number of each.

    Encrypted values remain encrypted.
    """
    counts: Counter[str] = Counter()
    for table in storage.tables:
        for item in _items(storage, table, tenant):
            out.write(json.dumps({"table": table, "item": item}, default=encode_bytes) + "\n")
            counts[table] += 1
    for name in _objects(storage, tenant):
        body = storage.s3.get_object(Bucket=storage.bucket, Key=name)["Body"].read()
        out.write(json.dumps({"object": name, "body": encode_bytes(body)}) + "\n")
        counts["archive"] += 1
    return dict(counts)


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


def _objects(storage: Storage, tenant: str) -> Iterator[str]:
    if storage.bucket is None:
        return
    pages = storage.s3.get_paginator("list_objects_v2")
    for folder in _FOLDERS:
        for page in pages.paginate(Bucket=storage.bucket, Prefix=f"{folder}/{tenant}/"):
            yield from (each["Key"] for each in page.get("Contents", ()))


def encode_bytes(value: bytes) -> str:
    """Render bytes as base64."""
    return base64.b64encode(value).decode()
