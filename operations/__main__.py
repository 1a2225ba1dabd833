"""Operate a deployment: `python -m operations [--name NAME] COMMAND`."""

import argparse
import json
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from functions.deletions.model import Subject, SubjectKind
from functions.platform.errors import ServiceError
from infra.config import Config, ConfigError
from operations import dead_letters, logs, regions, restore, root_key
from operations.deletion import build_container, run_deletion
from operations.deploying import DEFAULT_COMMAND, DeploymentFailed
from operations.deployment import Deployment, UnknownDeployment, client, follow_aws_region
from operations.estimate import Usage, estimate
from operations.preflight import check_account, render_findings
from operations.protection import protect, render_rollback_options
from operations.reattachment import StateNotFound, reattach
from operations.switches import get_switches, set_read_only
from operations.table_switch import NotKept, restore_into_service
from operations.tenant_data import Storage, export_tenant, open_private
from operations.versions import DeploymentInProgress, delete_old_versions, raise_data_version

_PROBLEMS = (
    BotoCoreError,
    ClientError,
    root_key.TenantNotCreated,
    ServiceError,
    UnknownDeployment,
    DeploymentInProgress,
    DeploymentFailed,
    NotKept,
    StateNotFound,
    FileExistsError,
    TimeoutError,
    ConfigError,
)


def main() -> int:
    """Run the command that the command line names; return the exit status."""
    options = _options()
    follow_aws_region()
    try:
        found = _run(options)
    except _PROBLEMS as error:
        sys.exit(f"operations: {error}")
    if found is not None:
        print(json.dumps(found, indent=2))
    has_left = options.command == "replay" and any(each["left"] for each in found.values())
    return 1 if has_left and not options.list else 0


def _run(options: argparse.Namespace) -> Any:
    if options.command == "reattach":  # this command creates the deployment
        return reattach(options.name, options.deploy, options.memory_table, options.log_table)
    if options.command == "estimate":
        names = [each.name for each in fields(Usage)]
        return estimate(Usage(**{name: getattr(options, name) for name in names}))
    if options.command == "preflight":
        return _preflight(options)
    if options.command == "rollback-options":
        return _print_rollback_options(options)
    return _COMMANDS[options.command](Deployment.find(options.name), options)


def _preflight(options: argparse.Namespace) -> None:
    """Print the findings; exit with status 1 if the deployment would fail."""
    context = dict(each.partition("=")[::2] for each in options.context)
    findings = check_account(options.name, Config.from_context({"stage": options.name, **context}))
    as_json = json.dumps([each._asdict() for each in findings], indent=2)
    print(as_json if options.json else render_findings(findings))
    if any(each.level == "error" for each in findings):
        sys.exit("operations: the deployment would fail; fix the errors above first")


def _print_rollback_options(options: argparse.Namespace) -> None:
    """Print nothing before a first deployment, or if a stack is in another Region."""
    if any(each.startswith("edge_domain_name=") for each in options.context):
        return
    with suppress(UnknownDeployment):
        print(render_rollback_options(Deployment.find(options.name)))


def _tail(deployment: Deployment, options: argparse.Namespace) -> None:
    now = time.time()  # noqa: TID251 - the operator's own time
    since = int((now - options.minutes * 60) * 1000)
    for line in logs.tail(deployment, options.function, since, follow=options.follow):
        print(line, flush=True)


def _set_read_only(deployment: Deployment, options: argparse.Namespace) -> dict[str, Any]:
    waiting: dict[str, Any] = {"wait": lambda _: None} if options.no_wait else {}
    return set_read_only(deployment, is_read_only=options.state == "on", **waiting)


def _export(deployment: Deployment, options: argparse.Namespace) -> dict[str, int]:
    with open_private(Path(options.file)) as out:
        return export_tenant(_storage(deployment), options.tenant, out)


def _delete(
    deployment: Deployment, options: argparse.Namespace, kind: SubjectKind
) -> dict[str, Any]:
    subject = Subject(options.tenant, kind, getattr(options, "id", None))
    return run_deletion(build_container(deployment), subject, is_preview=options.dry_run)


_COMMANDS: dict[str, Callable[[Deployment, argparse.Namespace], Any]] = {
    "create-tenant": lambda deployment, options: root_key.create_tenant(deployment, options.tenant),
    "rotate-root-key": lambda deployment, _: {"version": root_key.rotate_root_key(deployment)},
    "raise-data-version": lambda deployment, _: {"data_version": raise_data_version(deployment)},
    "protect": lambda deployment, _: protect(deployment),
    "tail-log": _tail,
    "replay": lambda deployment, options: dead_letters.replay(deployment, is_listing=options.list),
    "restore": lambda deployment, options: restore.restore(
        deployment, options.moment, options.suffix
    ),
    "restore-into-service": lambda deployment, options: restore_into_service(
        deployment, options.moment, options.suffix, options.deploy, Path(options.left_behind)
    ),
    "switches": lambda deployment, _: get_switches(deployment),
    "read-only": _set_read_only,
    "delete-old-versions": lambda deployment, options: delete_old_versions(
        deployment, options.keep, is_preview=options.dry_run
    ),
    "stop-region": lambda deployment, options: regions.stop_region(deployment, options.active),
    "start-region": lambda deployment, _: regions.start_region(deployment),
    "reconcile": lambda deployment, _: build_container(deployment).reconciler.run(),
    "export-tenant": _export,
    "delete-tenant": lambda deployment, options: _delete(deployment, options, "tenant"),
    "delete-agent": lambda deployment, options: _delete(deployment, options, "agent"),
    "delete-person": lambda deployment, options: _delete(deployment, options, "person"),
}


def _storage(deployment: Deployment) -> Storage:
    tables = deployment.outputs["MemoryTable"], deployment.outputs["LogTable"]
    return Storage(
        client("dynamodb"), tables, client("s3"), deployment.outputs.get("ArchiveBucket")
    )


_WITHOUT_OPTIONS = {
    "rotate-root-key": "replace the root key",
    "raise-data-version": "raise the data's version, so that older releases can't run any longer",
    "protect": "protect tables and stacks from deletion, if the deployment keeps its data",
    "switches": "print the switches that are set",
    "reconcile": "correct the counts of what tenants store, in two minutes or more",
}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m operations", description=__doc__)
    parser.add_argument("--name", default="dev", help="the deployment's name (default: dev)")
    commands = parser.add_subparsers(dest="command", required=True)
    add = commands.add_parser
    add("create-tenant", help="create a tenant, and print its admin's key").add_argument("tenant")
    _add_tail(add("tail-log", help="print a function's log"))
    _add_replay(add("replay", help="deliver the dead letters again; exit status 1 if any remain"))
    _add_restore(add("restore", help="restore both tables under other names"))
    switch = add("restore-into-service", help="restore both tables, and switch the service to them")
    _add_restore(switch)
    switch.add_argument(
        "left_behind", help="a new file for the items that only the old tables have"
    )
    reattach = add(
        "reattach", help="deploy on the tables and keys that a destroyed deployment left"
    )
    reattach.add_argument("--memory-table", help="its name, if there are several")
    reattach.add_argument("--log-table", help="its name, if there are several")
    for deploys in (switch, reattach):
        _add_deploy_line(deploys)
    for name, meaning in _WITHOUT_OPTIONS.items():
        add(name, help=meaning)
    _add_read_only(add("read-only", help="refuse writes, or accept them again"))
    _add_preflight(add("preflight", help="check the account before a deployment"))
    _add_context(add("rollback-options", help="print options for cdk deploy of a release"))
    _add_estimate(add("estimate", help="estimate the cost of a month"))
    _add_old_versions(add)
    _add_regions(add)
    _add_export(add("export-tenant", help="export all data of a tenant as JSON Lines"))
    _add_deletion(add("delete-tenant", help="delete a tenant permanently"))
    for kind in ("agent", "person"):
        _add_deletion(add(f"delete-{kind}", help=f"delete a tenant's {kind}")).add_argument("id")
    options, unknown = parser.parse_known_args()
    if unknown and not hasattr(options, "context"):  # which has all options of a deployment
        parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    return options


def _add_tail(tail: argparse.ArgumentParser) -> None:
    functions = ("Api", "Stream", "Schedule", "Embedding", "Learning", "TaskEvents")
    tail.add_argument("function", choices=functions)
    tail.add_argument(
        "--minutes", type=float, default=10, help="the minutes to go back (default: 10)"
    )
    tail.add_argument("--follow", action="store_true", help="wait for more lines")


def _at_least_one(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _add_deploy_line(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--deploy",
        default=DEFAULT_COMMAND,
        metavar="LINE",
        help="the command that deploys, with {context} at its end (default: %(default)s)",
    )


def _add_old_versions(add: Callable[..., argparse.ArgumentParser]) -> None:
    old = add("delete-old-versions", help="delete versions of functions that are not in use")
    old.add_argument(
        "--keep",
        type=_at_least_one,
        default=3,
        help="the number of newest versions to keep (default: 3)",
    )
    old.add_argument("--dry-run", action="store_true", help="list the versions, and delete nothing")


def _add_export(export: argparse.ArgumentParser) -> None:
    export.add_argument("tenant")
    export.add_argument("file", help="must not exist yet")


def _add_replay(replay: argparse.ArgumentParser) -> None:
    replay.add_argument("--list", action="store_true", help="only list them")


def _add_read_only(only: argparse.ArgumentParser) -> None:
    only.add_argument("state", choices=("on", "off"))
    only.add_argument("--no-wait", action="store_true", help="do not wait for the last write")


def _add_preflight(check: argparse.ArgumentParser) -> None:
    _add_context(check)
    check.add_argument("--json", action="store_true", help="print the findings as JSON")


def _add_context(command: argparse.ArgumentParser) -> None:
    command.add_argument("-c", dest="context", action="append", default=[], metavar="NAME=VALUE")


def _add_estimate(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("--agents", type=_parse_amount, default=0, help="the number of agents that talk")
    add("--turns", type=_parse_amount, default=0, help="turns of each agent in a month")
    add("--gets", type=_parse_amount, default=0, help="more reads of entries in a month")
    add("--puts", type=_parse_amount, default=0, help="more writes of entries in a month")
    add("--edge", action="store_true", help="with CloudFront and a firewall")
    add("--standby", action="store_true", help="with a second Region")
    add(
        "--backup-days",
        type=_parse_amount,
        default=0,
        help="with daily backups, and days to keep each",
    )
    add(
        "--model-in",
        type=_parse_amount,
        default=0,
        help="USD for a million tokens to a learning model",
    )
    add(
        "--model-out", type=_parse_amount, default=0, help="USD for a million tokens of its answers"
    )


def _parse_amount(given: str) -> float:
    try:
        amount = float(given) if "." in given else int(given)
    except ValueError:
        amount = -1
    if amount < 0:
        raise argparse.ArgumentTypeError("must be 0 or more")
    return amount


def _add_restore(command: argparse.ArgumentParser) -> None:
    command.add_argument("moment", help="an RFC 3339 time, or: latest")
    command.add_argument("suffix", help="appended to the tables' names")


def _add_regions(add: Callable[..., argparse.ArgumentParser]) -> None:
    stop = add("stop-region", help="stop writing in this Region, so that another Region can write")
    stop.add_argument("active", help="the Region that writes from now on, such as eu-west-1")
    add("start-region", help="start writing in this Region, and reconcile its counters")


def _add_deletion(command: argparse.ArgumentParser) -> argparse.ArgumentParser:
    command.add_argument("tenant")
    meant = command.add_mutually_exclusive_group(required=True)
    meant.add_argument("--yes", dest="dry_run", action="store_false", help="delete")
    meant.add_argument("--dry-run", action="store_true", help="count the items, and delete nothing")
    return command


if __name__ == "__main__":
    sys.exit(main())
