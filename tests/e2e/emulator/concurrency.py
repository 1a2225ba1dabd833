"""The account's concurrent executions: those of a new account, where a test asks for that."""

import os

from ministack.services import lambda_svc


def mend() -> None:
    """The emulator's limit depends on the memory of this machine."""
    if limit := os.environ.get("ACCOUNT_CONCURRENCY"):
        lambda_svc._ACCOUNT_CONCURRENCY_CAP = int(limit)
