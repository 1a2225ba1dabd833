"""Set the switches of running functions (`functions.platform.switches`)."""

import json
import time
from collections.abc import Callable
from typing import Any

from functions.platform.limits import SWITCH_SECONDS
from operations.deployment import Deployment, client

_WRITERS = ("Api", "Schedule", "TaskEvents")  # the stream processes the writes of these
Wait = Callable[[float], object]


def get_switches(deployment: Deployment) -> dict[str, Any]:
    """Return the switches that are set; the others are as deployed."""
    ssm = client("ssm")
    try:
        found = ssm.get_parameter(Name=deployment.outputs["Switches"])
    except ssm.exceptions.ParameterNotFound:
        return {}
    switches: dict[str, Any] = json.loads(found["Parameter"]["Value"])
    return switches


def set_switches(deployment: Deployment, **changes: Any) -> dict[str, Any]:
    """Set switches (None: as deployed); return all that are set.

    A write that has begun, or that an instance accepts before it reads the parameter again, can
    still take place. `await_switches` waits for the end of these.
    """
    before = get_switches(deployment)
    switches = {name: value for name, value in (before | changes).items() if value is not None}
    name = deployment.outputs["Switches"]
    if switches:
        text = json.dumps(switches)
        client("ssm").put_parameter(Name=name, Value=text, Type="String", Overwrite=True)
    elif before:
        client("ssm").delete_parameter(Name=name)
    return switches


def await_switches(deployment: Deployment, wait: Wait = time.sleep) -> float:
    """Wait until all functions follow the switches; return the seconds."""
    present = [name for name in _WRITERS if f"{name}Function" in deployment.outputs]
    found = (
        client("lambda").get_function_configuration(FunctionName=deployment.alias_of(name))
        for name in present
    )
    seconds = float(SWITCH_SECONDS + max(each["Timeout"] for each in found))
    wait(seconds)
    return seconds


def set_read_only(
    deployment: Deployment, *, is_read_only: bool, wait: Wait = time.sleep
) -> dict[str, Any]:
    """Switch the service to read-only, or back to what is deployed; return the switches.

    While it is read-only, the API answers writes with 503 and Retry-After, and the schedule does
    nothing. Task events of other systems are retried, and then sent to their dead-letter queue.
    It returns when the last write has ended.
    """
    switches = set_switches(deployment, read_only=True if is_read_only else None)
    if is_read_only:
        await_switches(deployment, wait)
    return switches
