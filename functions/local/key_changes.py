"""Makes a revoked or rotated key stop at once in every process of the local server.

Each process remembers keys, as a function does in the cloud. A request that may change one adds a
byte to a file before it is answered, and every process looks at that file's size before a request.
"""

from pathlib import Path
from typing import Any

from functions.identity.service import Identity
from functions.local.gateway import Handler

_PRINCIPALS = "/api/v1/principals"


def share_key_changes(api: Handler, identity: Identity, file: Path) -> Handler:
    """Wrap the API function of one process.

    Args:
        api: the function.
        identity: remembers the keys of its callers.
        file: the same one in all processes.
    """
    file.touch()
    known_size = file.stat().st_size

    def handle(event: dict[str, Any], context: object) -> dict[str, Any]:
        nonlocal known_size
        size = file.stat().st_size
        if size != known_size:
            identity.invalidate_cache()
            known_size = size
        try:
            return api(event, context)
        finally:
            if _may_change_keys(event):
                with file.open("ab") as changes:
                    changes.write(b".")

    return handle


def _may_change_keys(event: dict[str, Any]) -> bool:
    method: str = event["requestContext"]["http"]["method"]
    path: str = event["rawPath"]
    return method not in ("GET", "HEAD") and path.startswith(_PRINCIPALS)
