"""Switch the service to read-only, and back."""

from concurrent.futures import ThreadPoolExecutor

from operations.deployment import Deployment
from operations.versions import change_variables

_WRITERS = ("Api", "Schedule", "TaskEvents")  # the stream processes the writes of these


def list_writers(deployment: Deployment) -> list[str]:
    """List the deployment's functions that start writes; `TaskEvents` is optional."""
    return [name for name in _WRITERS if f"{name}Function" in deployment.outputs]


def set_read_only(deployment: Deployment, *, is_read_only: bool) -> dict[str, str]:
    """Switch the service to read-only, or back; return the functions' versions.

    While it is read-only, the API answers writes with 503 and Retry-After, and the schedule does
    nothing. Task events of other systems are retried, and then sent to their dead-letter queue.

    Raises:
        DeploymentInProgress: a new version is taking over.
    """
    names, variables = list_writers(deployment), {"READ_ONLY": str(int(is_read_only))}
    with ThreadPoolExecutor(len(names)) as pool:
        versions = pool.map(lambda name: change_variables(deployment, name, variables), names)
        return dict(zip(names, versions, strict=True))
