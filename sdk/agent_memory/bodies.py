"""Bodies of requests as compact JSON, exact in their integers and strings."""

import json
from typing import Any


def json_body(document: Any) -> bytes:
    """The document as UTF-8 JSON.

    Raises:
        ValueError: it holds NaN, an infinity, or half a surrogate pair.
        TypeError: it holds what JSON has no form for.
    """
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode()
