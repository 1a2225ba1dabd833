"""Bodies of requests about namespaces (RFC-0015 §2.3)."""

from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from functions.namespaces.model import Access
from functions.platform.limits import MAX_ACL_ENTRIES, MAX_SEARCH_FIELDS
from functions.platform.validation import (
    AgentId,
    ChangeModel,
    FieldName,
    Name,
    RequestModel,
)


class Allowed(RequestModel):
    """One line of `permissions.allow`."""

    agent: AgentId
    access: Access


class Permissions(ChangeModel):
    """`permissions` of a namespace: only what is given changes."""

    default: Access | None = None
    """The access of everybody who isn't listed; null: that of the longest prefix rule that fits,
    else `read`."""
    allow: list[Allowed] = Field(default=[], max_length=MAX_ACL_ENTRIES)
    """Whose access changes; `none` takes one out."""


class NamespaceChange(RequestModel):
    """Body of `PATCH /api/v1/memory/namespaces/{namespace}`."""

    namespace: Name | None = None
    """The name in the path, as RFC-0015 §2.3 repeats it."""
    permissions: Permissions = Field(default_factory=Permissions)
    search_fields: (
        Annotated[
            list[FieldName],
            Field(max_length=MAX_SEARCH_FIELDS),
            AfterValidator(lambda names: list(dict.fromkeys(names))),
        ]
        | None
    ) = None
    """The fields at the top level of values that searches may compare; replaces the former list."""

    @model_validator(mode="after")
    def _names_something(self) -> Self:
        if not {"permissions", "search_fields"} & self.model_fields_set:
            raise ValueError("names nothing to change: give permissions or search_fields")
        return self
