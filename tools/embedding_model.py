"""Install the embedding model: data files of the package `wordllama`, the same for all platforms.

The package itself is compiled for few platforms. So any of its wheels is downloaded, and its data
is extracted. Only pip is needed.
"""

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from tempfile import TemporaryDirectory

LOCK = Path(__file__).parents[1] / "requirements/model.lock"
FOLDER = "wordllama_data"
_FILES = {
    "wordllama/weights/l2_supercat_256.safetensors": "weights.safetensors",
    "wordllama/tokenizers/l2_supercat_tokenizer_config.json": "tokenizer.json",
    "wordllama-*.dist-info/licenses/LICENSE": "LICENSE",
}
_WHEEL = ("--platform=manylinux_2_28_x86_64", "--platform=manylinux2014_x86_64")
_PYTHON = ("--implementation=cp", "--python-version=3.11")


def take_model(packages: Path) -> None:
    """Install the model's files for `functions/vectors/wordllama.py`.

    Args:
        packages: a folder that Python imports from.

    Raises:
        subprocess.CalledProcessError: pip can't download the package, and has printed the reason.
    """
    with TemporaryDirectory() as unpacked:
        pip = [sys.executable, "-I", "-m", "pip"]  # also from where a wheel is built in isolation
        command = [*pip, "install", "--quiet", "--no-compile", "--no-deps"]
        pinned = ["--only-binary=:all:", "--require-hashes", f"--requirement={LOCK}"]
        where = ["--disable-pip-version-check", f"--target={unpacked}"]
        subprocess.run([*command, *pinned, *_WHEEL, *_PYTHON, *where], check=True)  # noqa: S603
        place = packages / FOLDER
        place.mkdir(parents=True, exist_ok=True)
        for pattern, name in _FILES.items():
            (found,) = Path(unpacked).glob(pattern)
            shutil.copyfile(found, place / name)


def main() -> int:
    """Install the model into the environment of this Python."""
    try:
        take_model(Path(sysconfig.get_path("purelib")))
    except subprocess.CalledProcessError as error:
        return error.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
