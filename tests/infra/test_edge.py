"""Test CloudFront and a firewall before the API, which answers no other caller."""

from typing import Any

import pytest

from tests.infra.conftest import Synthesize
from tests.infra.template import Template
from tests.infra.test_http_api import DOMAIN

EDGE = DOMAIN | {
    "trust_store": "s3://certificates/ca.pem",
    "edge_domain_name": "api.example.com",
    "edge_certificate_arn": "arn:aws:acm:us-east-1:123456789012:certificate/edge",
    "edge_client_certificate_arn": "arn:aws:acm:us-east-1:123456789012:certificate/client",
    "edge_requests_per_key": "5000",
}


@pytest.fixture(scope="module")
def edge(synthesize: Synthesize) -> Template:
    return synthesize(**EDGE)


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
    assert client == {"ClientCertificateArn": EDGE["edge_client_certificate_arn"]}


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


MATCHED = {
    "http://169.254.169.254/latest/meta-data": ("EC2MetaDataSSRF", "Body QueryArguments URIPath"),
    "call http://127.0.0.1:8188 first": ("EC2MetaDataSSRF", "Body QueryArguments URIPath"),
    "${jndi:ldap://x.example/a}": ("Log4JRCE", "Body QueryString URIPath Header"),
    "rO0ABXNyABdqYXZhLnV0aWw=": ("JavaDeserializationRCE", "Body QueryString URIPath Header"),
    "<script>alert(1)</script>": ("CrossSiteScripting", "Body QueryArguments URIPath"),
    "../../etc/passwd": ("GenericLFI", "Body QueryArguments URIPath"),
    "https://10.0.0.1/run.php": ("GenericRFI", "Body QueryArguments URIPath"),
    "app.log": ("RestrictedExtensions", "QueryArguments URIPath"),
    "settings.ini": ("RestrictedExtensions", "QueryArguments URIPath"),
    "notes.bak": ("RestrictedExtensions", "QueryArguments URIPath"),
    "web-inf/x": ("ExploitablePaths", "URIPath"),
    "x" * 10_000: ("SizeRestrictions", "Body QueryString URIPath"),
    "no user agent": ("NoUserAgent", "Header"),
    "curl/8.5": ("UserAgent_BadBots", "Header"),
}
"""Requests of a memory that the managed rules match: text, rule, and where it looks."""


@pytest.mark.parametrize("text", MATCHED)
def test_the_firewall_blocks_no_memory_and_no_name(rules: dict[str, Any], text: str) -> None:
    for each in rules.values():
        statement = each["Statement"]
        if "ManagedRuleGroupStatement" in statement:
            assert each["OverrideAction"] == {"Count": {}}
    labels = {
        each["Statement"]["LabelMatchStatement"]["Key"].rpartition(":")[2]
        for each in rules.values()
        if "LabelMatchStatement" in each["Statement"]
    }
    rule, places = MATCHED[text]
    assert labels.isdisjoint(f"{rule}_{place}" for place in places.split())


def test_the_firewall_blocks_known_attackers(rules: dict[str, Any]) -> None:
    blocking = {name for name, each in rules.items() if each.get("Action") == {"Block": {}}}
    assert "Block-AWSManagedIPReputationList" in blocking
    groups = [each for each in rules.values() if "ManagedRuleGroupStatement" in each["Statement"]]
    first = min(rules[name]["Priority"] for name in blocking)
    assert max(each["Priority"] for each in groups) < first  # a label comes before its rule


def test_no_key_shows_in_samples(edge: Template, rules: dict[str, Any]) -> None:
    for each in (edge.one("WAFv2::WebACL"), *rules.values()):
        assert not each["VisibilityConfig"]["SampledRequestsEnabled"]


def test_callers_use_its_name(edge: Template) -> None:
    assert edge.document["Outputs"]["ApiUrl"]["Value"] == "https://api.example.com"
    names = {each["Properties"]["Name"] for each in edge.of_type("Route53::RecordSet").values()}
    assert names == {"memory.example.com.", "api.example.com."}
