"""CloudFront and a firewall in front of the API, which accepts only them."""

from typing import Any, cast

from aws_cdk import Duration
from aws_cdk import aws_certificatemanager as acm
from aws_cdk import aws_cloudfront as cloudfront
from aws_cdk import aws_cloudfront_origins as origins
from aws_cdk import aws_route53 as route53
from aws_cdk import aws_route53_targets as targets
from aws_cdk import aws_wafv2 as waf
from constructs import Construct

from .nag_suppressions import suppress
from .settings import Domain, EdgeSettings, Settings, WrongChoice

REGION = "us-east-1"  # where AWS has the firewalls and certificates of CloudFront
_WINDOW_SECONDS = 300
_WAITS = Duration.seconds(30)  # one second longer than the function runs
_MANAGED = (
    "AWSManagedRulesAmazonIpReputationList",
    "AWSManagedRulesCommonRuleSet",
    "AWSManagedRulesKnownBadInputsRuleSet",
)
BLOCKING_LABELS = (
    "awswaf:managed:aws:amazon-ip-list:AWSManagedIPReputationList",
    "awswaf:managed:aws:amazon-ip-list:AWSManagedReconnaissanceList",
    "awswaf:managed:aws:known-bad-inputs:Propfind_Method",
    "awswaf:managed:aws:known-bad-inputs:Host_Localhost_Header",
    "awswaf:managed:aws:core-rule-set:SizeRestrictions_Cookie_Header",
)
"""The labels of the managed rules that block a request. All other rules only count: they examine
bodies, paths, queries and headers, in which memory and names of objects may contain code, addresses
or markup.
"""
_KEY_HEADERS = ("x-api-key", "authorization")
_Acl = waf.CfnWebACL


class Edge(Construct):
    """A distribution with a web ACL. It must be in a stack of us-east-1, of any account.

    The API's custom domain requires a client certificate (mutual TLS), which the distribution has,
    and its generated address is closed, so no request bypasses the firewall.

    Raises:
        WrongChoice: the settings have no edge.
    """

    def __init__(self, scope: Construct, id: str, settings: Settings) -> None:
        super().__init__(scope, id)
        edge, domain = settings.edge, settings.domain
        if edge is None or domain is None:
            raise WrongChoice("set edge and domain for an Edge")
        acl = self._make_web_acl(settings.name, edge)
        self.distribution = self._make_distribution(edge, domain, acl.attr_arn)
        self._add_record(edge, domain)

    def _make_web_acl(self, name: str, edge: EdgeSettings) -> waf.CfnWebACL:
        """Limit by address first: a rule by key doesn't count requests without a key."""
        rules = [_limit("PerAddress", edge.requests_per_address, {"aggregate_key_type": "IP"})]
        rules += [_limit_by_header(header, edge.requests_per_key) for header in _KEY_HEADERS]
        rules += [_count_managed(group) for group in _MANAGED]
        rules += [_block_label(label) for label in BLOCKING_LABELS]
        return waf.CfnWebACL(
            self,
            "WebAcl",
            scope="CLOUDFRONT",
            description=f"agent-memory {name}",
            default_action=_Acl.DefaultActionProperty(allow={}),
            rules=[_number(rule, place) for place, rule in enumerate(rules)],
            visibility_config=_to_visibility("AgentMemory"),
        )

    def _make_distribution(
        self, edge: EdgeSettings, domain: Domain, web_acl_arn: str
    ) -> cloudfront.Distribution:
        distribution = cloudfront.Distribution(
            self,
            "Distribution",
            comment="agent-memory",
            domain_names=[edge.name],
            certificate=acm.Certificate.from_certificate_arn(
                self, "Certificate", edge.certificate_arn
            ),
            minimum_protocol_version=cloudfront.SecurityPolicyProtocol.TLS_V1_2_2021,
            http_version=cloudfront.HttpVersion.HTTP2_AND_3,
            web_acl_id=web_acl_arn,
            default_behavior=cloudfront.BehaviorOptions(
                origin=origins.HttpOrigin(
                    domain.name,
                    read_timeout=_WAITS,
                    connection_attempts=1,  # another would repeat a write
                ),
                allowed_methods=cloudfront.AllowedMethods.ALLOW_ALL,
                viewer_protocol_policy=cloudfront.ViewerProtocolPolicy.HTTPS_ONLY,
                cache_policy=cloudfront.CachePolicy.CACHING_DISABLED,
                origin_request_policy=cloudfront.OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
            ),
        )
        low = cast("cloudfront.CfnDistribution", distribution.node.default_child)
        low.add_property_override(
            "DistributionConfig.Origins.0.CustomOriginConfig.OriginMtlsConfig",
            {"ClientCertificateArn": edge.client_certificate_arn},
        )
        suppress(distribution, "memories are for agents, wherever they run", "AwsSolutions-CFR1")
        suppress(
            distribution,
            "the API logs each request that it gets, and the firewall counts those it refuses",
            "AwsSolutions-CFR3",
        )
        return distribution

    def _add_record(self, edge: EdgeSettings, domain: Domain) -> None:
        zone = route53.HostedZone.from_hosted_zone_attributes(
            self, "Zone", hosted_zone_id=domain.zone_id, zone_name=domain.zone_name
        )
        target = route53.RecordTarget.from_alias(targets.CloudFrontTarget(self.distribution))
        for id, kind in (("Record", route53.ARecord), ("RecordV6", route53.AaaaRecord)):
            kind(self, id, zone=zone, record_name=f"{edge.name}.", target=target)


def _limit(name: str, requests: int, counted_by: dict[str, Any]) -> dict[str, Any]:
    """Return 429 beyond a number of requests in five minutes."""
    return {
        "name": name,
        "action": _Acl.RuleActionProperty(
            block=_Acl.BlockActionProperty(
                custom_response=_Acl.CustomResponseProperty(
                    response_code=429,
                    response_headers=[
                        _Acl.CustomHTTPHeaderProperty(
                            name="retry-after", value=str(_WINDOW_SECONDS)
                        )
                    ],
                )
            )
        ),
        "statement": _Acl.StatementProperty(
            rate_based_statement=_Acl.RateBasedStatementProperty(
                limit=requests, evaluation_window_sec=_WINDOW_SECONDS, **counted_by
            )
        ),
    }


def _limit_by_header(header: str, requests: int) -> dict[str, Any]:
    plain = _Acl.TextTransformationProperty(priority=0, type="NONE")
    key = _Acl.RateBasedStatementCustomKeyProperty(
        header=_Acl.RateLimitHeaderProperty(name=header, text_transformations=[plain])
    )
    by_key = {"aggregate_key_type": "CUSTOM_KEYS", "custom_keys": [key]}
    return _limit(f"Per-{header}", requests, by_key)


def _count_managed(group: str) -> dict[str, Any]:
    """Label the requests that a managed group of rules matches, and block none of them."""
    return {
        "name": group,
        "override_action": _Acl.OverrideActionProperty(count={}),
        "statement": _Acl.StatementProperty(
            managed_rule_group_statement=_Acl.ManagedRuleGroupStatementProperty(
                vendor_name="AWS", name=group
            )
        ),
    }


def _block_label(label: str) -> dict[str, Any]:
    """Block the requests that a managed rule has labeled."""
    return {
        "name": f"Block-{label.rpartition(':')[2]}",
        "action": _Acl.RuleActionProperty(block={}),
        "statement": _Acl.StatementProperty(
            label_match_statement=_Acl.LabelMatchStatementProperty(scope="LABEL", key=label)
        ),
    }


def _number(rule: dict[str, Any], priority: int) -> waf.CfnWebACL.RuleProperty:
    visibility = _to_visibility(rule["name"])
    return _Acl.RuleProperty(priority=priority, visibility_config=visibility, **rule)


def _to_visibility(name: str) -> waf.CfnWebACL.VisibilityConfigProperty:
    """Count matches, and store no samples of requests, which would contain keys."""
    return _Acl.VisibilityConfigProperty(
        cloud_watch_metrics_enabled=True, metric_name=name, sampled_requests_enabled=False
    )
