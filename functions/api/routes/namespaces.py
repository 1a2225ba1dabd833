"""Namespaces of semantic memory (contract §4)."""

from functions.api.call import Answer, Call, json_answer
from functions.api.documents import namespace_document
from functions.api.paging import PAGE, listed
from functions.api.parsing import parsed
from functions.api.route import Route
from functions.identity.model import ADMIN, READ, Principal
from functions.namespaces.model import Namespace
from functions.namespaces.requests import NamespaceChange
from functions.platform.limits import MAX_NAME_CHARACTERS

NAMESPACES = "/api/v1/memory/namespaces"


def all_visible(call: Call, caller: Principal) -> Answer:
    documents = list(map(namespace_document, call.services.namespaces.visible(caller)))
    return json_answer(200, listed(call, "namespaces", documents))


def get(call: Call, caller: Principal) -> Answer:
    return _answer(call.services.namespaces.get(caller, call.names["namespace"]))


def configure(call: Call, caller: Principal) -> Answer:
    change = parsed(call, NamespaceChange)
    name, version = call.name("namespace", MAX_NAME_CHARACTERS), call.if_match
    token = call.token(caller)
    return _answer(call.services.namespaces.configure(caller, name, change, version, token))


def _answer(namespace: Namespace) -> Answer:
    return json_answer(200, namespace_document(namespace), etag=f'"{namespace.version}"')


ROUTES = [
    Route(
        "GET",
        NAMESPACES,
        all_visible,
        READ,
        "List the namespaces that the caller has access to",
        {200: "NamespacePage"},
        query=PAGE,
    ),
    Route(
        "GET",
        f"{NAMESPACES}/{{namespace+}}",
        get,
        READ,
        "Get a namespace's permissions",
        {200: "Namespace"},
        also=(404,),
    ),
    Route(
        "PATCH",
        f"{NAMESPACES}/{{namespace+}}",
        configure,
        ADMIN,
        "Set a namespace's permissions",
        {200: "Namespace"},
        body=NamespaceChange,
        also=(409, 413),
        if_match="optional",
        once=True,
    ),
]
