"""Bodies of requests about namespaces (RFC-0015 §2.3)."""

from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from functions.namespaces.model import Access
from functions.platform.limits import MAX_ACL_ENTRIES, MAX_HISTORY_DAYS, MAX_SEARCH_FIELDS
from functions.platform.validation import AgentId, ChangeModel, FieldName, Name, RequestModel


class Allowed(RequestModel):
    """One line of `permissions.allow`."""

    agent: AgentId
    access: Access


class Permissions(ChangeModel):
    """`permissions` of a namespace: only the given fields change."""

    default: Access | None = None
    """The access of principals that aren't listed; null: that of the longest matching prefix rule,
    or else `read`."""
    allow: list[Allowed] = Field(default=[], max_length=MAX_ACL_ENTRIES)
    """The principals whose access changes; `none` removes one."""


class HistorySettings(RequestModel):
    """The time for which earlier values of entries are kept."""

    days: Annotated[int, Field(ge=0, le=MAX_HISTORY_DAYS)]
    """For how many days after its change a value is kept; 0 keeps none."""


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

    history: HistorySettings | None = None
    """The time for which earlier values of entries are kept; null: {DEFAULT_HISTORY_DAYS}."""

    @model_validator(mode="after")
    def _names_something(self) -> Self:
        if not {"permissions", "search_fields", "history"} & self.model_fields_set:
            raise ValueError("must have `permissions`, `search_fields` or `history`")
        return self
