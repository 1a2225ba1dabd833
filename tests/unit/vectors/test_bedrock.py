"""Embedding in Amazon Bedrock: what is asked, by botocore's own model of it, and what is taken."""

from io import BytesIO
from typing import Any

import botocore.session
import orjson
import pytest
from botocore.response import StreamingBody
from botocore.stub import Stubber

from functions.platform.errors import Unavailable
from functions.platform.settings import Settings, WrongSetting
from functions.vectors.bedrock import build_titan_embed

TITAN = "amazon.titan-embed-text-v2:0"


@pytest.fixture
def bedrock() -> Any:
    """A client that is never to reach AWS."""
    return botocore.session.Session().create_client(
        "bedrock-runtime",
        region_name="eu-central-1",
        aws_access_key_id="none",
        aws_secret_access_key="none",
    )


def test_a_text_becomes_a_vector_of_the_indexs_dimension(bedrock: Any) -> None:
    asked = {"inputText": "green tea", "dimensions": 256, "normalize": True}
    body = orjson.dumps({"embedding": [0.0625] * 256, "inputTextTokenCount": 3})
    with Stubber(bedrock) as stub:
        stub.add_response(
            "invoke_model",
            {"body": StreamingBody(BytesIO(body), len(body)), "contentType": "application/json"},
            {
                "modelId": TITAN,
                "body": orjson.dumps(asked),
                "contentType": "application/json",
                "accept": "application/json",
            },
        )
        assert build_titan_embed(bedrock, TITAN)("green tea").tolist() == [0.0625] * 256
        stub.assert_no_pending_responses()


@pytest.mark.parametrize("code", ["AccessDeniedException", "ThrottlingException"])
def test_a_model_that_denies_access_is_unavailable(bedrock: Any, code: str) -> None:
    with Stubber(bedrock) as stub:
        stub.add_client_error("invoke_model", code)
        with pytest.raises(Unavailable, match="embedding model"):
            build_titan_embed(bedrock, TITAN)("green tea")


@pytest.mark.parametrize("model", ["titan", "bedrock:", "bedrock:amazon.titan-embed-text-v1"])
def test_an_unknown_model_is_a_wrong_setting(model: str) -> None:
    with pytest.raises(WrongSetting, match="EMBEDDING_MODEL"):
        Settings(memory_table="m", log_table="l", embedding_model=model)
