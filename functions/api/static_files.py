"""The OpenAPI document and the API reference: files of the package, served as they are.

Swagger UI's files come from npm: the asset's build copies them into the package, and beside a
checkout they are read from `node_modules`.
"""

import gzip
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from functions.api.http import Response
from functions.platform.errors import NotFound

_PACKAGE = Path(__file__).parent
_FOLDERS = (_PACKAGE / "docs", _PACKAGE.parents[1] / "node_modules/swagger-ui-dist")
_MIN_COMPRESSED_BYTES = 10_000
_DAY = "public, max-age=86400"
_DOCS_FILES = {
    "index.html": ("text/html; charset=utf-8", "no-cache"),
    "reference.css": ("text/css; charset=utf-8", "no-cache"),
    "reference.js": ("text/javascript; charset=utf-8", "no-cache"),
    "swagger-ui.css": ("text/css; charset=utf-8", _DAY),
    "swagger-ui-bundle.js": ("text/javascript; charset=utf-8", _DAY),
}
_SECURITY_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}


@cache
def read_openapi_document() -> Response:
    """Read the OpenAPI document, which `make openapi` writes."""
    document = (_PACKAGE / "openapi.json").read_bytes()
    return Response(200, document, {"content-type": "application/json"})


def read_docs_file(name: str, headers: Mapping[str, str]) -> Response:
    """Read a file of the API reference, compressed if it is large and the caller takes gzip.

    Args:
        headers: the request's, by lower-case name.

    Raises:
        NotFound: there is no such file, or Swagger UI isn't installed.
    """
    if name not in _DOCS_FILES:
        raise NotFound("there is nothing at this path; see /openapi.json")
    return _read(name, gzipped="gzip" in headers.get("accept-encoding", ""))


@cache
def _read(name: str, *, gzipped: bool) -> Response:
    path = next((folder / name for folder in _FOLDERS if (folder / name).exists()), None)
    if path is None:
        raise NotFound("Swagger UI isn't installed here; run npm ci")
    content_type, cache_control = _DOCS_FILES[name]
    headers = _SECURITY_HEADERS | {
        "content-type": content_type,
        "cache-control": cache_control,
        "vary": "accept-encoding",
    }
    content = path.read_bytes()
    if not gzipped or len(content) < _MIN_COMPRESSED_BYTES:
        return Response(200, content, headers)
    compressed = gzip.compress(content, mtime=0)
    return Response(200, compressed, headers | {"content-encoding": "gzip"}, is_binary=True)
