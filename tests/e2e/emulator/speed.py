"""A function that logs nothing answers at once."""

from ministack.core.lambda_runtime import Worker


def mend() -> None:
    """The emulator waits 50 ms for the first line of a log; 3 ms do."""
    Worker._drain_stderr_bounded.__defaults__ = (0.003, 0.002, 0.250)
