"""The operator's root key: the first use of it, and another one in its place."""

import json
from typing import Any
from urllib.request import Request, urlopen

from operations.deployment import Deployment, client

_CHARACTERS = 48


class DeploymentInProgress(Exception):
    """A new version of the function is taking over."""


def create_tenant(deployment: Deployment, tenant: str) -> dict[str, Any]:
    """Make a tenant; return its first principal with its key, shown this once.

    Raises:
        urllib.error.HTTPError: the service refused; 409: the tenant is there already.
    """
    secret = deployment.outputs["RootKeySecretId"]
    key = client("secretsmanager").get_secret_value(SecretId=secret)["SecretString"]
    request = Request(  # noqa: S310 - the deployment's own https address
        f"{deployment.outputs['ApiUrl'].rstrip('/')}/api/v1/tenants",
        data=json.dumps({"id": tenant}).encode(),
        headers={"X-API-Key": key, "Content-Type": "application/json"},
        method="POST",
    )
    with urlopen(request, timeout=30) as answer:  # noqa: S310 - as above
        made: dict[str, Any] = json.load(answer)
    return {**made["admin"], "tenant": tenant}


def rotate_root_key(deployment: Deployment) -> str:
    """Put another root key into the secret, and have the API function start anew with it.

    A version that is running keeps what it has read, so a new one takes its place. The next
    deployment replaces that as any other.

    Returns:
        The version that starts anew.

    Raises:
        DeploymentInProgress: a new version is taking over; try again when it has.
    """
    function, alias = deployment.function("Api"), deployment.outputs["Alias"]
    functions = client("lambda")
    routing = functions.get_alias(FunctionName=function, Name=alias).get("RoutingConfig") or {}
    if routing.get("AdditionalVersionWeights"):
        raise DeploymentInProgress(f"{function} is being deployed: try again when that has ended")
    secrets = client("secretsmanager")
    made = secrets.get_random_password(PasswordLength=_CHARACTERS, ExcludePunctuation=True)
    stored = secrets.put_secret_value(
        SecretId=deployment.outputs["RootKeySecretId"], SecretString=made["RandomPassword"]
    )
    return restart(functions, function, alias, f"The API. Root key {stored['VersionId'][:8]}.")


def restart(functions: Any, function: str, alias: str, description: str) -> str:
    """Publish a version that differs in its description alone, and move the alias to it."""
    functions.update_function_configuration(FunctionName=function, Description=description)
    functions.get_waiter("function_updated_v2").wait(FunctionName=function)
    version: str = functions.publish_version(FunctionName=function)["Version"]
    functions.get_waiter("published_version_active").wait(FunctionName=function, Qualifier=version)
    functions.update_alias(FunctionName=function, Name=alias, FunctionVersion=version)
    return version
