"""The HTTP API: everything to one function, bounded and logged."""

import json
from pathlib import Path
from typing import Any

from functions.platform.settings import ApiSettings
from tests.infra.template import Template

_OPENAPI = Path(__file__).parents[2] / "functions/api/openapi.json"
DOMAIN = {
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
_ORIGINS = "https://app.example.com, https://ops.example.com"


def test_every_request_goes_to_the_api_function(dev: Template) -> None:
    assert dev.one("ApiGatewayV2::Route")["RouteKey"] == "$default"
    integration = dev.one("ApiGatewayV2::Integration")
    assert integration["PayloadFormatVersion"] == "2.0"
    assert integration["IntegrationUri"] == dev.alias("Api")


def test_requests_are_throttled_as_the_deployment_says(dev: Template, chosen: Template) -> None:
    limits = dev.one("ApiGatewayV2::Stage")["DefaultRouteSettings"]
    assert (limits["ThrottlingRateLimit"], limits["ThrottlingBurstLimit"]) == (500, 1000)
    limits = chosen.one("ApiGatewayV2::Stage")["DefaultRouteSettings"]
    assert (limits["ThrottlingRateLimit"], limits["ThrottlingBurstLimit"]) == (2000, 4000)


def test_the_access_log_has_a_requests_outcome_and_names_no_memory(chosen: Template) -> None:
    """It can't be sampled, so it is there where every request is logged."""
    assert chosen.function("Api")["TracingConfig"] == {"Mode": "Active"}
    settings = chosen.one("ApiGatewayV2::Stage")["AccessLogSettings"]
    line = json.loads(settings["Format"])
    assert {"request_id", "status", "source_ip", "took_ms"} <= set(line)
    named = ("path", "routeKey", "authorizer", "header", "query")
    assert not [each for each in line.values() if any(word in each for word in named)]
    log = chosen.id_of("Logs::LogGroup", "HttpApiAccessLog")
    assert settings["DestinationArn"] == {"Fn::GetAtt": [log, "Arn"]}


def test_logs_of_requests_are_sampled(dev: Template) -> None:
    assert "AccessLogSettings" not in dev.one("ApiGatewayV2::Stage")
    assert dev.function("Api")["Environment"]["Variables"]["REQUEST_LOG_SAMPLE"] == "0.05"


def test_a_domain_of_its_own_is_there_where_the_deployment_names_it(
    dev: Template, synthesize: Any
) -> None:
    assert not dev.of_type("ApiGatewayV2::DomainName")
    named = synthesize(**DOMAIN)
    domain = named.one("ApiGatewayV2::DomainName")
    assert domain["DomainName"] == "memory.example.com"
    configuration = domain["DomainNameConfigurations"][0]
    assert configuration["CertificateArn"] == DOMAIN["certificate_arn"]
    assert configuration["SecurityPolicy"] == "TLS_1_2"
    record = named.one("Route53::RecordSet")
    assert (record["HostedZoneId"], record["Name"]) == ("Z123", "memory.example.com.")
    assert named.document["Outputs"]["ApiUrl"]["Value"] == "https://memory.example.com"


def test_tokens_have_an_api_of_their_own_beside_that_for_keys(
    dev: Template, synthesize: Any
) -> None:
    assert not dev.of_type("ApiGatewayV2::Authorizer")
    template = synthesize(**_TOKENS, cors_origins=_ORIGINS)
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
    template = synthesize(**_TOKENS, cors_origins=_ORIGINS)
    variables = template.function("Api")["Environment"]["Variables"]
    assert (variables["JWT_TENANT_CLAIM"], variables["JWT_PRINCIPAL_CLAIM"]) == ("org", "sub")
    given = {name: str(value) for name, value in variables.items()}
    assert ApiSettings.from_env(given).jwt_tenant_claim == "org"
    assert template.document["Outputs"]["TokenApiUrl"]["Value"]


def test_the_generated_address_is_closed_where_there_is_a_domain(
    dev: Template, synthesize: Any
) -> None:
    assert "DisableExecuteApiEndpoint" not in dev.one("ApiGatewayV2::Api")
    assert synthesize(**DOMAIN).one("ApiGatewayV2::Api")["DisableExecuteApiEndpoint"]


def test_pages_of_named_origins_may_call_and_no_others(dev: Template, synthesize: Any) -> None:
    assert "CorsConfiguration" not in dev.one("ApiGatewayV2::Api")
    cors = synthesize(**_TOKENS, cors_origins=_ORIGINS).named("ApiGatewayV2::Api", "Api")[
        "CorsConfiguration"
    ]
    assert cors["AllowOrigins"] == ["https://app.example.com", "https://ops.example.com"]
    document = json.loads(_OPENAPI.read_text("utf-8"))
    assert set(cors["AllowHeaders"]) >= _headers_of_requests(document) | {"authorization"}
    assert set(cors["ExposeHeaders"]) >= _headers_of_responses(document)


def _headers_of_requests(document: Any) -> set[str]:
    operations = [each for path in document["paths"].values() for each in path.values()]
    parameters = [each for operation in operations for each in operation.get("parameters", ())]
    keys = document["components"]["securitySchemes"].values()
    named = [each["name"] for each in parameters if each.get("in") == "header"]
    return {each.lower() for each in [*named, *(key["name"] for key in keys if "name" in key)]}


def _headers_of_responses(document: Any) -> set[str]:
    operations = [each for path in document["paths"].values() for each in path.values()]
    responses = [each for operation in operations for each in operation["responses"].values()]
    return {name.lower() for response in responses for name in response.get("headers", ())}


def test_the_outputs_name_what_its_first_use_needs(dev: Template) -> None:
    assert all(dev.document["Outputs"][name]["Value"] for name in ("ApiUrl", "RootKeySecretId"))
