"""CodeDeploy by AWS's rules. The alias then moves at once, since the emulator ignores weights.

A deployment fails if the alias isn't at the version that the stack recorded, if an alarm of the
function's group is raised, or if the pre-traffic hook doesn't report success.
"""

import json
from typing import Any

from ministack import app
from ministack.core import router
from ministack.core.responses import get_region
from ministack.services import cloudwatch, lambda_svc
from ministack.services.cloudformation import provisioners, stacks

Properties = dict[str, Any]
_ALIAS = "AWS::Lambda::Alias"
_KINDS = ("AWS::CodeDeploy::Application", "AWS::CodeDeploy::DeploymentGroup")

_alarms: dict[str, list[str]] = {}  # the names of a group's alarms, by its Region and id
_reports: dict[str, str] = {}  # what hooks have reported, by their executions
_move = provisioners._lambda_alias_update
_is_slow = stacks._runs_on_worker_thread


def _create(logical_id: str, properties: Properties, stack: str) -> tuple[str, Properties]:
    id = f"{get_region()}/{stack}-{logical_id}"
    watched = properties.get("AlarmConfiguration", {}).get("Alarms", ())
    _alarms[id] = [each["Name"] for each in watched]
    return id, {}


def _delete(physical_id: str, _properties: Properties) -> None:
    _alarms.pop(physical_id, None)


def _deploy(
    physical_id: str, old: Properties, new: Properties, stack: str, logical_id: str | None = None
) -> tuple[str, Properties]:
    version = new.get("FunctionVersion")
    if old.get("FunctionVersion") != version:
        name = provisioners._lambda_function_for_cfn_ref(old["FunctionName"])[1]
        _check_place(name, old)
        _check_alarms(name)
        _ask_hook(name, str(version))
    moved: tuple[str, Properties] = _move(physical_id, old, new, stack, logical_id)
    return moved


def _check_place(function: str, recorded: Properties) -> None:
    alias = lambda_svc._functions[function]["aliases"][recorded["Name"]]
    if alias["FunctionVersion"] != recorded["FunctionVersion"]:
        raise ValueError(
            "The Lambda function alias version does not match the current version in AppSpec file."
            " (Error code: INVALID_LAMBDA_CONFIGURATION)"
        )


def _check_alarms(function: str) -> None:
    here = [names for id, names in _alarms.items() if id.startswith(f"{get_region()}/")]
    for name in (each for names in here for each in names):
        alarm = cloudwatch._alarms[name]
        watched = [each["Value"] for each in alarm["Dimensions"] if each["Name"] == "FunctionName"]
        if watched == [function] and alarm["StateValue"] == "ALARM":
            raise ValueError(f"One or more alarms have been activated: {name} (ALARM_ACTIVE)")


def _ask_hook(function: str, version: str) -> None:
    """Invoke the hook of a version, as CodeDeploy does before the first request."""
    for hook in list(lambda_svc._functions.values()):
        variables = hook["config"].get("Environment", {}).get("Variables", {})
        if variables.get("NEW_VERSION", "").endswith(f":{function}:{version}"):
            execution = f"{function}-{version}"
            event = {"DeploymentId": "d-1", "LifecycleEventHookExecutionId": execution}
            lambda_svc._execute_function(hook, event)
            if _reports.get(execution) != "Succeeded":
                raise ValueError("The pre-traffic hook failed (HEALTH_CONSTRAINTS)")


async def _serve(
    _method: str, _path: str, _headers: object, body: bytes, _query: object
) -> tuple[int, dict[str, str], bytes]:
    """Answer PutLifecycleEventHookExecutionStatus, the only call of CodeDeploy's API here."""
    given = json.loads(body)
    execution = given["lifecycleEventHookExecutionId"]
    _reports[execution] = given["status"]
    answer = {"lifecycleEventHookExecutionId": execution}
    return 200, {"Content-Type": "application/x-amz-json-1.1"}, json.dumps(answer).encode()


def mend() -> None:
    """The emulator refuses templates with CodeDeploy, and moves aliases from anywhere."""
    handlers = {"create": _create, "delete": _delete}
    for kind in _KINDS:
        provisioners._RESOURCE_HANDLERS[kind] = handlers
    provisioners._RESOURCE_HANDLERS[_ALIAS]["update"] = _deploy
    stacks._runs_on_worker_thread = lambda kind: kind == _ALIAS or _is_slow(kind)
    router.SERVICE_PATTERNS["codedeploy"] = {"target_prefixes": ["CodeDeploy_20141006"]}
    app.SERVICE_HANDLERS["codedeploy"] = _serve
