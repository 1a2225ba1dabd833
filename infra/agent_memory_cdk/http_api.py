"""An HTTP API: one route for all, since the function has the routes and checks the keys.

If tokens are accepted, there is a second API. An HTTP API requires every identity source of its
authorizer, so one API can't accept a key instead of a token.
"""

import json
from collections.abc import Sequence
from typing import cast

from aws_cdk import Duration, aws_logs
from aws_cdk import aws_apigatewayv2 as gateway
from aws_cdk.aws_apigatewayv2_authorizers import HttpJwtAuthorizer
from aws_cdk.aws_apigatewayv2_integrations import HttpLambdaIntegration
from constructs import Construct

from .lambda_function import LambdaFunction
from .logs import Logs
from .nag_suppressions import suppress
from .settings import Settings, Tokens

_INTEGRATION_SECONDS = 29  # HTTP APIs wait for at most 30
_LOGGED = {
    "request_id": "$context.requestId",
    "time": "$context.requestTime",
    "source_ip": "$context.identity.sourceIp",
    "method": "$context.httpMethod",
    "status": "$context.status",
    "bytes": "$context.responseLength",
    "took_ms": "$context.responseLatency",
    "integration_ms": "$context.integrationLatency",
    "integration_error": "$context.integrationErrorMessage",
}  # no path: it contains names of memories


_REQUEST_HEADERS = (
    "authorization",
    "content-type",
    "idempotency-key",
    "if-match",
    "if-none-match",
    "range",
    "traceparent",
    "x-agent-id",
    "x-api-key",
    "x-object-created-at",
    "x-object-expires-at",
    "x-object-metadata",
    "x-object-sensitivity",
    "x-object-ttl",
    "x-object-updated-at",
    "x-object-upload",
    "x-object-version",
    "x-request-id",
)
_RESPONSE_HEADERS = (
    "etag",
    "location",
    "retry-after",
    "www-authenticate",
    "x-hidden",
    "x-next",
    "x-next-offset",
    "x-object-expires-at",
    "x-object-metadata",
    "x-object-sensitivity",
    "x-object-size",
    "x-request-id",
    "x-total-count",
)
_PREFLIGHT_KEPT = Duration.hours(1)


class HttpApi(Construct):
    """An API in front of the API function, with throttling and an access log."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        settings: Settings,
        function: LambdaFunction,
        logs: Logs,
        tokens: Tokens | None = None,
    ) -> None:
        super().__init__(scope, id)
        self.log: aws_logs.ILogGroup | None = None
        self.api = gateway.HttpApi(
            self,
            "Api",
            api_name=f"agent-memory-{settings.name}{'-tokens' if tokens else ''}",
            description="Memory for AI agents (OpenIntent RFC-0015)",
            default_integration=HttpLambdaIntegration(
                "Function", function.alias, timeout=Duration.seconds(_INTEGRATION_SECONDS)
            ),
            default_authorizer=None if tokens is None else _authorizer(tokens),
            cors_preflight=_cors(settings.cors_origins),
            disable_execute_api_endpoint=True if settings.domain and not tokens else None,
            create_default_stage=False,
        )
        if tokens is None:
            low = cast("gateway.CfnApi", self.api.node.default_child)
            low.override_logical_id(settings.to_logical_id("Api"))
        if tokens is None:
            self._go_without_authorizer()
        self.stage = gateway.HttpStage(
            self,
            "Stage",
            http_api=self.api,
            stage_name="$default",
            auto_deploy=True,
            throttle=gateway.ThrottleSettings(
                rate_limit=settings.throttle_rate, burst_limit=settings.throttle_burst
            ),
        )
        if settings.request_log_sample == 1:
            part = "TokenAccess" if tokens else "Access"
            self._log_access(logs.get(self, "AccessLog", part))
        else:
            self._go_without_access_log()

    def _go_without_authorizer(self) -> None:
        suppress(
            self.api,
            "the function checks keys before anything else, and remembers them: an authorizer would"
            " add a second cold start, and HTTP APIs demand all of its identity sources, so that"
            " X-API-Key or Authorization could not both serve",
            "AwsSolutions-APIG4",
        )

    def _go_without_access_log(self) -> None:
        suppress(
            self.stage,
            "the deployment samples the logs of requests, which an access log can't: the function"
            " logs each failure and a share of the rest, and metrics count all",
            "AwsSolutions-APIG1",
            "Serverless-APIGWAccessLogging",
        )

    def _log_access(self, log: aws_logs.ILogGroup) -> None:
        self.log = log
        stage = cast("gateway.CfnStage", self.stage.node.default_child)
        stage.access_log_settings = gateway.CfnStage.AccessLogSettingsProperty(
            destination_arn=log.log_group_arn, format=json.dumps(_LOGGED)
        )


def _cors(origins: Sequence[str]) -> gateway.CorsPreflightOptions | None:
    """Let pages of these origins call: the gateway answers their preflight requests itself."""
    if not origins:
        return None
    return gateway.CorsPreflightOptions(
        allow_origins=list(origins),
        allow_methods=[gateway.CorsHttpMethod.ANY],
        allow_headers=list(_REQUEST_HEADERS),
        expose_headers=list(_RESPONSE_HEADERS),
        max_age=_PREFLIGHT_KEPT,
    )


def _authorizer(tokens: Tokens) -> HttpJwtAuthorizer:
    return HttpJwtAuthorizer("Tokens", tokens.issuer, jwt_audience=tokens.audience)
