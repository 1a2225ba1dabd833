"""The console: a page that calls this API with its visitor's own key.

The page and its files come from the folder that `make console` builds into the package. None of
them holds data or needs a key.
"""

import gzip
from functools import cache
from pathlib import Path

from functions.api.http import Request, Response
from functions.api.routing import PUBLIC, Route
from functions.identity.model import Principal
from functions.platform.errors import NotFound

FOLDER = Path(__file__).parents[1] / "console"
_MIN_COMPRESSED_BYTES = 1_000
_CONTENT_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_SECURITY_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "vary": "accept-encoding",
}
_IMMUTABLE = "public, max-age=31536000, immutable"
_NOT_BUILT = b"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Agent Memory</title>
<h1>The console is not built</h1>
<p>Run <code>make console</code> (it needs Node 20 or newer with npm), then load this page again.
The API itself works without it; its reference is at <a href="/docs">/docs</a>.</p></html>
"""


def is_console_built(folder: Path = FOLDER) -> bool:
    """Tell whether the console's page is there."""
    return (folder / "index.html").is_file()


def build_routes(folder: Path) -> list[Route]:
    """Build the routes that serve the console from a folder: `index.html` and `assets/`."""

    def get_page(request: Request, _caller: Principal) -> Response:
        if not is_console_built(folder):
            headers = _build_headers("index.html", "no-store")
            return Response(404, _NOT_BUILT, headers)
        return _read_file(folder / "index.html", "no-cache", request)

    def get_asset(request: Request, _caller: Principal) -> Response:
        wanted = folder / "assets" / request.path_params["file"]
        if wanted not in (folder / "assets").glob("*"):
            raise NotFound("the console has no such file")
        return _read_file(wanted, _IMMUTABLE, request)

    handlers = {
        "/console": get_page,
        "/console/": get_page,
        "/console/assets/{file+}": get_asset,
        "/console/{page+}": get_page,
    }
    return [
        Route(f"GET {path}", handler, PUBLIC, "The console", {200: str}, is_documented=False)
        for path, handler in handlers.items()
    ]


def _read_file(path: Path, cache_control: str, request: Request) -> Response:
    headers = _build_headers(path.name, cache_control)
    content = path.read_bytes()
    is_gzip_accepted = "gzip" in request.headers.get("accept-encoding", "")
    if not is_gzip_accepted or len(content) < _MIN_COMPRESSED_BYTES:
        return Response(200, content, headers)
    return Response(200, _compress(content), headers | {"content-encoding": "gzip"}, is_binary=True)


def _build_headers(name: str, cache_control: str) -> dict[str, str]:
    content_type = _CONTENT_TYPES.get(Path(name).suffix, "application/octet-stream")
    return _SECURITY_HEADERS | {"content-type": content_type, "cache-control": cache_control}


@cache
def _compress(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


ROUTES = build_routes(FOLDER)
