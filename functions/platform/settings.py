"""The settings of each function: read once, frozen, and wrong ones fail loudly."""

import os
from collections.abc import Mapping
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


class _FromEnvironment(BaseModel):
    model_config = ConfigDict(frozen=True)

    @classmethod
    def from_env(cls, environ: Mapping[str, str] = os.environ) -> Self:
        """Reads the variables named like the fields, in capitals.

        Raises:
            pydantic.ValidationError: one is missing or wrong.
        """
        names = {field: field.upper() for field in cls.model_fields}
        return cls.model_validate({f: environ[n] for f, n in names.items() if environ.get(n)})


class Archiving(_FromEnvironment):
    """Where conversations go when their retention ends: a bucket, a folder, or nowhere."""

    archive_bucket: str | None = None
    archive_folder: str | None = None

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if self.archive_bucket is not None and self.archive_folder is not None:
            raise ValueError("set ARCHIVE_BUCKET or ARCHIVE_FOLDER")
        return self


class Searching(_FromEnvironment):
    """How meanings are searched: by a vector index of the memory table, or exactly, in memory.

    The model that embeds is the one in the package, or Amazon Titan's in Bedrock.
    """

    vector_index: str | None = None
    embedding_model: str | None = Field(
        default=None, pattern=r"^bedrock:amazon\.titan-embed-text-v2:\d+$"
    )


class ApiSettings(Archiving, Searching):
    """The API function's environment.

    Exactly one of each pair is set: the root key or its Secrets Manager id; the key file or the
    KMS key that data keys of sensitive values are wrapped with. The claims are those of tokens
    that the gateway has verified: which one holds the tenant, which one the principal's id.
    """

    memory_table: str
    log_table: str
    root_key: str | None = Field(default=None, min_length=16)
    root_key_secret_id: str | None = None
    encryption_key_file: str | None = None
    encryption_key_id: str | None = None
    key_cache_seconds: float = Field(default=60, ge=0, le=60)
    jwt_tenant_claim: str | None = None
    jwt_principal_claim: str | None = None
    openwop: Literal["rfc-0004", "1.x"] = "rfc-0004"  # whose markers and discovery document

    @model_validator(mode="after")
    def _one_of_each_pair(self) -> Self:
        if (self.root_key is None) == (self.root_key_secret_id is None):
            raise ValueError("set ROOT_KEY or ROOT_KEY_SECRET_ID")
        if (self.encryption_key_file is None) == (self.encryption_key_id is None):
            raise ValueError("set ENCRYPTION_KEY_FILE or ENCRYPTION_KEY_ID")
        if (self.jwt_tenant_claim is None) != (self.jwt_principal_claim is None):
            raise ValueError("set both JWT_TENANT_CLAIM and JWT_PRINCIPAL_CLAIM, or neither")
        return self


class MaintenanceSettings(Archiving, Searching):
    """The scheduled function's environment; `sweep_threads` are the shards swept side by side."""

    memory_table: str
    log_table: str
    sweep_threads: int = Field(default=8, ge=1, le=32)


class LifecycleSettings(Searching):
    """The stream function's environment; without a bus, events go to the logs alone.

    Its own name, which Lambda gives it, is on its metrics; without one it reports none.
    """

    memory_table: str
    log_table: str
    event_bus: str | None = None
    aws_lambda_function_name: str | None = None


class IntakeSettings(_FromEnvironment):
    """The environment of the function that takes other systems' task events: for whom it does."""

    memory_table: str
    log_table: str
    intake_tenant: str
    intake_principal: str
