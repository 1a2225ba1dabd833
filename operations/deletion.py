"""Delete a tenant, an agent or a person with the service's code, and report the result."""

import time
from collections.abc import Callable
from typing import Any

from functions.api.routes.deletions import render_deletion
from functions.container import Container
from functions.deletions.model import Deletion, Subject
from functions.deletions.store import get_key
from functions.identity.model import ADMIN, OPERATOR, ROOT_TENANT, Principal
from functions.platform.archive_storage import S3ArchiveStorage
from functions.platform.clock import Clock, now_ms
from functions.platform.settings import ApiSettings
from functions.platform.switches import apply_switches
from operations.deployment import Deployment, client
from operations.switches import get_switches

_SECONDS = 60.0  # between two checks of its progress
_PAUSE = 15.0


def build_container(deployment: Deployment, clock: Clock = now_ms) -> Container:
    """Build the service on a deployment's data, with the settings of its API function now."""
    function = client("lambda").get_function_configuration(FunctionName=deployment.function("Api"))
    deployed = ApiSettings.from_env(function["Environment"]["Variables"])
    settings = apply_switches(deployed, get_switches(deployment))
    container = Container(settings, clock)
    if settings.archive_bucket is not None:  # read with the operator's AWS configuration
        container.archive_storage = S3ArchiveStorage(client("s3"), settings.archive_bucket, None)
    return container


def run_deletion(
    container: Container,
    subject: Subject,
    *,
    is_preview: bool = False,
    wait: Callable[[float], object] = time.sleep,
) -> dict[str, Any]:
    """Run a deletion to its end, or count what it would delete; return the report.

    If this is interrupted, the schedule or another call continues the deletion.

    Raises:
        NotFound: the tenant does not exist.
    """
    begun = container.deletions.begin(_build_caller(subject), subject, is_preview=is_preview)
    key = get_key(begun)
    while not _get(container, begun).is_done:
        if container.deletions.resume(key, _SECONDS) and not _get(container, begun).is_done:
            wait(_PAUSE)  # until earlier writes of the functions are stored
    return {**render_deletion(_get(container, begun))}


def _get(container: Container, begun: Deletion) -> Deletion:
    return container.deletions.get(
        _build_caller(begun.subject), begun.subject, is_preview=begun.dry_run
    )


def _build_caller(subject: Subject) -> Principal:
    """Build the principal of the operator: the root, or an administrator of a tenant."""
    if subject.kind == "tenant":
        return Principal(ROOT_TENANT, OPERATOR.id, "user", frozenset())
    return Principal(subject.tenant, OPERATOR.id, "user", frozenset({ADMIN}))
