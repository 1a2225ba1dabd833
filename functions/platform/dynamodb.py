"""What a client of DynamoDB does leaner than botocore's own: see decision 41."""

from base64 import b64encode
from typing import Any

import orjson
from botocore.auth import _host_from_url
from botocore.awsrequest import AWSPreparedRequest, AWSRequest
from botocore.config import Config
from botocore.endpoint import Endpoint
from botocore.session import Session

from functions.platform.connection import Connections, Headers
from functions.platform.emitter import Emitter
from functions.platform.parsing import PlainParsers
from functions.platform.signing import choose_signer


def make_lean(session: Session) -> None:
    """Has the clients that a session makes of DynamoDB or its streams spend less on a call.

    Retries, signing, credentials and events stay botocore's.
    """
    events = session.get_component("event_emitter")
    session.register_component("event_emitter", Emitter(events._emitter))  # noqa: SLF001 - its own
    session.register_component("response_parser_factory", PlainParsers())
    session.register("creating-client-class", _put_in_front)
    for service in ("dynamodb", "dynamodb-streams"):
        session.register(f"choose-signer.{service}", choose_signer)


def _put_in_front(base_classes: list[type], **_: Any) -> None:
    base_classes.insert(0, _LeanClient)


class _LeanClient:
    """Stands before botocore's `BaseClient` and hands it leaner parts."""

    def __init__(self, **parts: Any) -> None:
        parts["serializer"] = _PlainSerializer()
        parts["endpoint_ruleset_resolver"] = _ResolvedOnce(parts["endpoint_ruleset_resolver"])
        parts["user_agent_creator"] = _ToldOnce(parts["user_agent_creator"])
        parts["endpoint"] = _LeanEndpoint(parts["endpoint"], parts["client_config"])
        super().__init__(**parts)


class _LeanEndpoint(Endpoint):  # type: ignore[misc]
    """The endpoint that botocore made, all its state with it; makes a request in one step.

    Behind a proxy it sends as botocore does.
    """

    http_session: Any

    def __init__(self, made: Endpoint, config: Config) -> None:
        self.__dict__.update(vars(made))
        if self.http_session._proxy_config.proxy_url_for(made.host) is None:  # noqa: SLF001 - it alone knows
            self.http_session = Connections(made.http_session, config)

    def create_request(self, params: dict[str, Any], operation_model: Any) -> AWSPreparedRequest:
        request = AWSRequest(params["method"], params["url"], data=params["body"])
        request.headers = Headers({name.lower(): text for name, text in params["headers"].items()})
        request.context = params["context"]
        service = operation_model.service_model.service_id.hyphenize()
        self._event_emitter.emit(
            f"request-created.{service}.{operation_model.name}",
            request=request,
            operation_name=operation_model.name,
        )
        request.headers["Content-Length"] = str(len(request.data))
        return AWSPreparedRequest(
            request.method, request.url, request.headers, request.data, False, request.context
        )


class _PlainSerializer:
    """Sends a request as it is, binary values in base64.

    Botocore's own walks every attribute against the service model, to the same end.
    """

    def serialize_to_request(self, parameters: dict[str, Any], operation_model: Any) -> Any:
        described = operation_model.metadata
        return {
            "method": "POST",
            "url_path": "/",
            "query_string": "",
            "headers": {
                "X-Amz-Target": f"{described['targetPrefix']}.{operation_model.name}",
                "Content-Type": f"application/x-amz-json-{described['jsonVersion']}",
            },
            "body": orjson.dumps(parameters, default=_in_base64),
        }


def _in_base64(value: Any) -> str:
    return b64encode(value).decode()


class _ResolvedOnce:
    """Finds an operation's endpoint at its first call: nothing that we send leads to another.

    Its headers name the host, so that what is signed is what is sent.
    """

    def __init__(self, resolver: Any) -> None:
        self._resolver = resolver
        self._found: dict[str, Any] = {}

    def construct_endpoint(self, operation_model: Any, **call: Any) -> Any:
        found = self._found.get(operation_model.name)
        if found is None:
            found = self._resolver.construct_endpoint(operation_model=operation_model, **call)
            found = found._replace(headers={**found.headers, "Host": _host_from_url(found.url)})
            self._found[operation_model.name] = found
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._resolver, name)


class _ToldOnce:
    """Builds the header User-Agent for the first request, and repeats it from then on."""

    def __init__(self, creator: Any) -> None:
        self._creator = creator
        self._text: str | None = None

    def to_string(self) -> str:
        return self._text or str(self._creator.to_string())

    def rebuild_and_replace_user_agent_handler(self, request: Any, **more: Any) -> None:
        if self._text is None:
            self._creator.rebuild_and_replace_user_agent_handler(request=request, **more)
            self._text = request.headers["User-Agent"]
