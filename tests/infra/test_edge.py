"""CloudFront and a firewall before the API, which answers nobody else."""

from typing import Any

import pytest

from tests.infra.conftest import Synthesize
from tests.infra.template import Template
from tests.infra.test_http_api import DOMAIN

_EDGE = DOMAIN | {
    "trust_store": "s3://certificates/ca.pem",
    "edge_domain_name": "api.example.com",
    "edge_certificate_arn": "arn:aws:acm:us-east-1:123456789012:certificate/edge",
    "edge_client_certificate_arn": "arn:aws:acm:us-east-1:123456789012:certificate/client",
    "edge_requests_per_key": "5000",
}


@pytest.fixture(scope="module")
def edge(synthesize: Synthesize) -> Template:
    return synthesize(**_EDGE)


@pytest.fixture
def rules(edge: Template) -> dict[str, Any]:
    acl = edge.one("WAFv2::WebACL")
    assert acl["Scope"] == "CLOUDFRONT"
    assert [each["Priority"] for each in acl["Rules"]] == list(range(len(acl["Rules"])))
    return {each["Name"]: each for each in acl["Rules"]}


def test_a_deployment_has_none_unless_it_asks_for_it(dev: Template) -> None:
    assert not dev.of_type("CloudFront::Distribution")
    assert not dev.of_type("WAFv2::WebACL")


def test_it_is_where_aws_has_firewalls_of_cloudfront(edge: Template) -> None:
    assert edge.manifest["artifacts"]["agent-memory-dev-edge"]["environment"].endswith("us-east-1")


def test_nobody_walks_around_it(edge: Template) -> None:
    """The API's own domain demands the certificate that only the distribution has."""
    assert edge.one("ApiGatewayV2::Api")["DisableExecuteApiEndpoint"]
    domain = edge.one("ApiGatewayV2::DomainName")
    assert domain["MutualTlsAuthentication"]["TruststoreUri"] == "s3://certificates/ca.pem"
    (origin,) = edge.one("CloudFront::Distribution")["DistributionConfig"]["Origins"]
    assert origin["DomainName"] == "memory.example.com"
    client = origin["CustomOriginConfig"]["OriginMtlsConfig"]
    assert client == {"ClientCertificateArn": _EDGE["edge_client_certificate_arn"]}


def test_it_stores_nothing_and_repeats_no_write(edge: Template) -> None:
    configuration = edge.one("CloudFront::Distribution")["DistributionConfig"]
    behavior = configuration["DefaultCacheBehavior"]
    assert behavior["CachePolicyId"] == "4135ea2d-6df8-44a3-9df3-4b5a84be39ad"  # disabled
    assert "PATCH" in behavior["AllowedMethods"]
    (origin,) = configuration["Origins"]
    assert origin["ConnectionAttempts"] == 1
    assert origin["CustomOriginConfig"]["OriginReadTimeout"] == 30


def test_requests_are_limited_by_address_and_by_key(rules: dict[str, Any]) -> None:
    limits = {
        name: each["Statement"]["RateBasedStatement"]
        for name, each in rules.items()
        if "RateBasedStatement" in each["Statement"]
    }
    assert list(limits) == ["PerAddress", "Per-x-api-key", "Per-authorization"]
    assert limits["PerAddress"]["AggregateKeyType"] == "IP"
    assert limits["Per-x-api-key"]["Limit"] == 5000
    for name in limits:
        response = rules[name]["Action"]["Block"]["CustomResponse"]
        assert response["ResponseCode"] == 429
        assert response["ResponseHeaders"] == [{"Name": "retry-after", "Value": "300"}]


def test_memories_may_be_of_any_size_and_hold_code(rules: dict[str, Any]) -> None:
    group = rules["AWSManagedRulesCommonRuleSet"]["Statement"]["ManagedRuleGroupStatement"]
    counted = {each["Name"]: each["ActionToUse"] for each in group["RuleActionOverrides"]}
    rules_on_bodies = ("SizeRestrictions", "CrossSiteScripting", "GenericLFI", "GenericRFI")
    assert counted == {f"{name}_BODY": {"Count": {}} for name in rules_on_bodies}


def test_no_key_shows_in_samples(edge: Template, rules: dict[str, Any]) -> None:
    for each in (edge.one("WAFv2::WebACL"), *rules.values()):
        assert not each["VisibilityConfig"]["SampledRequestsEnabled"]


def test_callers_use_its_name(edge: Template) -> None:
    assert edge.document["Outputs"]["ApiUrl"]["Value"] == "https://api.example.com"
    names = {each["Properties"]["Name"] for each in edge.of_type("Route53::RecordSet").values()}
    assert names == {"memory.example.com.", "api.example.com."}
