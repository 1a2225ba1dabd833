"""The operator's switches: settings that change while functions run, without a new version.

They are JSON in one parameter of Systems Manager, for example `{"read_only": true}`, and take
precedence over a function's variables. Without the parameter, the variables apply.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Generic, TypeVar

import orjson
from botocore.exceptions import BotoCoreError, ClientError

from functions.platform.aws import create_client
from functions.platform.clock import Clock, now_ms
from functions.platform.limits import SWITCH_SECONDS
from functions.platform.observability import report_count
from functions.platform.settings import Settings

_RETRY_MS = 1000
_SETTINGS = ("read_only", "active_region", "memory_table", "log_table")
_NONE, _UNKNOWN = b"{}", b'{"read_only": 1}'
_NOT_FOUND = "ParameterNotFound"

S = TypeVar("S", bound=Settings)
Handler = Callable[[Any, Any], dict[str, Any]]


def apply_switches(settings: S, switches: dict[str, Any]) -> S:
    """Replace the switched settings; other switches only rebuild the handler."""
    return replace(settings, **{name: switches[name] for name in _SETTINGS if name in switches})


class SwitchedHandler(Generic[S]):
    """A Lambda handler that is built again when the switches have changed.

    If they can't be read, the last ones still apply. If they were never read, writes are rejected:
    another Region or other tables may be in use.

    Args:
        settings: of the function's variables; without `switches_parameter`, nothing is switched.
    """

    def __init__(self, build: Callable[[S], Handler], settings: S, clock: Clock = now_ms) -> None:
        self._build = build
        self._settings = settings
        self._clock = clock
        self._name = settings.switches_parameter
        self._ssm = create_client("ssm") if self._name else None
        self._next_read = 0
        self._text = b""
        self._refresh()

    def __call__(self, event: Any, context: Any = None) -> dict[str, Any]:
        self._refresh()
        return self._handler(event, context)

    def _refresh(self) -> None:
        if self._clock() < self._next_read:
            return
        text = self._read()
        if text == self._text:
            return
        self._handler = self._build(apply_switches(self._settings, orjson.loads(text)))
        self._text = text

    def _read(self) -> bytes:
        """Read the switches; return the last ones if that fails."""
        self._next_read = self._clock() + SWITCH_SECONDS * 1000
        try:
            text = self._get_parameter()
            if isinstance(orjson.loads(text), dict):
                return text
        except (BotoCoreError, ClientError, orjson.JSONDecodeError) as error:
            report_count("SwitchesUnread", error=type(error).__name__)
        self._next_read = self._clock() + _RETRY_MS
        return self._text or _UNKNOWN

    def _get_parameter(self) -> bytes:
        if self._ssm is None:
            return _NONE
        try:
            found = self._ssm.get_parameter(Name=self._name)
        except ClientError as error:
            if error.response["Error"]["Code"] == _NOT_FOUND:
                return _NONE
            raise
        return str(found["Parameter"]["Value"]).encode()
