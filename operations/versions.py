"""Check versions of functions, and delete old ones; only deployments publish versions."""

from typing import Any

from operations.deletion import build_container
from operations.deployment import Deployment, client


class DeploymentInProgress(Exception):
    """A new version of the function is taking over; try again after its deployment."""


def check_settled(deployment: Deployment, name: str) -> None:
    """Check that no deployment is shifting requests between two versions of a function.

    Raises:
        DeploymentInProgress: a deployment is shifting requests.
    """
    function, alias = deployment.function(name), deployment.outputs["Alias"]
    found = client("lambda").get_alias(FunctionName=function, Name=alias)
    if (found.get("RoutingConfig") or {}).get("AdditionalVersionWeights"):
        raise DeploymentInProgress(f"{function} is being deployed: try again when that has ended")


def raise_data_version(deployment: Deployment) -> int:
    """Raise the version of the data to the latest that the deployed release reads; return it.

    Earlier releases then answer requests with 503, so you can't go back to them.

    Raises:
        DeploymentInProgress: a new version is taking over, and an earlier one may get requests.
    """
    for name in list_functions(deployment):
        check_settled(deployment, name)
    version = int(deployment.outputs["DataVersion"])
    build_container(deployment).deployment_secret.raise_version(version)
    return version


def get_variables(deployment: Deployment, name: str) -> dict[str, str]:
    """Return the environment variables of the version that a function's alias selects."""
    found = client("lambda").get_function_configuration(
        FunctionName=deployment.function(name), Qualifier=deployment.outputs["Alias"]
    )
    variables: dict[str, str] = found["Environment"]["Variables"]
    return variables


def delete_old_versions(deployment: Deployment, keep: int, *, is_preview: bool) -> dict[str, Any]:
    """Delete unused versions of all functions, except for the newest ones.

    Versions count against Lambda's code storage (75 GB per Region), and SnapStart bills them. A
    version is in use if an alias or an event source mapping invokes it, or if the stack deployed it
    last.

    Args:
        deployment: the deployment of the functions.
        keep: the number of newest versions to keep for a rollback.
        is_preview: True to delete nothing.

    Returns:
        The versions by function: `deleted` (or to be deleted) and `kept`.
    """
    report = {}
    for name in list_functions(deployment):
        function = deployment.function(name)
        versions = _list_versions(function)
        old = [each for each in versions[:-keep] if each not in _find_used(deployment, name)]
        deleted = [each for each in old if not _has_mapping(f"{function}:{each}")]
        for version in deleted if not is_preview else ():
            client("lambda").delete_function(FunctionName=function, Qualifier=version)
        report[name] = {
            "deleted": deleted,
            "kept": [each for each in versions if each not in deleted],
        }
    return report


def list_functions(deployment: Deployment) -> list[str]:
    """List the names of the deployment's functions, such as `Api`."""
    suffix = "Function"
    return [each.removesuffix(suffix) for each in deployment.outputs if each.endswith(suffix)]


def _list_versions(function: str) -> list[str]:
    """List the published versions of a function in ascending order."""
    pages = client("lambda").get_paginator("list_versions_by_function")
    found = [
        each["Version"]
        for page in pages.paginate(FunctionName=function)
        for each in page["Versions"]
        if each["Version"] != "$LATEST"
    ]
    return sorted(found, key=int)


def _find_used(deployment: Deployment, name: str) -> set[str]:
    """Find the versions that aliases select, and the one that the stack deployed."""
    pages = client("lambda").get_paginator("list_aliases")
    used = {deployment.outputs[f"{name}Version"]}
    for page in pages.paginate(FunctionName=deployment.function(name)):
        for alias in page["Aliases"]:
            shifted = (alias.get("RoutingConfig") or {}).get("AdditionalVersionWeights") or {}
            used |= {alias["FunctionVersion"], *shifted}
    return used


def _has_mapping(version: str) -> bool:
    found = client("lambda").list_event_source_mappings(FunctionName=version)
    return bool(found["EventSourceMappings"])
