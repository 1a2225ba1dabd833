"""A new version takes over by its alias, and an alarm takes it back."""

import pytest

from tests.infra.conftest import Synthesize
from tests.infra.template import FUNCTIONS, Template


@pytest.mark.parametrize("function", FUNCTIONS)
def test_an_alias_moves_by_a_deployment_that_is_rolled_back(prod: Template, function: str) -> None:
    alias = prod.of_type("Lambda::Alias")[prod.alias(function)["Ref"]]
    group = prod.id_of("CodeDeploy::DeploymentGroup", f"Deployments{function}")
    update = alias["UpdatePolicy"]["CodeDeployLambdaAliasUpdate"]
    assert update["DeploymentGroupName"] == {"Ref": group}
    properties = prod.named("CodeDeploy::DeploymentGroup", f"Deployments{function}")
    rollback = properties["AutoRollbackConfiguration"]
    assert rollback["Enabled"]
    assert {"DEPLOYMENT_FAILURE", "DEPLOYMENT_STOP_ON_ALARM"} <= set(rollback["Events"])
    assert properties["AlarmConfiguration"]["Enabled"]


def _config(template: Template, function: str) -> str:
    properties = template.named("CodeDeploy::DeploymentGroup", f"Deployments{function}")
    return str(properties["DeploymentConfigName"])


def test_only_the_api_shifts_bit_by_bit_and_a_trial_not_even_that(
    dev: Template, prod: Template
) -> None:
    assert _config(prod, "Api") == "CodeDeployDefault.LambdaCanary10Percent5Minutes"
    at_once = "CodeDeployDefault.LambdaAllAtOnce"
    assert {_config(prod, each) for each in ("Stream", "Schedule")} == {at_once}
    assert _config(dev, "Api") == at_once


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_judge_is_the_new_versions_own_errors(prod: Template, function: str) -> None:
    alarm = prod.named("CloudWatch::Alarm", f"Alarms{function}VersionFails")
    dimensions = {each["Name"]: each["Value"] for each in alarm["Dimensions"]}
    version = prod.id_of("Lambda::Version", f"{function}Function")
    assert dimensions["ExecutedVersion"] == {"Fn::GetAtt": [version, "Version"]}
    name = {"Ref": prod.id_of("Lambda::Function", f"{function}Function")}
    assert dimensions["Resource"] == {"Fn::Join": ["", [name, ":live"]]}
    assert (alarm["MetricName"], alarm["Period"]) == ("Errors", 60)
    judges = prod.named("CodeDeploy::DeploymentGroup", f"Deployments{function}")[
        "AlarmConfiguration"
    ]["Alarms"]
    own = {"Ref": prod.id_of("CloudWatch::Alarm", f"Alarms{function}VersionFails")}
    assert own in [each["Name"] for each in judges]
    assert len(judges) == (2 if function == "Api" else 1)


def test_former_versions_stay_where_data_stays(dev: Template, prod: Template) -> None:
    for template, policy in ((dev, "Delete"), (prod, "RetainExceptOnCreate")):
        for version in template.of_type("Lambda::Version").values():
            assert version.get("DeletionPolicy", "Delete") == policy


def test_no_stack_holds_on_to_another(synthesize: Synthesize) -> None:
    """Another stack can take over what is kept, because nothing is exported."""
    outputs = synthesize().document["Outputs"].values()
    assert [each for each in outputs if "Export" in each] == []
