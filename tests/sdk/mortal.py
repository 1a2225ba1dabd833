"""A server that tests kill, and start again on its data."""

from contextlib import ExitStack
from pathlib import Path

from tests.contract.local_server import LocalServer, running
from tests.sdk.fault_proxy import FaultProxy


class Mortal:
    """A server that is killed and started again on its data."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._stack = ExitStack()
        self.server = self._started()

    def _started(self) -> LocalServer:
        return self._stack.enter_context(running(self._data))

    def die_and_rise(self, proxy: FaultProxy) -> None:
        """Kills it; when this returns, the proxy leads to its successor."""
        self.server.process.kill()
        self.server.process.wait()
        self.server = self._started()
        proxy.upstream = self.server.address.removeprefix("http://")

    def close(self) -> None:
        self._stack.close()
