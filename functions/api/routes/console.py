"""The console: a page that calls this API with its visitor's own key.

`make console` builds the page and its files into a folder of the package. They contain no data and
need no key.
"""

from pathlib import Path

from functions.api.http import Request, Response
from functions.api.routing import PUBLIC, Route
from functions.api.static_files import build_headers, read_file
from functions.identity.model import Principal
from functions.platform.errors import NotFound

FOLDER = Path(__file__).parents[1] / "console"
_SECURITY_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
_CHECKED = _SECURITY_HEADERS | {"cache-control": "no-cache"}
_IMMUTABLE = _SECURITY_HEADERS | {"cache-control": "public, max-age=31536000, immutable"}
_NOT_STORED = _SECURITY_HEADERS | {"cache-control": "no-store"}
_NOT_BUILT = b"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Agent Memory</title>
<h1>The console is not built</h1>
<p>Run <code>make console</code> (it needs Node 20 or newer with npm), then load this page again.
The API itself works without it; its reference is at <a href="/docs">/docs</a>.</p></html>
"""


def is_console_built(folder: Path = FOLDER) -> bool:
    """Tell whether the console is installed."""
    return (folder / "index.html").is_file()


def build_routes(folder: Path) -> list[Route]:
    """Build the routes that serve the console from a folder: `index.html` and `assets/`."""

    def get_page(request: Request, _caller: Principal) -> Response:
        if not is_console_built(folder):
            return Response(404, _NOT_BUILT, build_headers("index.html") | _NOT_STORED)
        return read_file(request, folder / "index.html", _CHECKED)

    def get_asset(request: Request, _caller: Principal) -> Response:
        wanted = folder / "assets" / request.path_params["file"]
        if wanted not in (folder / "assets").glob("*"):
            raise NotFound("the console has no such file")
        return read_file(request, wanted, _IMMUTABLE)

    handlers = {
        "/console": get_page,
        "/console/": get_page,
        "/console/assets/{file+}": get_asset,
        "/console/{page+}": get_page,
    }
    return [
        Route(handler, f"GET {path}", PUBLIC, {200: str}, is_documented=False)
        for path, handler in handlers.items()
    ]


ROUTES = build_routes(FOLDER)
