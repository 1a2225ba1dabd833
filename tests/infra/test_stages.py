"""What may go goes with a trial; what must stay stays with production."""

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
        assert each["DeletionPolicy"] == each["UpdateReplacePolicy"] == "Retain"


@pytest.mark.parametrize("part", ["", "-state"])
def test_only_production_is_protected_as_a_whole(dev: Template, prod: Template, part: str) -> None:
    def protected(template: Template, name: str) -> bool:
        properties = template.manifest["artifacts"][name]["properties"]
        return bool(properties.get("terminationProtection"))

    assert not protected(dev, f"agent-memory-dev{part}")
    assert protected(prod, f"agent-memory-prod{part}")


def test_the_account_and_region_are_asked_for_only_when_it_is_deployed(dev: Template) -> None:
    assert "missing" not in dev.manifest
    environment = dev.manifest["artifacts"]["agent-memory-dev"]["environment"]
    assert environment == "aws://unknown-account/unknown-region"
