"""Test which resources are deleted with a trial, and which are kept in production."""

import pytest

from tests.infra.template import Template

_HOLDS_DATA = (
    "DynamoDB::GlobalTable",
    "KMS::Key",
    "SecretsManager::Secret",
    "S3::Bucket",
    "Logs::LogGroup",
)


@pytest.mark.parametrize("kind", _HOLDS_DATA)
def test_a_trial_leaves_nothing_behind(dev: Template, kind: str) -> None:
    assert {each["DeletionPolicy"] for each in dev.of_type(kind).values()} == {"Delete"}


@pytest.mark.parametrize("kind", _HOLDS_DATA)
def test_production_keeps_its_data(prod: Template, kind: str) -> None:
    for each in prod.of_type(kind).values():
        assert each["UpdateReplacePolicy"] == "Retain"
        assert each["DeletionPolicy"] == "RetainExceptOnCreate"


@pytest.mark.parametrize("part", ["", "-state"])
def test_nothing_keeps_a_failed_first_deployment_from_being_repeated(
    prod: Template, part: str
) -> None:
    properties = prod.manifest["artifacts"][f"agent-memory-prod{part}"]["properties"]
    assert not properties.get("terminationProtection")
    for each in prod.of_type("DynamoDB::GlobalTable").values():
        assert "DeletionProtectionEnabled" not in each["Properties"]["Replicas"][0]


def test_the_account_and_region_are_asked_for_only_when_it_is_deployed(dev: Template) -> None:
    assert "missing" not in dev.manifest
    environment = dev.manifest["artifacts"]["agent-memory-dev"]["environment"]
    assert environment == "aws://unknown-account/unknown-region"
