"""The settings of each function: read once, frozen, and wrong ones fail loudly."""

import os
from collections.abc import Mapping
from typing import Self

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


class ApiSettings(_FromEnvironment):
    """The API function's environment.

    Exactly one of each pair is set: the root key or its Secrets Manager id; the key file or the
    KMS key that data keys of sensitive values are wrapped with.
    """

    memory_table: str
    log_table: str
    root_key: str | None = Field(default=None, min_length=16)
    root_key_secret_id: str | None = None
    encryption_key_file: str | None = None
    encryption_key_id: str | None = None
    key_cache_seconds: float = Field(default=60, ge=0, le=60)

    @model_validator(mode="after")
    def _one_of_each_pair(self) -> Self:
        if (self.root_key is None) == (self.root_key_secret_id is None):
            raise ValueError("set ROOT_KEY or ROOT_KEY_SECRET_ID")
        if (self.encryption_key_file is None) == (self.encryption_key_id is None):
            raise ValueError("set ENCRYPTION_KEY_FILE or ENCRYPTION_KEY_ID")
        return self


class MaintenanceSettings(_FromEnvironment):
    """The scheduled function's environment; `sweep_threads` are the shards swept side by side."""

    memory_table: str
    log_table: str
    sweep_threads: int = Field(default=8, ge=1, le=32)


class LifecycleSettings(_FromEnvironment):
    """The stream function's environment; without a bus, events go to the logs alone."""

    memory_table: str
    log_table: str
    event_bus: str | None = None
