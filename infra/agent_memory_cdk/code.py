"""The functions' code: in this package, or built by the caller."""

import json
from dataclasses import dataclass
from pathlib import Path

from aws_cdk import aws_lambda as lambda_

_BUNDLE = Path(__file__).parent / "bundle"


class NoCode(Exception):
    """This package contains no code of the functions; the message has the remedy."""


@dataclass(frozen=True, slots=True)
class FunctionCode:
    """The code that Lambda unpacks.

    Attributes:
        path: of a folder, or of a zip file.
        digest: of all its sources.
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
        """Create the asset that the CDK uploads."""
        return lambda_.Code.from_asset(str(self.path), asset_hash=self.digest)


def find_bundled_code(bundle: Path = _BUNDLE) -> FunctionCode:
    """Find the code in a published package.

    Raises:
        NoCode: this is the source, which contains none.
    """
    manifest = bundle / "manifest.json"
    if not manifest.exists():
        raise NoCode("pass code=: this copy of agent_memory_cdk contains no code of the functions")
    details = json.loads(manifest.read_text())
    return FunctionCode(bundle / details.pop("file"), **details)
