"""The error of an adapter's import if its framework isn't installed."""

from types import TracebackType


class Extra:
    """If an import inside fails, the error names the extra to install.

    Args:
        name: of the extra.

    Raises:
        ModuleNotFoundError: raised when a module is missing, with the command that installs it.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        """Begin."""

    # `None` tells type checkers that no error is suppressed, so that the names are bound
    def __exit__(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        """Name the missing extra, if a module is missing."""
        if isinstance(error, ModuleNotFoundError):
            message = f"{error.msg}: pip install 'agent-memory[{self._name}]'"
            raise ModuleNotFoundError(message, name=error.name) from error
