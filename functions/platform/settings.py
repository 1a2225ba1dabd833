"""The settings of each function: read once, frozen, and wrong ones fail loudly.

Checked by hand: pydantic would take longer to import than all of the function's own modules. They
have no representation, since some are secrets.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, fields
from typing import Any, Literal, Self

_TITAN = re.compile(r"bedrock:amazon\.titan-embed-text-v2:\d+", re.ASCII)
_LEAST_ROOT_KEY = 16  # characters


class WrongSetting(ValueError):
    """A setting is missing or wrong; the message names its variable, and never its value."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class _FromEnvironment:
    @classmethod
    def from_env(cls, environ: Mapping[str, str] = os.environ) -> Self:
        """Reads the variables named like the fields, in capitals; an empty one isn't set.

        Raises:
            WrongSetting: one is missing or wrong.
        """
        given = {each: text for each in fields(cls) if (text := environ.get(each.name.upper()))}
        for each in fields(cls):
            _check(each in given or each.default is not MISSING, f"set {each.name.upper()}")
        return cls(**{each.name: _read(each, text) for each, text in given.items()})

    def __post_init__(self) -> None:
        """Checks what the type of a setting doesn't say."""


def _read(field: Field[Any], text: str) -> Any:
    """A variable's text as its setting's type."""
    if field.type not in (int, float):
        return text
    try:
        return int(text) if field.type is int else float(text)
    except ValueError:
        raise WrongSetting(f"{field.name.upper()} is a number") from None


def _check(right: bool, problem: str) -> None:
    if not right:
        raise WrongSetting(problem)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Archiving(_FromEnvironment):
    """Where conversations go when their retention ends: a bucket, a folder, or nowhere."""

    archive_bucket: str | None = None
    archive_folder: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        one = self.archive_bucket is None or self.archive_folder is None
        _check(one, "set ARCHIVE_BUCKET or ARCHIVE_FOLDER")


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Searching(_FromEnvironment):
    """How meanings are searched: by a vector index of the memory table, or exactly, in memory.

    The model that embeds is the one in the package, or Amazon Titan's in Bedrock.
    """

    vector_index: str | None = None
    embedding_model: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        known = self.embedding_model is None or _TITAN.fullmatch(self.embedding_model)
        _check(bool(known), "EMBEDDING_MODEL is bedrock:amazon.titan-embed-text-v2:VERSION")


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ApiSettings(Archiving, Searching):
    """The API function's environment.

    Exactly one of each pair is set: the root key or its Secrets Manager id; the key file or the
    KMS key that data keys of sensitive values are wrapped with. The claims are those of tokens
    that the gateway has verified: which one holds the tenant, which one the principal's id.
    """

    memory_table: str
    log_table: str
    root_key: str | None = None
    root_key_secret_id: str | None = None
    encryption_key_file: str | None = None
    encryption_key_id: str | None = None
    key_cache_seconds: float = 60
    jwt_tenant_claim: str | None = None
    jwt_principal_claim: str | None = None
    openwop: Literal["rfc-0004", "1.x"] = "rfc-0004"  # whose markers and discovery document

    def __post_init__(self) -> None:
        super().__post_init__()
        root_key = self.root_key is None or len(self.root_key) >= _LEAST_ROOT_KEY
        _check(root_key, f"ROOT_KEY has at least {_LEAST_ROOT_KEY} characters")
        _check(0 <= self.key_cache_seconds <= 60, "KEY_CACHE_SECONDS is a number from 0 to 60")
        _check(self.openwop in ("rfc-0004", "1.x"), "OPENWOP is rfc-0004 or 1.x")
        one = (self.root_key is None) != (self.root_key_secret_id is None)
        _check(one, "set ROOT_KEY or ROOT_KEY_SECRET_ID")
        one = (self.encryption_key_file is None) != (self.encryption_key_id is None)
        _check(one, "set ENCRYPTION_KEY_FILE or ENCRYPTION_KEY_ID")
        both = (self.jwt_tenant_claim is None) == (self.jwt_principal_claim is None)
        _check(both, "set both JWT_TENANT_CLAIM and JWT_PRINCIPAL_CLAIM, or neither")


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class MaintenanceSettings(Archiving, Searching):
    """The scheduled function's environment; `sweep_threads` are the shards swept side by side."""

    memory_table: str
    log_table: str
    sweep_threads: int = 8

    def __post_init__(self) -> None:
        super().__post_init__()
        _check(1 <= self.sweep_threads <= 32, "SWEEP_THREADS is a number from 1 to 32")


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class LifecycleSettings(Searching):
    """The stream function's environment; without a bus, events go to the logs alone.

    Its own name, which Lambda gives it, is on its metrics; without one it reports none.
    """

    memory_table: str
    log_table: str
    event_bus: str | None = None
    aws_lambda_function_name: str | None = None


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class IntakeSettings(_FromEnvironment):
    """The environment of the function that takes other systems' task events: for whom it does."""

    memory_table: str
    log_table: str
    intake_tenant: str
    intake_principal: str
