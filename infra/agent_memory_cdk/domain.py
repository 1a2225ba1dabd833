"""A custom domain name of the API, if the deployment has one."""

from typing import cast

from aws_cdk import aws_apigatewayv2 as gateway
from aws_cdk import aws_certificatemanager as acm
from aws_cdk import aws_route53 as route53
from aws_cdk.aws_route53_targets import ApiGatewayv2DomainProperties
from constructs import Construct

from .http_api import HttpApi
from .settings import Domain


class DomainName(Construct):
    """The name, its certificate, the API behind it, and its record in the hosted zone."""

    def __init__(self, scope: Construct, id: str, domain: Domain, api: HttpApi) -> None:
        super().__init__(scope, id)
        certificate = acm.Certificate.from_certificate_arn(
            self, "Certificate", domain.certificate_arn
        )
        name = gateway.DomainName(
            self,
            "Name",
            domain_name=domain.name,
            certificate=certificate,
            security_policy=gateway.SecurityPolicy.TLS_1_2,
        )
        if domain.trust_store is not None:
            low = cast("gateway.CfnDomainName", name.node.default_child)
            low.mutual_tls_authentication = gateway.CfnDomainName.MutualTlsAuthenticationProperty(
                truststore_uri=domain.trust_store
            )
        gateway.ApiMapping(self, "Mapping", api=api.api, domain_name=name, stage=api.stage)
        zone = route53.HostedZone.from_hosted_zone_attributes(
            self, "Zone", hosted_zone_id=domain.zone_id, zone_name=domain.zone_name
        )
        target = ApiGatewayv2DomainProperties(
            name.regional_domain_name, name.regional_hosted_zone_id
        )
        route53.ARecord(
            self,
            "Record",
            zone=zone,
            record_name=f"{domain.name}.",
            target=route53.RecordTarget.from_alias(target),
        )
