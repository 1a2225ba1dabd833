"""Write and load the data that releases have stored.

A folder for each release holds what a data folder holds, without the engine's own format: the items
of both tables as lines of JSON, the archive, and the two keys. To write the present release's:

    python -m pytest -q tests/contract/stored_data/write_release.py
"""

import base64
import gzip
import json
import shutil
from pathlib import Path
from typing import Any

from tests.contract.engines import Engine

FOLDER = Path(__file__).parent
ITEMS, KEY, API_KEYS = "items.jsonl.gz", "encryption-key", "api-keys.json"


def write(folder: Path, engine: Engine, key_file: Path, api_keys: dict[str, str]) -> None:
    """Write what the tables and the archive hold, with the keys."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    lines = [
        json.dumps([table, item], default=_to_base64, sort_keys=True)
        for name, table in ((engine.memory, "memory"), (engine.log, "log"))
        for page in engine.client.get_paginator("scan").paginate(TableName=name)
        for item in page["Items"]
    ]
    text = "\n".join(sorted(lines)).encode()
    (folder / ITEMS).write_bytes(gzip.compress(text, mtime=0))
    (folder / KEY).write_bytes(key_file.read_bytes())
    (folder / API_KEYS).write_text(json.dumps(api_keys, indent=1, sort_keys=True) + "\n")
    shutil.copytree(key_file.parent / "archive", folder / "archive")


def load(folder: Path, engine: Engine, target: Path) -> tuple[Path, dict[str, str]]:
    """Put a release's items into the tables; return the key's file and the API keys.

    Args:
        target: a folder for the key and the archive.
    """
    for line in gzip.decompress((folder / ITEMS).read_bytes()).splitlines():
        table, item = json.loads(line, object_hook=_from_base64)
        name = engine.memory if table == "memory" else engine.log
        engine.client.put_item(TableName=name, Item=item)
    shutil.copytree(folder / "archive", target / "archive")
    key_file = target / KEY
    key_file.write_bytes((folder / KEY).read_bytes())
    return key_file, json.loads((folder / API_KEYS).read_text())


def _to_base64(value: bytes) -> dict[str, str]:
    return {"base64": base64.b64encode(value).decode()}


def _from_base64(value: dict[str, Any]) -> Any:
    return base64.b64decode(value["base64"]) if value.keys() == {"base64"} else value
