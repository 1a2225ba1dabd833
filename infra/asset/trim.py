"""Takes out of the installed packages what the functions never read."""

import gzip
import json
import re
import shutil
from pathlib import Path
from typing import Any

SERVICES = ("bedrock-runtime", "dynamodb", "events", "kms", "s3", "secretsmanager")
_DATA_OF_ALL = (
    "_retry.json",
    "endpoints.json",
    "partitions.json",
    "sdk-default-configuration.json",
)
_NEVER_READ = ("*.pyi", "*.pyx", "*.pxd", "*.c", "*.h", "examples-1.json")
_ROOTS = re.compile(r"# Subject: CN=(Amazon Root CA|Starfield Services Root Certificate Authority)")
_CERTIFICATE = re.compile(r"(?m)^# Issuer:.*?^-----END CERTIFICATE-----\n", re.DOTALL)


def trim(folder: Path) -> None:
    """Trims the packages that are installed into `folder`."""
    shutil.rmtree(folder / "bin", ignore_errors=True)
    for pattern in _NEVER_READ:
        for found in folder.rglob(pattern):
            found.unlink()
    if (folder / "botocore").exists():
        _trim_models(folder / "botocore/data")
        _trim_words(folder / "botocore/data")
        _trim_endpoints(folder / "botocore/data/endpoints.json")
        _trim_roots(folder / "botocore/cacert.pem")


def _trim_models(data: Path) -> None:
    """Keeps the descriptions of the services that are called: 30 MB less."""
    for each in data.iterdir():
        if each.is_dir() and each.name not in SERVICES:
            shutil.rmtree(each)
        elif each.is_file() and each.name not in _DATA_OF_ALL:
            each.unlink()


def _trim_words(data: Path) -> None:
    """Unpacks the descriptions, and takes out what they say to people: four fifths of them.

    Each client reads some; DynamoDB's takes 5 ms less of its start.
    """
    for packed in data.rglob("*.json.gz"):
        description = json.loads(gzip.decompress(packed.read_bytes()))
        packed.with_suffix("").write_text(json.dumps(_without_words(description)))
        packed.unlink()


def _without_words(part: Any) -> Any:
    """A part of a description; a member that is called `documentation` is no text, and stays."""
    if isinstance(part, list):
        return [_without_words(each) for each in part]
    if not isinstance(part, dict):
        return part
    return {
        name: _without_words(each)
        for name, each in part.items()
        if name != "documentation" or not isinstance(each, str)
    }


def _trim_endpoints(path: Path) -> None:
    """Keeps the same services in the list of endpoints, which every client parses: 1.2 MB less."""
    endpoints = json.loads(path.read_text())
    for partition in endpoints["partitions"]:
        known = partition["services"]
        partition["services"] = {name: known[name] for name in SERVICES if name in known}
    path.write_text(json.dumps(endpoints))


def _trim_roots(path: Path) -> None:
    """Keeps the roots that AWS's own certificates lead to, by its documentation.

    Loading all 126 takes some 20 ms of the first call of each client.
    """
    roots = [found for found in _CERTIFICATE.findall(path.read_text()) if _ROOTS.search(found)]
    path.write_text("\n".join(roots))
