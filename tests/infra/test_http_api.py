"""The HTTP API: everything to one function, bounded and logged."""

import json
from typing import Any

import pytest

from functions.platform.settings import ApiSettings
from tests.infra.template import Template

_DOMAIN = {
    "domain_name": "memory.example.com",
    "certificate_arn": "arn:aws:acm:eu-central-1:123456789012:certificate/abc",
    "hosted_zone_id": "Z123",
    "hosted_zone_name": "example.com",
}
_TOKENS = {
    "jwt_issuer": "https://id.example.com",
    "jwt_audience": "memory, ops",
    "jwt_tenant_claim": "org",
}


def test_every_request_goes_to_the_api_function(dev: Template) -> None:
    assert dev.one("ApiGatewayV2::Route")["RouteKey"] == "$default"
    integration = dev.one("ApiGatewayV2::Integration")
    assert integration["PayloadFormatVersion"] == "2.0"
    function = {"Fn::GetAtt": [dev.id_of("Lambda::Function", "ApiFunction"), "Arn"]}
    assert integration["IntegrationUri"] == function


def test_requests_are_throttled_as_the_deployment_says(dev: Template, synthesize: Any) -> None:
    limits = dev.one("ApiGatewayV2::Stage")["DefaultRouteSettings"]
    assert (limits["ThrottlingRateLimit"], limits["ThrottlingBurstLimit"]) == (500, 1000)
    busy = synthesize(throttle_rate="2000", throttle_burst="4000").one("ApiGatewayV2::Stage")
    assert busy["DefaultRouteSettings"]["ThrottlingRateLimit"] == 2000


def test_the_access_log_has_a_requests_outcome_and_names_no_memory(synthesize: Any) -> None:
    """It can't be sampled, so it is there where every request is logged."""
    template = synthesize(request_log_sample="1", tracing="true")
    assert template.function("Api")["TracingConfig"] == {"Mode": "Active"}
    settings = template.one("ApiGatewayV2::Stage")["AccessLogSettings"]
    line = json.loads(settings["Format"])
    assert {"request_id", "status", "source_ip", "took_ms"} <= set(line)
    named = ("path", "routeKey", "authorizer", "header", "query")
    assert not [each for each in line.values() if any(word in each for word in named)]
    log = template.id_of("Logs::LogGroup", "HttpApiAccessLog")
    assert settings["DestinationArn"] == {"Fn::GetAtt": [log, "Arn"]}


def test_logs_of_requests_are_sampled(dev: Template) -> None:
    assert "AccessLogSettings" not in dev.one("ApiGatewayV2::Stage")
    assert dev.function("Api")["Environment"]["Variables"]["REQUEST_LOG_SAMPLE"] == "0.05"


def test_a_domain_of_its_own_is_there_where_the_deployment_names_it(
    dev: Template, synthesize: Any
) -> None:
    assert not dev.of_type("ApiGatewayV2::DomainName")
    named = synthesize(**_DOMAIN)
    domain = named.one("ApiGatewayV2::DomainName")
    assert domain["DomainName"] == "memory.example.com"
    configuration = domain["DomainNameConfigurations"][0]
    assert configuration["CertificateArn"] == _DOMAIN["certificate_arn"]
    assert configuration["SecurityPolicy"] == "TLS_1_2"
    record = named.one("Route53::RecordSet")
    assert (record["HostedZoneId"], record["Name"]) == ("Z123", "memory.example.com.")
    assert named.document["Outputs"]["ApiUrl"]["Value"] == "https://memory.example.com"


def test_tokens_have_an_api_of_their_own_beside_that_for_keys(
    dev: Template, synthesize: Any
) -> None:
    assert not dev.of_type("ApiGatewayV2::Authorizer")
    template = synthesize(**_TOKENS)
    authorizer = template.one("ApiGatewayV2::Authorizer")
    assert authorizer["AuthorizerType"] == "JWT"
    assert authorizer["JwtConfiguration"] == {
        "Audience": ["memory", "ops"],
        "Issuer": "https://id.example.com",
    }
    keys, tokens = (
        template.named("ApiGatewayV2::Route", start) for start in ("HttpApi", "TokenApi")
    )
    assert keys["RouteKey"] == tokens["RouteKey"] == "$default"
    assert "AuthorizerId" not in keys
    assert tokens["AuthorizerId"] == {"Ref": template.id_of("ApiGatewayV2::Authorizer", "Token")}
    assert tokens["AuthorizationType"] == "JWT"


def test_the_function_knows_which_claims_to_read(synthesize: Any) -> None:
    template = synthesize(**_TOKENS)
    variables = template.function("Api")["Environment"]["Variables"]
    assert (variables["JWT_TENANT_CLAIM"], variables["JWT_PRINCIPAL_CLAIM"]) == ("org", "sub")
    given = {name: str(value) for name, value in variables.items()}
    assert ApiSettings.from_env(given).jwt_tenant_claim == "org"
    assert template.document["Outputs"]["TokenApiUrl"]["Value"]


@pytest.mark.parametrize("name", ["ApiUrl", "RootKeySecretId", "MemoryTable", "LogTable"])
def test_the_outputs_name_where_things_are(dev: Template, name: str) -> None:
    assert dev.document["Outputs"][name]["Value"]
