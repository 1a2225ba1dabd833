"""Changes of a function that take effect at once: by a version, and the alias that moves to it."""

from collections.abc import Mapping
from typing import Any

from operations.deployment import Deployment, client


class DeploymentInProgress(Exception):
    """A new version of the function is taking over; try again when it has."""


def check_settled(deployment: Deployment, name: str) -> None:
    """Check that no deployment is shifting requests between two versions of a function.

    Raises:
        DeploymentInProgress: one is.
    """
    function, alias = deployment.function(name), deployment.outputs["Alias"]
    found = client("lambda").get_alias(FunctionName=function, Name=alias)
    if (found.get("RoutingConfig") or {}).get("AdditionalVersionWeights"):
        raise DeploymentInProgress(f"{function} is being deployed: try again when that has ended")


def change_variables(deployment: Deployment, name: str, variables: Mapping[str, str]) -> str:
    """Change some of a function's environment variables; return its version.

    Raises:
        DeploymentInProgress: a new version is taking over.
    """
    all_variables = {**get_variables(deployment, name), **variables}
    return change_function(deployment, name, Environment={"Variables": all_variables})


def get_variables(deployment: Deployment, name: str) -> dict[str, str]:
    """Get the environment variables of the version that a function's alias is at."""
    found = client("lambda").get_function_configuration(
        FunctionName=deployment.function(name), Qualifier=deployment.outputs["Alias"]
    )
    variables: dict[str, str] = found["Environment"]["Variables"]
    return variables


def change_function(deployment: Deployment, name: str, **configuration: Any) -> str:
    """Change a function's configuration, publish a version, and move the alias to it.

    The next deployment replaces the version as any other.

    Returns:
        The version.

    Raises:
        DeploymentInProgress: a new version is taking over.
    """
    check_settled(deployment, name)
    functions, function = client("lambda"), deployment.function(name)
    functions.update_function_configuration(FunctionName=function, **configuration)
    functions.get_waiter("function_updated_v2").wait(FunctionName=function)
    version: str = functions.publish_version(FunctionName=function)["Version"]
    functions.get_waiter("published_version_active").wait(FunctionName=function, Qualifier=version)
    functions.update_alias(
        FunctionName=function, Name=deployment.outputs["Alias"], FunctionVersion=version
    )
    return version
