"""Static files of the package: the OpenAPI document, its reference, the console.

Swagger UI's files come from npm: the build copies them into the package; in a checkout they are
read from `node_modules`.
"""

import gzip
from functools import cache
from pathlib import Path

from functions.api.http import Request, Response
from functions.platform.errors import NotFound

_PACKAGE = Path(__file__).parent
_FOLDERS = (_PACKAGE / "docs", _PACKAGE.parents[1] / "node_modules/swagger-ui-dist")
_MIN_COMPRESSED_BYTES = 1_000
_CONTENT_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "vary": "accept-encoding",
}
_DAY = "public, max-age=86400"
_DOCS_FILES = {
    "index.html": "no-cache",
    "reference.css": "no-cache",
    "reference.js": "no-cache",
    "swagger-ui.css": _DAY,
    "swagger-ui-bundle.js": _DAY,
}
"""The files of the reference, and how long a browser may keep them."""
_DOCS_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)


@cache
def read_openapi_document() -> Response:
    """Read the OpenAPI document, which `make openapi` writes."""
    document = (_PACKAGE / "openapi.json").read_bytes()
    return Response(200, document, {"content-type": "application/json"})


def read_docs_file(request: Request, name: str) -> Response:
    """Read a file of the API reference."""
    if name not in _DOCS_FILES:
        raise NotFound("there is nothing at this path; see /openapi.json")
    path = next((folder / name for folder in _FOLDERS if (folder / name).exists()), None)
    if path is None:
        raise NotFound("Swagger UI isn't installed here; run npm ci")
    headers = {"cache-control": _DOCS_FILES[name], "content-security-policy": _DOCS_POLICY}
    return read_file(request, path, headers)


def read_file(request: Request, path: Path, headers: dict[str, str]) -> Response:
    """Read a file, compressed unless it is small or the caller doesn't accept gzip."""
    content, headers = path.read_bytes(), build_headers(path.name) | headers
    is_gzip_accepted = "gzip" in request.headers.get("accept-encoding", "")
    if not is_gzip_accepted or len(content) < _MIN_COMPRESSED_BYTES:
        return Response(200, content, headers)
    return Response(200, _compress(content), headers | {"content-encoding": "gzip"}, is_binary=True)


def build_headers(name: str) -> dict[str, str]:
    """Build the headers that all files have."""
    content_type = _CONTENT_TYPES.get(Path(name).suffix, "application/octet-stream")
    return _HEADERS | {"content-type": content_type}


@cache
def _compress(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)
