"""The checkpoints that a saver has written or read last."""

from collections import OrderedDict
from threading import Lock

from langgraph.checkpoint.base import ChannelVersions

_REMEMBERED = 1000  # checkpoints whose large values a later one may share


class KnownHeads:
    """The places of the large values of the latest checkpoints, which later ones share."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._heads: OrderedDict[str, tuple[dict[str, tuple[str, str]], ChannelVersions]]
        self._heads = OrderedDict()

    def add(self, place: str, large: dict[str, tuple[str, str]], versions: ChannelVersions) -> None:
        """Record the places of a checkpoint's large values, and the versions of its channels."""
        with self._lock:
            self._heads[place] = (dict(large), dict(versions))
            if len(self._heads) > _REMEMBERED:
                self._heads.popitem(last=False)

    def get(self, place: str) -> tuple[dict[str, tuple[str, str]], ChannelVersions]:
        """Return the places and versions of a checkpoint; None if unknown."""
        with self._lock:
            return self._heads.get(place, ({}, {}))
