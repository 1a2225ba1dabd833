"""Spaces of objects and their permissions."""

from functools import partial

from typing_extensions import TypedDict

from functions.api.documents import (
    PagePosition,
    Timestamp,
    Version,
    to_document,
)
from functions.api.http import Request, Response, json_response
from functions.api.paging import paginate
from functions.api.parameters import CURSOR_PAGE
from functions.api.routes.namespaces import NamespacePermissionsDocument, render_permissions
from functions.api.routing import ANY, RouteTable
from functions.identity.model import READ, Principal
from functions.namespaces.model import encode_segment
from functions.objects.authority import CHANGE_SPACE
from functions.objects.model import Space
from functions.objects.requests import SpaceChange
from functions.platform.limits import MAX_NAME_CHARACTERS


class SpaceDocument(TypedDict):
    """A space of objects and its permissions."""

    space: str
    owner: str
    """The id of the principal that created it."""
    permissions: NamespacePermissionsDocument
    version: Version
    """The version of the permissions."""
    created_at: Timestamp
    updated_at: Timestamp


class SpacePageDocument(PagePosition):
    """A page of spaces."""

    spaces: list[SpaceDocument]


def render_space(space: Space) -> SpaceDocument:
    return to_document(
        space.permissions,
        SpaceDocument,
        space=space.name,
        owner=space.owner,
        permissions=render_permissions(space.permissions),
    )


ROUTES = RouteTable()

_SPACES = "/api/v1/objects"

_SPACE = f"{_SPACES}/{{space}}"


def read_space(request: Request) -> str:
    """Read the name of a space: `agents/{agent_id}/{space}` for a private space."""
    name = request.path_param("space", MAX_NAME_CHARACTERS)
    owner = request.path_params.get("agent_id")
    return name if owner is None else f"agents/{encode_segment(owner)}/{name}"


@ROUTES.add(f"GET {_SPACES}", READ, {200: SpacePageDocument}, query=CURSOR_PAGE)
def list_spaces(request: Request, caller: Principal) -> Response:
    """List the spaces that you may read; with `memory.admin`, all."""
    spaces = request.services.spaces
    page, position = paginate(request, caller, partial(spaces.list_page, caller), render_space)
    return json_response(200, SpacePageDocument(spaces=page, **position))


@ROUTES.add(
    f"PATCH {_SPACE}",
    ANY,
    {200: SpaceDocument},
    if_match="optional",
    idempotent=True,
    audited=(CHANGE_SPACE,),
)
def configure_space(request: Request, caller: Principal, change: SpaceChange) -> Response:
    """Change the permissions of a space.

    With `memory.admin`, or `memory.write` and `admin` access to the space. Omitted fields stay
    unchanged. Creates the space if it is new. `default` is the access of principals that aren't
    listed; initially `none`.
    """
    changed = request.services.spaces.configure(
        caller,
        read_space(request),
        change,
        request.if_match,
        request.idempotency_token(caller),
    )
    return json_response(200, render_space(changed), changed.permissions.version)
