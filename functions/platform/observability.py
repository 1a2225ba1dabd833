"""Structured logs: one JSON line a request, with names of routes and codes, never of memories."""

import traceback

from aws_lambda_powertools import Logger

logger = Logger(service="agent-memory", utc=True)


def log_unforeseen(error: BaseException, **fields: object) -> None:
    """Logs an error that nobody foresaw: its type and where it was raised, not what it says.

    A message may quote what a caller sent.
    """
    frames = traceback.extract_tb(error.__traceback__)
    places = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames[-12:]]
    logger.error(
        "unforeseen error", extra={"error": type(error).__name__, "places": places, **fields}
    )
