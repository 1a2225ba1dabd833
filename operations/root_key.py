"""The operator's root key: the first use of it, and another one in its place."""

import json
from typing import Any
from urllib.request import Request, urlopen

from operations.deployment import Deployment, client
from operations.versions import change_function, check_settled

_CHARACTERS = 48


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

    Returns:
        The version that starts anew.

    Raises:
        DeploymentInProgress: a new version is taking over; the key is as it was.
    """
    check_settled(deployment, "Api")
    secrets = client("secretsmanager")
    made = secrets.get_random_password(PasswordLength=_CHARACTERS, ExcludePunctuation=True)
    stored = secrets.put_secret_value(
        SecretId=deployment.outputs["RootKeySecretId"], SecretString=made["RandomPassword"]
    )
    description = f"The API. Root key {stored['VersionId'][:8]}."
    return change_function(deployment, "Api", Description=description)
