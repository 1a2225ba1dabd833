"""Deploy again on the data of a destroyed deployment."""

from collections.abc import Iterator
from typing import Any

from operations.deploying import render_context, run_deployment
from operations.deployment import Deployment, UnknownDeployment, client
from operations.switches import set_switches
from operations.table_switch import TablePair

_KEYS = {"storage_key_arn": "what is stored", "values_key_arn": "the data keys of sensitive values"}
_ROOT_KEY = "the operator's key, which makes tenants"


class StateNotFound(Exception):
    """A kept resource does not exist, or exists more than once; the message names it."""


def reattach(
    name: str, command: str, memory_table: str | None = None, log_table: str | None = None
) -> dict[str, str]:
    """Deploy on the tables, keys, bucket and root key of a destroyed deployment.

    Args:
        command: the line that deploys (`run_deployment`).
        memory_table, log_table: their names, if a restore left more than one of them.

    Returns:
        The context that all later deployments need.

    Raises:
        StateNotFound: a resource is missing or exists twice, or the deployment still exists.
        DeploymentFailed: the deployment failed.
    """
    _check_destroyed(name)
    context = find_state(name, memory_table, log_table)
    run_deployment(command, name, context)
    # an interrupted restore has left a switch to tables that the functions may not use
    set_switches(Deployment.find(name), memory_table=None, log_table=None)
    return {"context": render_context(context)}


def find_state(name: str, memory_table: str | None, log_table: str | None) -> dict[str, str]:
    """Find the resources that a deployment has kept, as context for the next one.

    Raises:
        StateNotFound: a resource is missing or exists more than once.
    """
    tables = list(_list_tables())
    found = TablePair(
        memory_table or _find_one_table(tables, f"agent-memory-{name}-memory"),
        log_table or _find_one_table(tables, f"agent-memory-{name}-log"),
    )
    return {
        **found.build_context(),
        **{option: _find_key(f"agent-memory {name}: {use}") for option, use in _KEYS.items()},
        "archive_bucket": _find_bucket(name),
        "root_key_arn": _find_secret(f"agent-memory {name}: {_ROOT_KEY}"),
    }


def _check_destroyed(name: str) -> None:
    try:
        Deployment.find(name)
    except UnknownDeployment:
        return
    raise StateNotFound(
        f"the deployment {name} still exists; destroy it before you re-attach its data"
    )


def _list_tables() -> Iterator[str]:
    for page in client("dynamodb").get_paginator("list_tables").paginate():
        yield from page["TableNames"]


def _find_one_table(tables: list[str], own: str) -> str:
    """Find the table of this name; fail if restored tables exist, too."""
    found = [each for each in tables if each == own or each.startswith(f"{own}-")]
    return _get_only(found, f"table {own}", "choose with --memory-table and --log-table")


def _find_key(description: str) -> str:
    kms = client("kms")
    pages = kms.get_paginator("list_keys").paginate()
    keys = (
        kms.describe_key(KeyId=key["KeyId"])["KeyMetadata"]
        for page in pages
        for key in page["Keys"]
    )
    found = [
        key["Arn"]
        for key in keys
        if key["Description"] == description and key["KeyState"] == "Enabled"
    ]
    return _get_only(found, f"enabled key with the description {description!r}", _BY_CONTEXT)


def _find_secret(description: str) -> str:
    pages = client("secretsmanager").get_paginator("list_secrets").paginate()
    secrets = (each for page in pages for each in page["SecretList"])
    found = [each["ARN"] for each in secrets if each.get("Description") == description]
    return _get_only(found, f"secret with the description {description!r}", _BY_CONTEXT)


def _find_bucket(name: str) -> str:
    sts: Any = client("sts")
    account, region = sts.get_caller_identity()["Account"], sts.meta.region_name
    bucket = f"agent-memory-{name}-{account}-{region}"
    buckets = [each["Name"] for each in client("s3").list_buckets()["Buckets"]]
    found = [each for each in buckets if each == bucket]
    return _get_only(found, f"bucket {bucket}", _BY_CONTEXT)


_BY_CONTEXT = "name the right one in the context of a deployment (docs/reference/deployment.md)"


def _get_only(found: list[str], what: str, otherwise: str) -> str:
    if len(found) == 1:
        return found[0]
    listed = f": {', '.join(found)}" if found else ""
    raise StateNotFound(f"expected one {what}, found {len(found)}{listed}; {otherwise}")
