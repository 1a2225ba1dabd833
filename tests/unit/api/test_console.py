"""The console's files, and the policy under which a browser runs them."""

from pathlib import Path
from typing import cast

import pytest

from functions.api.http import Request, Response
from functions.api.route_index import list_routes
from functions.api.routes.console import build_routes
from functions.api.routing import PUBLIC, Router
from functions.container import Container
from functions.identity.model import Principal
from functions.platform.errors import NotFound
from tests.contract.service import Tenant

_VISITOR = Principal("", "", "user", frozenset())
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
_SCRIPT = b"const text = 'twenty times as long';\n" * 50


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder as the build leaves it."""
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<!doctype html><title>the page</title>")
    (tmp_path / "assets/index-a1.js").write_bytes(_SCRIPT)
    (tmp_path / "assets/index-a1.css").write_text("body { margin: 0 }")
    return tmp_path


def _get(folder: Path, path: str, **headers: str) -> Response:
    route, params = Router(build_routes(folder)).find("GET", path)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    request = Request({}, named, path, params, cast("Container", None))
    return route.handler(request, _VISITOR)


@pytest.mark.parametrize("path", ["/console", "/console/", "/console/memory", "/console/a/b"])
def test_every_path_is_the_page_which_is_checked_for_a_newer_one(folder: Path, path: str) -> None:
    page = _get(folder, path)
    assert (page.status, b"the page" in page.body) == (200, True)
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["cache-control"] == "no-cache"


@pytest.mark.parametrize("path", ["/console", "/console/assets/index-a1.js"])
def test_the_policy_allows_nothing_but_files_of_the_same_origin(folder: Path, path: str) -> None:
    headers = _get(folder, path).headers
    assert headers["content-security-policy"] == _POLICY
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert not [name for name in headers if name.startswith("access-control")]


def test_assets_are_kept_for_a_year_and_compressed_for_who_takes_it(folder: Path) -> None:
    plain = _get(folder, "/console/assets/index-a1.js")
    small = _get(folder, "/console/assets/index-a1.js", accept_encoding="gzip, br")
    assert plain.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert plain.headers["content-type"] == "text/javascript; charset=utf-8"
    assert (plain.body, "content-encoding" in plain.headers) == (_SCRIPT, False)
    assert (small.headers["content-encoding"], small.is_binary) == ("gzip", True)
    assert len(small.body) < len(_SCRIPT) / 5
    assert small.headers["vary"] == "accept-encoding"


@pytest.mark.parametrize("name", ["index-b2.js", "../index.html", "..", "a/../index-a1.js"])
def test_other_files_are_not_there(folder: Path, name: str) -> None:
    with pytest.raises(NotFound):
        _get(folder, f"/console/assets/{name}")


def test_a_page_that_is_not_built_says_how_to_build_it(tmp_path: Path) -> None:
    page = _get(tmp_path, "/console")
    assert page.status == 404
    assert page.headers["cache-control"] == "no-store"
    assert b"make console" in page.body
    with pytest.raises(NotFound):
        _get(tmp_path, "/console/assets/index-a1.js")


def test_the_page_needs_no_key_and_other_origins_get_no_access(
    folder: Path, tenant: Tenant
) -> None:
    routes = [route for route in list_routes() if route.path.startswith("/console")]
    assert {route.required_permission for route in routes} == {PUBLIC}
    assert not any(route.is_documented for route in routes)
    page = _get(folder, "/console", origin="https://elsewhere.example")
    assert not [name for name in page.headers if name.lower().startswith("access-control")]
    assert tenant.service.client().options("/api/v1/memory").status_code == 405
