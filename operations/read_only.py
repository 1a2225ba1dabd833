"""The switch for the minutes in which nothing may be written."""

from concurrent.futures import ThreadPoolExecutor

from operations.deployment import Deployment
from operations.versions import change_variables

_WRITERS = ("Api", "Schedule", "TaskEvents")  # the stream follows what these write


def list_writers(deployment: Deployment) -> list[str]:
    """List the functions that write of themselves; not all deployments take task events."""
    return [name for name in _WRITERS if f"{name}Function" in deployment.outputs]


def set_read_only(deployment: Deployment, *, is_read_only: bool) -> dict[str, str]:
    """Let the service write nothing, or write again; return the functions' versions.

    The API answers requests that may write with 503 and Retry-After, the schedule rests, and other
    systems' task events are left to their retries and then to their queue.

    Raises:
        DeploymentInProgress: a new version is taking over.
    """
    names, variables = list_writers(deployment), {"READ_ONLY": str(int(is_read_only))}
    with ThreadPoolExecutor(len(names)) as pool:
        versions = pool.map(lambda name: change_variables(deployment, name, variables), names)
        return dict(zip(names, versions, strict=True))
