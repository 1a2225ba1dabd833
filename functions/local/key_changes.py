"""Makes changes of keys and prefix rules hold at once in every process of the local server.

Each process remembers both, as a function does in the cloud. A request that may change one adds a
byte to a file before it is answered, and every process looks at that file's size before a request.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from functions.local.gateway import Handler

_REMEMBERED = (
    "/api/v1/principals",
    "/api/v1/tenants",
    "/api/v1/deletions",
    "/api/v1/memory/namespaces",
)


def share_changes(api: Handler, forget: Callable[[], None], file: Path) -> Handler:
    """Wrap the API function of one process.

    Args:
        forget: makes the process read anew what it remembers.
        file: the same one in all processes.
    """
    file.touch()
    known_size = file.stat().st_size

    def handle(event: dict[str, Any], context: object) -> dict[str, Any]:
        nonlocal known_size
        size = file.stat().st_size
        if size != known_size:
            forget()
            known_size = size
        try:
            return api(event, context)
        finally:
            if _may_change_what_is_remembered(event):
                with file.open("ab") as changes:
                    changes.write(b".")

    return handle


def _may_change_what_is_remembered(event: dict[str, Any]) -> bool:
    method: str = event["requestContext"]["http"]["method"]
    path: str = event["rawPath"]
    return method not in ("GET", "HEAD") and path.startswith(_REMEMBERED)
