"""Restored tables take the place of those in use, while writes wait for less than a minute."""

import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from functions.containers.deletion import DeletionContainer
from functions.platform.clock import now_ms
from operations.deletion import build_container
from operations.deploying import render_context, run_deployment
from operations.deployment import Deployment, client
from operations.read_only import set_read_only
from operations.restore import TABLES, copy_deletions, restore
from operations.table_comparison import compare_tables
from operations.tenant_data import open_private
from operations.versions import change_variables, get_variables

_FOLLOWERS = ("Stream", "Embedding", "Schedule", "TaskEvents")  # the API is the last to switch
_STREAM_READERS = ("Stream", "Embedding")
_MAPPING_SECONDS = 300


class NotKept(Exception):
    """The tables in use would be deleted when others take their place."""


@dataclass(frozen=True)
class TablePair:
    """The names of a memory table and its log table."""

    memory: str
    log: str

    @classmethod
    def of_deployment(cls, deployment: Deployment) -> "TablePair":
        """Return the tables that a deployment says it uses."""
        return cls(*(deployment.outputs[name] for name in TABLES))

    @property
    def names(self) -> tuple[str, str]:
        """Both names, in the order of `TABLES`."""
        return self.memory, self.log

    @property
    def variables(self) -> dict[str, str]:
        """The variables by which a function uses them."""
        return {"MEMORY_TABLE": self.memory, "LOG_TABLE": self.log}

    def build_context(self, prefix: str = "") -> dict[str, str]:
        """Build the context by which a deployment refers to them."""
        memory, log = (describe_table(name) for name in (self.memory, self.log))
        return {
            f"{prefix}memory_stream_arn": memory["LatestStreamArn"],
            f"{prefix}log_table_arn": log["TableArn"],
        }


def restore_into_service(
    deployment: Deployment, moment: str, suffix: str, command: str, left_behind: Path
) -> dict[str, Any]:
    """Restore both tables to a moment, and let them take the place of those in use.

    It can be cut off at any time and called again. First a deployment lets the functions use both
    pairs of tables; then writes are refused, the functions move, the API last; a second deployment
    makes that the stack's own state. Changes of the old table that haven't been processed by then
    are processed on the old tables, by the version that knows these.

    Args:
        moment: RFC 3339, within the last 35 days; or `latest`.
        suffix: what the new tables' names have behind the old ones'.
        command: the line that deploys (`run_deployment`).
        left_behind: a file that must not be there yet, for what the old tables alone have.

    Returns:
        How long writes were refused, what differs between the tables, and the context that all
        deployments need from now on.

    Raises:
        NotKept: the tables in use aren't protected from deletion.
        DeploymentInProgress: a new version is taking over.
        DeploymentFailed: a deployment failed.
    """
    current = TablePair.of_deployment(deployment)
    old = TablePair(*(name.removesuffix(f"-{suffix}") for name in current.names))
    new = TablePair(*(f"{name}-{suffix}" for name in old.names))
    _check_kept(old)
    if left_behind.exists():
        raise FileExistsError(f"{left_behind} is there: name a file that isn't")
    report: dict[str, Any] = {"refused_seconds": 0.0}
    if current == old:
        report |= restore(deployment, moment, suffix)
        report["refused_seconds"] = round(_switch(deployment, old, new, command), 1)
    with open_private(left_behind) as out:
        report["differences"] = {
            name: compare_tables(client("dynamodb"), before, after, out)
            for name, before, after in zip(TABLES, old.names, new.names, strict=True)
        }
    return report | {"context": render_context(new.build_context())}


def _switch(deployment: Deployment, old: TablePair, new: TablePair, command: str) -> float:
    """Let the stack use other tables; return the seconds for which writes were refused."""
    refused_seconds = 0.0
    if get_variables(deployment, "Api")["MEMORY_TABLE"] == old.memory:
        run_deployment(command, deployment.name, new.build_context("also_"))
        refused_seconds = _move_functions(deployment, old, new)
    build_container(deployment).get(DeletionContainer).deletions.take_permissions_again()
    context = new.build_context() | old.build_context("also_")
    run_deployment(command, deployment.name, context)
    return refused_seconds


def describe_table(name: str) -> dict[str, Any]:
    """Describe a table."""
    found: dict[str, Any] = client("dynamodb").describe_table(TableName=name)["Table"]
    return found


def _check_kept(tables: TablePair) -> None:
    for name in tables.names:
        if not describe_table(name).get("DeletionProtectionEnabled"):
            raise NotKept(
                f"{name} isn't protected from deletion, and would be gone with its place:"
                " deploy with -c retain=true first"
            )


def _move_functions(deployment: Deployment, old: TablePair, new: TablePair) -> float:
    """Move all functions to other tables; return the seconds for which writes were refused."""
    _pin_mappings(deployment, old)
    began = time.monotonic()
    set_read_only(deployment, is_read_only=True)
    copy_deletions(deployment, old.memory, new.memory, now_ms)
    followers = [name for name in _FOLLOWERS if f"{name}Function" in deployment.outputs]
    # all get the switch: the deployment that follows needs a function unlike its last version
    variables: Mapping[str, str] = {**new.variables, "READ_ONLY": "0"}
    with ThreadPoolExecutor(len(followers)) as pool:
        list(pool.map(lambda name: change_variables(deployment, name, variables), followers))
    change_variables(deployment, "Api", variables)
    return time.monotonic() - began


def _pin_mappings(deployment: Deployment, old: TablePair) -> None:
    """Have the old table's changes processed by the versions that use the old tables."""
    stream = describe_table(old.memory)["LatestStreamArn"]
    for name in _STREAM_READERS:
        if f"{name}Function" not in deployment.outputs:
            continue
        if get_variables(deployment, name)["MEMORY_TABLE"] == old.memory:
            _pin_mapping(deployment, name, stream)


def _pin_mapping(deployment: Deployment, name: str, stream: str) -> None:
    functions, function = client("lambda"), deployment.function(name)
    alias = functions.get_alias(FunctionName=function, Name=deployment.outputs["Alias"])
    pages = functions.get_paginator("list_event_source_mappings").paginate(EventSourceArn=stream)
    for mapping in (each for page in pages for each in page["EventSourceMappings"]):
        if f":function:{function}" in mapping["FunctionArn"]:
            pinned = f"{function}:{alias['FunctionVersion']}"
            functions.update_event_source_mapping(UUID=mapping["UUID"], FunctionName=pinned)
            _await_mapping(functions, mapping["UUID"])


def _await_mapping(functions: Any, uuid: str) -> None:
    """Wait until a mapping has changed.

    Raises:
        TimeoutError: it hasn't within five minutes.
    """
    for _ in range(_MAPPING_SECONDS):
        if functions.get_event_source_mapping(UUID=uuid)["State"] == "Enabled":
            return
        time.sleep(1)
    raise TimeoutError(f"the event source mapping {uuid} isn't enabled: look at it, and continue")
