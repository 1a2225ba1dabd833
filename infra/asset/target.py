"""The Lambda runtime that the code is built for."""

from dataclasses import dataclass

_GLIBC = {"3.11": 26}  # Amazon Linux 2; later Pythons run on Amazon Linux 2023
_GLIBC_OF_2023 = 34
_MACHINES = {"arm64": "aarch64", "x86_64": "x86_64"}


@dataclass(frozen=True, slots=True)
class Target:
    """A Lambda runtime: `runtime` as in `python3.13`, `architecture` as in `arm64`.

    With `boto3`, the asset contains the AWS SDK in our version; otherwise Lambda's own is used.
    """

    runtime: str
    architecture: str
    boto3: bool = True

    @property
    def python(self) -> str:
        """The version of Python, as in `3.13`."""
        return self.runtime.removeprefix("python")

    @property
    def platforms(self) -> list[str]:
        """The tags of wheels that run there, best first."""
        machine = _MACHINES[self.architecture]
        newest = _GLIBC.get(self.python, _GLIBC_OF_2023)
        tags = [f"manylinux_2_{minor}_{machine}" for minor in range(newest, 16, -1)]
        return [*tags, f"manylinux2014_{machine}"]
