"""DynamoDB's own search of vectors: an option of a deployment, as functions call it."""

from typing import Any

import pytest

from functions.platform.schema import build_memory_table, build_vector_index
from infra.agent_memory_cdk.settings import Settings, WrongChoice
from infra.config import Config, ConfigError
from tests.infra.conftest import Synthesize
from tests.infra.template import FUNCTIONS, Template


def _tells_the_index(template: Template, function: str) -> str | None:
    variables: dict[str, str] = template.function(function)["Environment"]["Variables"]
    return variables.get("VECTOR_INDEX")


def test_a_deployment_has_none_unless_it_asks_for_it(dev: Template) -> None:
    assert "VectorIndexes" not in dev.named("DynamoDB::GlobalTable", "MemoryTable")
    assert not any(_tells_the_index(dev, function) for function in FUNCTIONS)
    assert "dynamodb:SearchVectors" not in str(dev.statements("ApiFunction"))


def test_it_is_what_the_functions_are_written_for(with_index: Template) -> None:
    table = with_index.named("DynamoDB::GlobalTable", "MemoryTable")
    (index,) = table["VectorIndexes"]
    name = index["IndexName"]
    assert index == build_vector_index(name, 256)
    found = {each["AttributeName"]: each["AttributeType"] for each in table["AttributeDefinitions"]}
    of_table = {each["AttributeName"] for each in build_memory_table("any")["AttributeDefinitions"]}
    of_index = {each["AttributeName"] for each in index["SearchSchema"]}
    assert found.keys() == of_table | of_index
    assert {found[each] for each in of_index} == {"S"}
    assert table["BillingMode"] == "PAY_PER_REQUEST"
    assert [_tells_the_index(with_index, function) for function in FUNCTIONS] == [name] * len(
        FUNCTIONS
    )


def test_only_the_api_function_may_search_and_only_that_index(with_index: Template) -> None:
    allowed = {
        function: [
            each["Resource"]
            for each in with_index.statements(f"{function}Function")
            if each["Action"] == "dynamodb:SearchVectors"
        ]
        for function in FUNCTIONS
    }
    table = {"Fn::GetAtt": [with_index.id_of("DynamoDB::GlobalTable", "MemoryTable"), "Arn"]}
    assert allowed == {
        "Api": [{"Fn::Join": ["", [table, "/index/by_meaning"]]}],
        "Stream": [],
        "Schedule": [],
    }


def test_lambdas_own_sdk_may_be_too_old_for_it() -> None:
    with pytest.raises(ConfigError, match="omit one"):
        Config.from_context({"boto3": "runtime", "vector_index": "true"})


def test_a_model_of_bedrocks_is_named_and_only_it_may_be_called(synthesize: Synthesize) -> None:
    model = "amazon.titan-embed-text-v2:0"
    template = synthesize(embedding_model=f"bedrock:{model}")
    for function in ("Api", "Embedding", "Schedule"):
        variables = template.function(function)["Environment"]["Variables"]
        assert variables["EMBEDDING_MODEL"] == f"bedrock:{model}"
        found = [
            each["Resource"]
            for each in template.statements(f"{function}Function")
            if each["Action"] == "bedrock:InvokeModel"
        ]
        assert [str(each["Fn::Join"][1][-1]) for each in found] == [f"::foundation-model/{model}"]
    assert not [
        each
        for each in template.statements("StreamFunction")
        if each["Action"] == "bedrock:InvokeModel"
    ]


def test_a_model_of_an_endpoint_has_its_key(synthesize: Synthesize) -> None:
    key = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:embeddings-AbCdEf"
    chosen: dict[str, Any] = {
        "embedding_model": "openai:large",
        "embedding_url": "https://models.example.com/v1",
        "embedding_key_arn": key,
        "embedding_dimensions": 1024,
        "vector_index": True,
    }
    template = synthesize(**chosen)
    for function in ("Api", "Embedding", "Schedule"):
        variables = template.function(function)["Environment"]["Variables"]
        assert variables["EMBEDDING_URL"] == "https://models.example.com/v1"
        assert variables["EMBEDDING_KEY_SECRET_ID"] == key
        assert variables["EMBEDDING_DIMENSIONS"] == "1024"
        assert key in str(list(template.statements(f"{function}Function")))
    assert "bedrock:" not in str(list(template.statements("ApiFunction")))
    (index,) = template.named("DynamoDB::GlobalTable", "MemoryTable")["VectorIndexes"]
    assert index["Dimensions"] == 1024 + 128


def test_an_inference_profile_may_be_called(synthesize: Synthesize) -> None:
    template = synthesize(embedding_model="bedrock:eu.cohere.embed-v4:0", vector_index=True)
    allowed = [
        str(each["Resource"])
        for each in template.statements("ApiFunction")
        if each["Action"] == "bedrock:InvokeModel"
    ]
    assert "inference-profile/eu.cohere.embed-v4:0" in str(allowed)
    assert "foundation-model/cohere.embed-v4:0" in str(allowed)


@pytest.mark.parametrize(
    "wrong",
    [
        {"embedding_model": "titan"},
        {"embedding_model": "openai:large"},
        {"embedding_model": "bedrock:cohere.embed-english-v3", "embedding_dimensions": 100},
        {"embedding_url": "https://models.example.com/v1"},
        {
            "embedding_model": "openai:large",
            "embedding_url": "https://models.example.com",
            "vector_index": True,
        },
    ],
)
def test_a_model_that_does_not_fit_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(WrongChoice, match="embedding"):
        Settings(name="dev", **wrong)


def test_a_model_of_bedrocks_holds_up_no_event(synthesize: Synthesize) -> None:
    """It has its own function, reader of the stream and dead-letter queue."""
    template = synthesize(embedding_model="bedrock:amazon.titan-embed-text-v2:0")
    consumers = {
        name: template.function(name)["Environment"]["Variables"]["STREAM_CONSUMERS"]
        for name in ("Stream", "Embedding")
    }
    assert consumers == {"Stream": "events,history,usage", "Embedding": "vectors"}
    mappings = template.of_type("Lambda::EventSourceMapping").values()
    destinations = {
        each["FunctionName"]["Ref"]: each["DestinationConfig"]["OnFailure"]["Destination"]
        for each in (mapping["Properties"] for mapping in mappings)
    }
    assert destinations == {
        template.alias(name)["Ref"]: {
            "Fn::GetAtt": [template.id_of("SQS::Queue", f"{stream}DeadLetters"), "Arn"]
        }
        for name, stream in (("Stream", "Stream"), ("Embedding", "EmbeddingStream"))
    }
