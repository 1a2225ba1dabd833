"""The course of the day: steps one by one, stored in a file, with a cleanup at the end."""

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import FrameType
from typing import Any

from operations.aws_day.calling import Caller
from operations.deploying import run_deployment
from operations.deployment import Deployment
from operations.root_key import create_tenant

APP, FAULTY_APP = "infra.app", "operations.aws_day.faults"
Facts = dict[str, Any]
Find = Callable[[str], Deployment]


class Interrupted(BaseException):
    """A signal ended the day; its resources are cleaned up."""


class NotApplicable(Exception):
    """A step can't run with the options of this day; the message has the reason."""


class StepFailed(Exception):
    """The deployment does not behave as expected."""


@dataclass
class Day:
    """A day on an account.

    Attributes:
        name: the deployment's unique name, which begins with `day`.
        file: stores the results of the steps, so that an interrupted day can continue.
        command: the line that deploys (`run_deployment`), with {app} for the CDK app.
        context: options of each deployment.
        standby: the Region for the step of that name; None to skip it.
        find: finds a deployment by its name.
    """

    name: str
    file: Path
    command: str
    context: dict[str, str]
    standby: str | None = None
    find: Find = Deployment.find
    calls: int = 1000
    threads: int = 16
    state: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.state and self.file.exists():
            self.state = json.loads(self.file.read_text("utf-8"))
        self.state.setdefault("steps", {})
        self.state.setdefault("context", {})

    @property
    def names(self) -> tuple[str, str]:
        """The deployments of the day: for all steps, and for the failing creation."""
        return self.name, f"{self.name}-f"

    @property
    def deployment(self) -> Deployment:
        return self.find(self.name)

    @cached_property
    def admin(self) -> Caller:
        """The tenant's administrator; the tenant is created at first."""
        if "key" not in self.state:
            made = create_tenant(self.deployment, "day")
            self.save(key=made["api_key"])
        return Caller(self.deployment.outputs["ApiUrl"], self.state["key"])

    def agent(self, name: str) -> Caller:
        """Return an agent; create it at its first use."""
        keys = self.state.setdefault("agents", {})
        if name not in keys:
            body = {"id": name, "kind": "agent"}
            keys[name] = self.admin.expect(201, "POST", "/api/v1/principals", body)["api_key"]
            self.save()
        return Caller(self.deployment.outputs["ApiUrl"], keys[name])

    def deploy(self, name: str = "", fault: str | None = None, **context: str) -> float:
        """Deploy with additional context; return the seconds."""
        began = time.monotonic()
        given = {"retain": "true", **self.context, **self.state["context"], **context}
        if fault is not None:
            given["day_fault"] = fault
        run_deployment(self.line(fault), name or self.name, given)
        return round(time.monotonic() - began, 1)

    def line(self, fault: str | None = None) -> str:
        """Return the line that deploys, with {name} and {context} still in it."""
        return self.command.replace("{app}", APP if fault is None else FAULTY_APP)

    def save(self, **changes: Any) -> None:
        """Keep the state; only its owner can read it, since it has keys of the day's tenant."""
        self.state |= changes
        self.file.parent.mkdir(parents=True, exist_ok=True)
        draft = self.file.with_suffix(".new")
        draft.touch(mode=0o600)
        draft.write_text(json.dumps(self.state, indent=2), "utf-8")
        draft.replace(self.file)


def await_true(check: Callable[[], Any], what: str, seconds: float = 900.0) -> float:
    """Wait until a condition holds; return the seconds.

    Raises:
        StepFailed: the condition does not hold in time.
    """
    began = time.monotonic()
    while not check():
        if time.monotonic() - began > seconds:
            raise StepFailed(f"{what}: not within {seconds:.0f} s")
        time.sleep(0.5)
    return round(time.monotonic() - began, 1)


def expect(is_right: object, problem: str) -> None:
    """Fail the step with a problem.

    Raises:
        StepFailed: the condition does not hold.
    """
    if not is_right:
        raise StepFailed(problem)


Step = Callable[[Day], Facts]


def run_steps(day: Day, steps: list[Step], show: Callable[[str], None] = print) -> None:
    """Run the remaining steps; a failing step doesn't end the day."""
    for step in steps:
        name = step.__name__.replace("_", " ")
        if day.state["steps"].get(name, {}).get("status") in ("done", "skipped"):
            continue
        show(f"{name} …")
        began = time.monotonic()
        result = _run_step(day, step)
        result["seconds"] = round(time.monotonic() - began, 1)
        day.state["steps"][name] = result
        day.save()
        show(f"{name}: {result['status']} after {result['seconds']} s {result['facts']}")


def _run_step(day: Day, step: Step) -> dict[str, Any]:
    try:
        return {"status": "done", "facts": step(day)}
    except NotApplicable as error:
        return {"status": "skipped", "facts": {"reason": str(error)}}
    except Exception as error:  # noqa: BLE001 - whatever fails, the other steps are measured
        return {"status": "failed", "facts": {"reason": f"{type(error).__name__}: {error}"}}


@contextmanager
def interruptible() -> Iterator[None]:
    """Convert signals that end a process to an exception, so that the cleanup still runs."""

    def interrupt(number: int, _frame: FrameType | None) -> None:
        raise Interrupted(signal.Signals(number).name)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {each: signal.signal(each, interrupt) for each in signals}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def find_commit() -> str:
    """Return the deployed commit."""
    line = ("git", "describe", "--always", "--dirty")
    ran = subprocess.run(line, capture_output=True, text=True, check=False)  # noqa: S603 - fixed words
    return ran.stdout.strip() or "unknown"


@contextmanager
def in_region(region: str) -> Iterator[None]:
    """Use another Region for all calls and commands of the block."""
    names = ("AWS_REGION", "AWS_DEFAULT_REGION", "CDK_DEFAULT_REGION")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, region))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
