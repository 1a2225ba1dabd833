"""DynamoDB's answers as they are: what takes them apart for botocore's client."""

from functools import cached_property
from typing import Any

import orjson
from botocore.parsers import JSONParser, ResponseParserFactory
from botocore.utils import lowercase_dict

from functions.platform.connection import Headers


class _PlainParser(JSONParser):  # type: ignore[misc]
    """Leaves an answer as its JSON says, binary values in base64 included.

    Botocore's own walks every attribute of every item against the service model, which takes half
    of the time of a query; `functions.platform.items` reads the typed form anyway.
    """

    def parse(self, response: dict[str, Any], shape: Any) -> Any:
        if response["status_code"] >= 300 or shape is None:
            return super().parse(response, shape)
        headers = response["headers"]
        parsed = self._handle_json_body(response["body"], shape)
        self._inject_response_metadata(parsed, headers)
        metadata = parsed.setdefault("ResponseMetadata", {})
        metadata["HTTPStatusCode"] = response["status_code"]
        in_lower_case = isinstance(headers, Headers)
        metadata["HTTPHeaders"] = dict(headers) if in_lower_case else lowercase_dict(headers)
        return parsed

    def _handle_json_body(self, raw_body: bytes, shape: object) -> Any:  # noqa: ARG002
        return orjson.loads(raw_body) if raw_body else {}


class PlainParsers(ResponseParserFactory):  # type: ignore[misc]
    """Has one parser for all answers: it keeps nothing of them."""

    @cached_property
    def _parser(self) -> _PlainParser:
        return _PlainParser(**self._defaults)

    def create_parser(self, protocol_name: str) -> Any:  # noqa: ARG002
        return self._parser
