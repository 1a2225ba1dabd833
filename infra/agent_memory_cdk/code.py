"""The functions' code: what this package carries, or what the caller has built."""

import json
from dataclasses import dataclass
from pathlib import Path

from aws_cdk import aws_lambda as lambda_

_BUNDLE = Path(__file__).parent / "bundle"


class NoCode(Exception):
    """This package carries no code of the functions; the message says what to do."""


@dataclass(frozen=True, slots=True)
class FunctionCode:
    """Tells what Lambda unpacks.

    Attributes:
        path: of a folder, or of a zip file.
        digest: of all that it is made from.
        runtime: the Python that it is built for, as in `python3.14`.
        architecture: the processor that it is built for, as in `arm64`.
        compiled: whether it has bytecode; without, a cold start compiles all modules.
    """

    path: Path
    digest: str
    runtime: str
    architecture: str
    compiled: bool = True

    def to_asset(self) -> lambda_.AssetCode:
        """Make the asset that the CDK uploads."""
        return lambda_.Code.from_asset(str(self.path), asset_hash=self.digest)


def find_bundled_code(bundle: Path = _BUNDLE) -> FunctionCode:
    """Find the code that a published package carries.

    Raises:
        NoCode: this is the source, which carries none.
    """
    manifest = bundle / "manifest.json"
    if not manifest.exists():
        raise NoCode("pass code=: this copy of agent_memory_cdk carries none")
    details = json.loads(manifest.read_text())
    return FunctionCode(bundle / details.pop("file"), **details)
