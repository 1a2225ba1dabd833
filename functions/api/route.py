"""A route: what it answers, who may call it, and what the OpenAPI document says of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from functions.api.call import Answer, Call
from functions.identity.model import Principal

PUBLIC, ROOT, ANY = "public", "root", "any"


@dataclass(frozen=True, slots=True)
class Route:
    """One operation; its path is a template, as in `functions.api.templates`.

    `needs` is a permission of RFC-0015 §6.4, or PUBLIC, or ROOT, or ANY: whatever principal.
    `answers` maps each status to the name of its schema (None: no body); `also` lists the error
    statuses beside those that any route of its kind gives.
    """

    method: str
    path: str
    handle: Callable[[Call, Principal], Answer]
    needs: str
    summary: str
    answers: dict[int, str | None]
    body: Any = None
    body_optional: bool = False
    media: tuple[str, ...] = ("application/json",)  # what the body may be
    query: tuple[str, ...] = ()
    also: tuple[int, ...] = ()
    if_match: str | None = None  # "required" or "optional"
    once: bool = False  # honours Idempotency-Key
    envelope: bool = False  # its errors are OpenWOP's, not problem documents

    @property
    def template(self) -> str:
        """The path as OpenAPI writes it."""
        return self.path.replace("+}", "}")
