"""Replace the tables in use by restored ones; writes are refused for two minutes."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from functions.platform.clock import now_ms
from operations.deletion import build_container
from operations.deploying import render_context, run_deployment
from operations.deployment import Deployment, client
from operations.restore import TABLES, copy_deletions, restore
from operations.switches import Wait, get_switches, set_read_only, set_switches
from operations.table_comparison import compare_tables
from operations.tenant_data import open_private
from operations.versions import get_variables

_STREAM_READERS = ("Stream", "Embedding", "Learning")
_MAPPING_SECONDS = 300


class NotKept(Exception):
    """The tables in use would be deleted when others replace them."""


@dataclass(frozen=True)
class TablePair:
    """The names of a memory table and its log table."""

    memory: str
    log: str

    @classmethod
    def of_deployment(cls, deployment: Deployment) -> "TablePair":
        """Return the tables that a deployment uses."""
        return cls(*(deployment.outputs[name] for name in TABLES))

    @property
    def names(self) -> tuple[str, str]:
        """Return both names, in the order of `TABLES`."""
        return self.memory, self.log

    @property
    def switches(self) -> dict[str, str]:
        """Return the switches that select them."""
        return {"memory_table": self.memory, "log_table": self.log}

    def build_context(self, prefix: str = "") -> dict[str, str]:
        """Build the context that names them in a deployment."""
        memory, log = (describe_table(name) for name in (self.memory, self.log))
        return {
            f"{prefix}memory_stream_arn": memory["LatestStreamArn"],
            f"{prefix}log_table_arn": log["TableArn"],
        }


def restore_into_service(
    deployment: Deployment,
    moment: str,
    suffix: str,
    command: str,
    left_behind: Path,
    wait: Wait = time.sleep,
) -> dict[str, Any]:
    """Restore both tables to a moment, and replace the tables in use by them.

    If it is interrupted, call it again. It has three steps:

    1. A deployment permits the functions to use both pairs of tables.
    2. Writes are refused until the last one has ended. Then a switch selects the new tables.
    3. A second deployment records the new tables in the stack, and ends the switch.

    Unprocessed changes of the old table are processed by the versions that use the old tables.

    Args:
        moment: an RFC 3339 time within the last 35 days, or `latest`.
        suffix: appended to the tables' names.
        command: the line that deploys (`run_deployment`).
        left_behind: a new file for the items that only the old tables have.
        wait: waits for a number of seconds.

    Returns:
        The seconds for which writes were refused, the differences between the tables, and the
        context that all later deployments need.

    Raises:
        NotKept: the tables in use aren't protected from deletion.
        DeploymentFailed: a deployment failed.
    """
    current = TablePair.of_deployment(deployment)
    old = TablePair(*(name.removesuffix(f"-{suffix}") for name in current.names))
    new = TablePair(*(f"{name}-{suffix}" for name in old.names))
    _check_kept(old)
    if left_behind.exists():
        raise FileExistsError(f"{left_behind} exists: name a new file")
    report: dict[str, Any] = {"refused_seconds": 0.0}
    if current == old:
        report |= restore(deployment, moment, suffix, wait=wait)
        report["refused_seconds"] = round(_switch(deployment, old, new, command, wait), 1)
    set_switches(deployment, memory_table=None, log_table=None)
    with open_private(left_behind) as out:
        report["differences"] = {
            name: compare_tables(client("dynamodb"), before, after, out)
            for name, before, after in zip(TABLES, old.names, new.names, strict=True)
        }
    return report | {"context": render_context(new.build_context())}


def _switch(
    deployment: Deployment, old: TablePair, new: TablePair, command: str, wait: Wait
) -> float:
    """Switch the stack to other tables; return the seconds for which writes were refused."""
    refused_seconds = 0.0
    if get_switches(deployment).get("memory_table") != new.memory:
        run_deployment(command, deployment.name, new.build_context("also_"))
        refused_seconds = _move_functions(deployment, old, new, wait)
    build_container(deployment).deletions.take_permissions_again()
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
                f"{name} is not protected from deletion, and would be deleted with its stack: "
                "first deploy with -c retain=true"
            )


def _move_functions(deployment: Deployment, old: TablePair, new: TablePair, wait: Wait) -> float:
    """Switch all functions to other tables; return the seconds for which writes were refused.

    An instance allows writes when it has read the new tables' names, within 30 seconds.
    """
    _pin_mappings(deployment, old)
    began = time.monotonic()
    set_read_only(deployment, is_read_only=True, wait=wait)
    copy_deletions(deployment, old.memory, new.memory, now_ms)
    set_switches(deployment, read_only=None, **new.switches)
    return time.monotonic() - began


def _pin_mappings(deployment: Deployment, old: TablePair) -> None:
    """Process the old table's remaining changes with the versions that use the old tables."""
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
        TimeoutError: the mapping did not change within five minutes.
    """
    for _ in range(_MAPPING_SECONDS):
        if functions.get_event_source_mapping(UUID=uuid)["State"] == "Enabled":
            return
        time.sleep(1)
    raise TimeoutError(
        f"the event source mapping {uuid} is not enabled; enable it, and repeat this command"
    )
