"""Problem documents (RFC 9457)."""

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from functions.api.responses.entries import EntryDocument, render_entry
from functions.api.responses.namespaces import NamespaceDocument, render_namespace
from functions.api.responses.tasks import TaskDocument, render_task
from functions.api.responses.types import Count
from functions.entries.model import Entry
from functions.namespaces.model import Namespace
from functions.platform.errors import ERROR_CODES
from functions.tasks.model import Task


class FieldErrorDocument(TypedDict):
    """A problem of a field or parameter of the request."""

    field: str
    message: str


class ProblemDocument(TypedDict):
    """An error (RFC 9457); its optional members depend on the code."""

    type: Annotated[str, Field(json_schema_extra={"format": "uri-reference"})]
    title: str
    status: Annotated[int, Field(ge=400, le=599)]
    detail: str
    code: Annotated[str, Field(json_schema_extra={"enum": list(ERROR_CODES)})]
    message: str
    errors: NotRequired[list[FieldErrorDocument]]
    index: NotRequired[Count]
    """The index of the item of the batch that failed, counted from 0."""
    current_version: NotRequired[Count]
    current: NotRequired[EntryDocument | TaskDocument | NamespaceDocument]
    """The present state, if you may read it."""
    max: NotRequired[Count]
    actual: NotRequired[Count]
    size: NotRequired[Count]
    """The size of an object in bytes."""
    limit: NotRequired[str | Count]
    """The name of the limit that is reached; with `PAGE_TOO_LARGE`, the `limit` to ask for."""
    current_count: NotRequired[Count]
    max_capacity: NotRequired[Count]


def render_current(
    current: Entry | Task | Namespace,
) -> EntryDocument | TaskDocument | NamespaceDocument:
    """Render what a write conflicts with."""
    match current:
        case Entry():
            return render_entry(current)
        case Task():
            return render_task(current)
        case Namespace():
            return render_namespace(current)
