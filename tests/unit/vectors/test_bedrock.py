"""Embedding in Amazon Bedrock: what is asked, by botocore's own model of it, and what is taken."""

from io import BytesIO
from typing import Any

import botocore.session
import orjson
import pytest
from botocore.response import StreamingBody
from botocore.stub import Stubber

from functions.platform.embedding_models import parse_embedding_model
from functions.platform.errors import Unavailable
from functions.platform.settings import Settings, WrongSetting
from functions.vectors.bedrock import BedrockEmbeddings

Json = dict[str, Any]
TITAN = "amazon.titan-embed-text-v2:0"
NOVA = "amazon.nova-2-multimodal-embeddings-v1:0"


@pytest.fixture
def bedrock() -> Any:
    """A client that is never to reach AWS."""
    return botocore.session.Session().create_client(
        "bedrock-runtime",
        region_name="eu-central-1",
        aws_access_key_id="none",
        aws_secret_access_key="none",
    )


def expect(stub: Stubber, model: str, asked: Json, answer: Json) -> None:
    body = orjson.dumps(answer)
    stub.add_response(
        "invoke_model",
        {"body": StreamingBody(BytesIO(body), len(body)), "contentType": "application/json"},
        {
            "modelId": model,
            "body": orjson.dumps(asked),
            "contentType": "application/json",
            "accept": "application/json",
        },
    )


def nova(purpose: str) -> Json:
    text = {"truncationMode": "END", "value": "tea"}
    asked = {"embeddingPurpose": purpose, "embeddingDimension": 256, "text": text}
    return {"taskType": "SINGLE_EMBEDDING", "singleEmbeddingParams": asked}


def cohere(purpose: str, **more: Any) -> Json:
    return {"texts": ["tea"], "input_type": purpose, "embedding_types": ["float"]} | more


TITAN_ANSWER = {"embedding": [0.5] * 64, "inputTextTokenCount": 1}
COHERE_ANSWER = {"embeddings": {"float": [[0.5] * 64]}, "texts": ["tea"]}
DATA_ANSWER = {"data": [{"embedding": [0.5] * 64}]}
ONE = {"inputText": "tea"}


@pytest.mark.parametrize(
    ("model", "dimensions", "is_query", "asked", "answer"),
    [
        (TITAN, 0, False, ONE | {"dimensions": 256, "normalize": True}, TITAN_ANSWER),
        (TITAN, 1024, True, ONE | {"dimensions": 1024, "normalize": True}, TITAN_ANSWER),
        ("amazon.titan-embed-text-v1", 0, False, ONE, TITAN_ANSWER),
        ("amazon.titan-embed-g1-text-02", 0, False, ONE, TITAN_ANSWER),
        (
            "amazon.titan-embed-image-v1",
            384,
            False,
            ONE | {"embeddingConfig": {"outputEmbeddingLength": 384}},
            TITAN_ANSWER,
        ),
        (NOVA, 0, False, nova("GENERIC_INDEX"), {"embeddings": [{"embedding": [0.5] * 64}]}),
        (NOVA, 0, True, nova("TEXT_RETRIEVAL"), {"embeddings": [{"embedding": [0.5] * 64}]}),
        (
            "cohere.embed-multilingual-v3",
            0,
            False,
            cohere("search_document", truncate="END"),
            COHERE_ANSWER,
        ),
        (
            "cohere.embed-english-v3",
            0,
            True,
            cohere("search_query", truncate="END"),
            {"embeddings": [[0.5] * 64]},
        ),
        (
            "eu.cohere.embed-v4:0",
            1536,
            False,
            cohere("search_document", output_dimension=1536, truncate="RIGHT"),
            COHERE_ANSWER,
        ),
        (
            "us.twelvelabs.marengo-embed-2-7-v1:0",
            0,
            True,
            {"inputType": "text", "inputText": "tea", "textTruncate": "end"},
            DATA_ANSWER,
        ),
        (
            "twelvelabs.marengo-embed-3-0-v1:0",
            0,
            True,
            {"inputType": "text", "text": {"inputText": "tea"}},
            DATA_ANSWER,
        ),
    ],
)
def test_each_family_of_models_is_asked_in_its_own_form(
    bedrock: Any, model: str, dimensions: int, is_query: bool, asked: Json, answer: Json
) -> None:
    chosen = parse_embedding_model(f"bedrock:{model}", dimensions)
    with Stubber(bedrock) as stub:
        expect(stub, model, asked, answer)
        embed = BedrockEmbeddings(bedrock, chosen, is_query=is_query)
        assert [each.tolist() for each in embed(["tea"])] == [[0.5] * 64]
        stub.assert_no_pending_responses()


def test_cohere_takes_96_texts_at_once(bedrock: Any) -> None:
    model = "cohere.embed-english-v3"
    texts = [f"text {number}" for number in range(100)]
    embed = BedrockEmbeddings(bedrock, parse_embedding_model(f"bedrock:{model}"), is_query=False)
    with Stubber(bedrock) as stub:
        for part in (texts[:96], texts[96:]):
            vectors = {"float": [[float(text[5:])] for text in part]}
            body = cohere("search_document", truncate="END") | {"texts": part}
            expect(stub, model, body, {"embeddings": vectors})
        assert [each[0] for each in embed(texts)] == list(range(100))


@pytest.mark.parametrize("code", ["AccessDeniedException", "ThrottlingException"])
def test_a_model_that_denies_access_is_unavailable(bedrock: Any, code: str) -> None:
    embed = BedrockEmbeddings(bedrock, parse_embedding_model(f"bedrock:{TITAN}"), is_query=True)
    with Stubber(bedrock) as stub:
        stub.add_client_error("invoke_model", code)
        with pytest.raises(Unavailable, match="embedding model"):
            embed(["green tea"])


@pytest.mark.parametrize(
    ("model", "dimensions"),
    [
        ("titan", 0),
        ("bedrock:", 0),
        ("bedrock:anthropic.claude-3", 0),
        (f"bedrock:{TITAN}", 300),
        ("bedrock:cohere.embed-english-v3", 256),
        ("openai:small", 32),
        ("openai:small", 4096),
    ],
)
def test_an_unknown_model_is_a_wrong_setting(model: str, dimensions: int) -> None:
    chosen: Json = {"embedding_model": model, "embedding_dimensions": dimensions}
    with pytest.raises(WrongSetting, match="EMBEDDING_MODEL"):
        Settings(memory_table="m", log_table="l", embedding_url="https://a.example", **chosen)


def test_a_model_of_an_endpoint_needs_its_address() -> None:
    with pytest.raises(WrongSetting, match="EMBEDDING_URL"):
        Settings(memory_table="m", log_table="l", embedding_model="openai:small")
