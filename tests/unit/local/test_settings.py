"""Settings of the local server."""

from pathlib import Path

import pytest

from functions.local.settings import LocalSettings, StartupError


def test_without_any_variable_the_defaults_of_the_contract_hold() -> None:
    settings = LocalSettings.from_env({})
    assert (settings.host, settings.port) == ("127.0.0.1", 8080)
    assert settings.data == Path.cwd() / ".agent-memory"
    assert settings.root_key is None
    assert settings.dynamodb is None


def test_host_and_port_can_be_set() -> None:
    settings = LocalSettings.from_env({"AGENT_MEMORY_HOST": "::1", "AGENT_MEMORY_PORT": "0"})
    assert (settings.host, settings.port) == ("::1", 0)


def test_an_empty_variable_counts_as_unset() -> None:
    assert LocalSettings.from_env({"AGENT_MEMORY_PORT": ""}).port == 8080


@pytest.mark.parametrize("endpoint", ["aws", "http://localhost:8000"])
def test_another_dynamodb_is_an_address_or_aws(endpoint: str) -> None:
    assert LocalSettings.from_env({"AWS_ENDPOINT_URL_DYNAMODB": endpoint}).dynamodb == endpoint


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("AGENT_MEMORY_PORT", "eighty"),
        ("AGENT_MEMORY_PORT", "65536"),
        ("AGENT_MEMORY_PORT", "-1"),
        ("AGENT_MEMORY_ROOT_KEY", "shorter"),
        ("AGENT_MEMORY_ROOT_KEY", "sixteen letters and blanks"),
        ("AWS_ENDPOINT_URL_DYNAMODB", "localhost:8000"),
        ("AGENT_MEMORY_OPENWOP", "2"),
        ("AGENT_MEMORY_SWEEP_SECONDS", "0"),
        ("AGENT_MEMORY_SWEEP_SECONDS", "-1"),
        ("AGENT_MEMORY_SWEEP_SECONDS", "often"),
        ("AGENT_MEMORY_SWEEP_SECONDS", "inf"),
        ("AGENT_MEMORY_SWEEP_SECONDS", "nan"),
    ],
)
def test_a_wrong_value_is_one_line_that_names_the_variable(variable: str, value: str) -> None:
    with pytest.raises(StartupError, match=variable) as error:
        LocalSettings.from_env({variable: value})
    assert "\n" not in str(error.value)
    assert "match pattern" not in str(error.value)


def test_all_wrong_values_are_in_one_message() -> None:
    with pytest.raises(StartupError, match=r"AGENT_MEMORY_PORT.*AGENT_MEMORY_ROOT_KEY"):
        LocalSettings.from_env({"AGENT_MEMORY_PORT": "x", "AGENT_MEMORY_ROOT_KEY": "x"})
