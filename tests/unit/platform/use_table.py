"""Use a table by whatever botocore is importable, and print what came of it as JSON.

`test_aws.py` runs this in processes of their own, against a server with prepared responses.
"""

import json

import botocore

from functions.platform.aws import create_client
from functions.platform.table import ConditionFailed, Table
from functions.platform.writes import put

KEY = ("partition", "sort")


def use_table() -> dict[str, object]:
    """Put, get, fail a condition, fail a transaction's condition, and list tables after a 500."""
    client = create_client("dynamodb")
    table = Table(client, "memory")
    results: dict[str, object] = {"botocore": botocore.__version__}
    table.put(put(KEY, {"n": 1, "b": b"\x00\xff"}))
    results["item"] = repr(table.get(KEY))
    try:
        table.put(put(KEY, {}, "attribute_not_exists(pk)"))
    except ConditionFailed as failed:
        results["put"] = repr(failed.item)
    try:
        table.transact([put(KEY, {}, "attribute_not_exists(pk)")])
    except ConditionFailed as refused:
        results["transaction"] = repr(refused.failed)
    results["attempts"] = client.list_tables()["ResponseMetadata"]["RetryAttempts"] + 1
    return results


if __name__ == "__main__":
    print(json.dumps(use_table()))  # noqa: T201 - its caller reads it
