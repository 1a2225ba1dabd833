"""Ids of runs, the end of a run, and the JSON of runs and episodes."""

import hmac
from collections.abc import Callable
from typing import get_args

from functions.platform import limits, run_keys
from functions.platform.errors import NotFound
from functions.platform.json_text import dumps, dumps_checked
from functions.platform.keys import encode_seed
from functions.runs.model import Run, RunStatus, RunValue, compute_expiry
from functions.runs.requests import NewEpisode

_PURPOSE = b"agent-memory: ids of runs"
_MAC_BYTES = 16
RUN_VALUES: tuple[RunValue, ...] = get_args(RunValue)
_BY_NEED: tuple[RunValue, ...] = ("output", "error", "input")
_OPTIONAL = ("role", "kind", "turn", "metadata")
_HINT = "; store a larger value as an object, and its address here"


class RunIds:
    """Build and verify ids of runs without reading the table.

    An id has a message authentication code over tenant, address and starter of the run.
    """

    def __init__(self, derive_key: Callable[[bytes], bytes]) -> None:
        self._derive_key = derive_key

    def make_id(self, address: run_keys.RunAddress, principal: str) -> str:
        """Build the id of the run that a principal starts at an address."""
        message = f"{address.tenant}\n{address.unsigned_id}\n{principal}".encode()
        # The MAC tells an issued id from a guess, so an append need not read the run.
        mac = hmac.digest(self._derive_key(_PURPOSE), message, "sha256")[:_MAC_BYTES]
        return address.unsigned_id + encode_seed(mac)

    def is_issued(self, address: run_keys.RunAddress, run_id: str, principal: str) -> bool:
        """Tell whether this service issued the id to a principal."""
        return hmac.compare_digest(run_id, self.make_id(address, principal))


def parse_address(tenant: str, run_id: str, now: int) -> run_keys.RunAddress:
    """Parse the address of a run; the run may not exist."""
    address = run_keys.parse_run_id(tenant, run_id)
    if address is None or compute_expiry(address.started) <= now:
        raise run_not_found()
    return address


def end_run(
    run: Run, status: RunStatus, result: bytes, ender: str, request: bytes, now: int
) -> Run:
    """Complete or fail a run; `result` is its output or its error, as JSON text."""
    ended = run._replace(
        status=status, version=run.version + 1, ended_at=now, ended_by=ender, end_request=request
    )
    if status == "completed":
        return ended._replace(output=result)
    return ended._replace(error=result)


def render_value(value: object, field: str, most: int = limits.MAX_RUN_VALUE_BYTES) -> bytes:
    """Render a value as compact JSON, at most `most` bytes."""
    return dumps_checked(value, field, most, _HINT, subject=f"{field} has")


def select_values(run: Run) -> list[RunValue]:
    """Select the values that fit into one response, the result before the input."""
    free_bytes, selected = limits.MAX_RUN_RESPONSE_BYTES, list[RunValue]()
    for name in _BY_NEED:
        size = len(getattr(run, name))
        if size <= free_bytes:
            selected.append(name)
            free_bytes -= size
    return selected


def render_episode_text(new: NewEpisode) -> bytes:
    """Render an episode as one JSON object, without omitted fields."""
    given = {name: value for name in _OPTIONAL if (value := getattr(new, name)) is not None}
    members = {"content": new.content} | given
    for name, value in members.items():
        is_content = name == "content"
        most = limits.MAX_EPISODE_BYTES if is_content else limits.MAX_EPISODE_METADATA_BYTES
        render_value(value, name, most)  # checks it
    return dumps(members)


def run_not_found() -> NotFound:
    """Build the error for a run that does not exist in this tenant."""
    return NotFound(f"no run of the last {limits.RUN_RETENTION_DAYS} days has this id")
