"""Use the operator's root key, and rotate it."""

import json
from http import HTTPStatus
from typing import Any

from operations.deployment import Deployment, client
from operations.switches import set_switches

_CHARACTERS = 48
_TENANTS = "/api/v1/tenants"


class TenantNotCreated(Exception):
    """The service refused to create a tenant; the message has its answer."""


def create_tenant(deployment: Deployment, tenant: str) -> dict[str, Any]:
    """Create a tenant; return its first principal with its key, which is never shown again.

    It invokes the API function itself, since the API's address may ask for a client certificate.

    Raises:
        TenantNotCreated: the service refused the request, for example because the tenant exists.
    """
    secret = deployment.outputs["RootKeySecretId"]
    key = client("secretsmanager").get_secret_value(SecretId=secret)["SecretString"]
    event = _build_event(key, json.dumps({"id": tenant}))
    invoked = client("lambda").invoke(
        FunctionName=deployment.alias_of("Api"), Payload=json.dumps(event)
    )
    answer = json.load(invoked["Payload"])
    if answer.get("statusCode") != HTTPStatus.CREATED:
        raise TenantNotCreated(f"the tenant was not created: {answer.get('body') or answer}")
    return {**json.loads(answer["body"])["admin"], "tenant": tenant}


def _build_event(key: str, body: str) -> dict[str, Any]:
    """Build the event of an HTTP API for a request that creates a tenant."""
    request = {"method": "POST", "path": _TENANTS, "sourceIp": "127.0.0.1"}
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": _TENANTS,
        "rawQueryString": "",
        "headers": {"x-api-key": key, "content-type": "application/json"},
        "requestContext": {"requestId": "operations", "stage": "$default", "http": request},
        "body": body,
        "isBase64Encoded": False,
    }


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
