"""How the services of packages are put together that only some requests need."""

from functions.container import Container


class FurtherContainer:
    """Makes services, each at its first use, on those of the common container."""

    def __init__(self, common: Container) -> None:
        self._common = common
