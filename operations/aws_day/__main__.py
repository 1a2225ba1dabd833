"""Spend a day on an AWS account: `make aws-day STAGE=day`."""

import argparse
import re
import sys
from pathlib import Path

from botocore.exceptions import BotoCoreError, ClientError

from operations.aws_day.cleanup import clean_up
from operations.aws_day.day import Day, find_commit, interruptible, run_steps
from operations.aws_day.report import find_cost, now_text, render
from operations.aws_day.steps import STEPS, describe_steps
from operations.deployment import Deployment, UnknownDeployment, client, follow_aws_region
from operations.estimate import Usage, estimate

_NAME = re.compile(r"day(-[a-z][a-z0-9]*)*")
_LONGEST_NAME = 18
_COMMAND = 'make deploy STAGE={name} APPROVAL=never APP={app} CONTEXT="{context}"'
_LOAD_USD = 5.0  # the maximum cost of a day's requests, builds and copies


def main() -> int:
    """Run the day, or continue it; return 1 if a step failed or something is left."""
    options = _options()
    follow_aws_region()
    context = dict(each.partition("=")[::2] for each in options.context)
    file = Path(".build/aws-day") / f"{options.stage}.json"
    day = Day(options.stage, file, options.deploy, context, options.standby)
    if options.dry_run:
        print(plan(day))
        return 0
    account = _find_account()
    if account is None:
        print("aws-day: skipped, since there are no credentials of an AWS account")
        return 0
    return run(day, Path(options.report), keep=options.keep)


def run(day: Day, report: Path, *, keep: bool = False) -> int:
    """Run the remaining steps, clean up in any case, and write the report."""
    if "ended" not in day.state:
        _begin(day)
        try:
            with interruptible():
                run_steps(day, STEPS)
            day.save(ended=now_text())
        finally:
            if not keep:
                _clean_up(day)
    elif day.state.get("left") != []:
        _clean_up(day)
    if "cost" not in day.state:
        try:
            day.save(cost=find_cost(day))
        except (BotoCoreError, ClientError) as error:
            print(f"aws-day: the cost is not available: {error}", file=sys.stderr)
        if day.state.get("cost") is None:
            day.state.pop("cost", None)
    report.write_text(render(day), "utf-8")
    print(f"aws-day: {report}")
    has_failed = any(each["status"] == "failed" for each in day.state["steps"].values())
    return int(has_failed or bool(day.state.get("left")))


def _begin(day: Day) -> None:
    """Record the start of the day; reject the name of another deployment.

    Raises:
        SystemExit: another deployment has the name.
    """
    if "began" in day.state:
        if day.state.get("left") == []:  # its deployment is gone, and so are its results' tables
            day.state = {"steps": {}, "context": {}}
        else:
            return
    for name in day.names:
        try:
            Deployment.find(name)
        except UnknownDeployment:
            continue
        sys.exit(f"aws-day: {name} is deployed already, and not by this day: choose another STAGE")
    region = client("sts").meta.region_name
    day.save(began=now_text(), region=region, commit=find_commit())


def _clean_up(day: Day) -> None:
    print("clean up …")
    day.save(left=clean_up(day))


def _find_account() -> str | None:
    try:
        account: str = client("sts").get_caller_identity()["Account"]
    except (BotoCoreError, ClientError):
        return None
    return account


def plan(day: Day) -> str:
    """Render the steps of a day, without an account."""
    skipped = {
        "standby and back": "no --standby REGION" if day.standby is None else "",
        "edge": "" if "edge_domain_name" in day.context else "no -c edge_domain_name=…",
        "index": "" if day.context.get("vector_index") == "true" else "no -c vector_index=true",
    }
    usage = Usage(standby=day.standby is not None, edge="edge_domain_name" in day.context)
    fixed = sum(estimate(usage)["fixed"].values())
    lines = [f"A day with the deployments {' and '.join(day.names)}. Nothing is called now.", ""]
    for number, (name, meaning) in enumerate(describe_steps().items(), 1):
        reason = skipped.get(name)
        lines.append(f"{number:2} {name}: {meaning}{f' SKIPPED: {reason}' if reason else ''}")
    lines += [
        "",
        f"Deploys by: {day.line().format(name=day.name, context='-c retain=true …')}",
        "Then it deletes the stacks, tables, bucket, secrets, logs, and parameters of both names,",
        "and schedules the deletion of their keys; after a signal or an error, too.",
        f"It writes its results to {day.file} after each step, and continues there.",
        f"Cost: at most {fixed + _LOAD_USD:.0f} USD. Repeat the command a day later for the bill.",
    ]
    return "\n".join(lines)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make aws-day", description=__doc__)
    add = parser.add_argument
    add("--stage", type=_name, required=True, help="the deployment's name: day, or day-WORD")
    add("-c", dest="context", action="append", default=[], metavar="NAME=VALUE")
    add("--dry-run", action="store_true", help="print the steps, and call nothing")
    add("--standby", metavar="REGION", help="a second Region for the step of that name")
    add("--keep", action="store_true", help="don't clean up, so that the day can continue")
    add("--deploy", default=_COMMAND, metavar="LINE", help="the command that deploys")
    add("--report", default="docs/explanation/a-day-on-aws.md", metavar="FILE")
    return parser.parse_args()


def _name(text: str) -> str:
    if not _NAME.fullmatch(text) or len(text) > _LONGEST_NAME:
        raise argparse.ArgumentTypeError(
            "must be day, or begin with day-, and have at most 18 letters: everything of this name"
            " is deleted at the end"
        )
    return text


if __name__ == "__main__":
    sys.exit(main())
