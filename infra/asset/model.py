"""Takes the embedding model along: two data files of a package that has no build for Lambda."""

import shutil
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from infra.asset.target import Target

MODEL = "wordllama"
_FILES = (
    "weights/l2_supercat_256.safetensors",
    "tokenizers/l2_supercat_tokenizer_config.json",
)
_BUILT = Target("python3.11", "x86_64")  # a platform for which there is one; its data is the same


def take_model(folder: Path, unpack: Callable[[Target, Path], None]) -> None:
    """Copy the model's files where `functions/vectors/wordllama.py` looks for them.

    Args:
        folder: of the asset's packages.
        unpack: puts the model's package for a platform into a folder.
    """
    with TemporaryDirectory() as unpacked:
        unpack(_BUILT, Path(unpacked))
        for name in _FILES:
            place = folder / MODEL / name
            place.parent.mkdir(parents=True)
            shutil.copyfile(Path(unpacked) / MODEL / name, place)
