"""Use the operator's root key, and rotate it."""

import json
from typing import Any
from urllib.request import Request, urlopen

from operations.deployment import Deployment, client
from operations.switches import set_switches

_CHARACTERS = 48


def create_tenant(deployment: Deployment, tenant: str) -> dict[str, Any]:
    """Create a tenant; return its first principal with its key, which is never shown again.

    Raises:
        urllib.error.HTTPError: the service rejected the request; 409 if the tenant exists.
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
    """Store a new root key in the secret, which the API function then reads; return its version.

    The former key works until all instances have read the switch.
    """
    secrets = client("secretsmanager")
    made = secrets.get_random_password(PasswordLength=_CHARACTERS, ExcludePunctuation=True)
    stored = secrets.put_secret_value(
        SecretId=deployment.outputs["RootKeySecretId"], SecretString=made["RandomPassword"]
    )
    version: str = stored["VersionId"]
    set_switches(deployment, root_key_version=version)
    return version
