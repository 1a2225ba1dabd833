"""The headers that describe an object, in requests and responses."""

from functions.api.http import Request
from functions.api.parameters import ONLY_NEW, HeaderParameter
from functions.objects import rules
from functions.objects.model import NewObject, StoredObject
from functions.objects.requests import ObjectOptions
from functions.platform.clock import parse_duration, to_rfc3339
from functions.platform.errors import ValidationFailed
from functions.platform.json_text import dumps_checked, loads
from functions.platform.limits import MAX_OBJECT_METADATA_BYTES
from functions.platform.validation import validate

_METADATA, _TTL, _SENSITIVITY = "X-Object-Metadata", "X-Object-TTL", "X-Object-Sensitivity"
_SANDBOX = "default-src 'none'; sandbox"
"""Browsers must not run an object's content under the service's origin."""

DESCRIBING_HEADERS = (
    HeaderParameter(
        _METADATA, "A JSON object of up to {MAX_OBJECT_METADATA_BYTES}, kept beside it."
    ),
    HeaderParameter(_TTL, "The lifetime of the object: seconds, or an ISO 8601 duration."),
    HeaderParameter(_SENSITIVITY, "`confidential` and `restricted` are encrypted."),
    ONLY_NEW,
)
"""Headers of the request that stores an object."""
OBJECT_HEADERS = (
    "ETag",
    "X-Object-Expires-At",
    "X-Object-Metadata",
    "X-Object-Sensitivity",
    "X-Object-Size",
)
"""Headers of responses with an object."""


def read_description(request: Request) -> NewObject:
    """Read the description of an object from the headers of a PUT."""
    given = {
        "Content-Type": request.headers.get("content-type") or None,
        _METADATA: _parse_metadata(request.headers.get(_METADATA.lower())),
        **{name: request.headers.get(name.lower()) for name in (_SENSITIVITY, _TTL)},
    }
    document = {name: value for name, value in given.items() if value is not None}
    options = validate(ObjectOptions, document, "headers")
    if options.ttl is not None:
        parse_duration(options.ttl, _TTL, "a number of seconds")
    metadata = dumps_checked(options.metadata, _METADATA, MAX_OBJECT_METADATA_BYTES)
    described = options.model_dump(exclude={"metadata"})
    return NewObject(metadata=metadata, **described)


def _parse_metadata(header: str | None) -> object:
    try:
        return None if header is None else loads(header)
    except ValueError as error:
        raise ValidationFailed(_METADATA, "must be JSON") from error


def select_range(request: Request, stored: StoredObject) -> tuple[int, int] | None:
    """Select the bytes of Range, unless If-Range names another version."""
    if request.headers.get("if-range") not in (None, f'"{stored.version}"'):
        return None
    return rules.parse_range(request.headers.get("range"), stored.size)


def describe(stored: StoredObject) -> dict[str, str]:
    """Describe an object by the headers of a response."""
    described = {
        "content-type": stored.content_type,
        "content-security-policy": _SANDBOX,
        "accept-ranges": "bytes",
        "etag": f'"{stored.version}"',
        "x-object-size": str(stored.size),
        "x-object-metadata": _to_ascii(stored.metadata),
    }
    if stored.sensitivity is not None:
        described["x-object-sensitivity"] = stored.sensitivity
    if stored.expires_at is not None:
        described["x-object-expires-at"] = to_rfc3339(stored.expires_at)
    return described


def _to_ascii(text: bytes) -> str:
    escaped = text.decode().encode("utf-16-be", "surrogatepass")
    units = (int.from_bytes(escaped[at : at + 2]) for at in range(0, len(escaped), 2))
    return "".join(chr(unit) if 0x20 <= unit < 0x7F else f"\\u{unit:04x}" for unit in units)
