"""Put the embedding model into the wheel of the service, for `pip install .` on any platform."""

import runpy
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ModelHook(BuildHookInterface[Any]):
    """Adds the model's files; without them the service can't search."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Download the model; a wheel that can't have it is built without."""
        if version == "editable":
            return
        self._folder = TemporaryDirectory()
        tool = runpy.run_path(str(Path(self.root) / "tools/embedding_model.py"))
        try:
            tool["take_model"](Path(self._folder.name))
        except subprocess.CalledProcessError:
            sys.stderr.write("the embedding model is left out: the service will not search\n")
            return
        folder = tool["FOLDER"]
        build_data["force_include"][str(Path(self._folder.name) / folder)] = folder

    def finalize(self, version: str, *_: Any) -> None:
        """Remove the download."""
        if version != "editable":
            self._folder.cleanup()
