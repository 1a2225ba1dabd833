"""The OpenAPI document as one page that needs nothing else (contract §6)."""

from collections.abc import Iterator
from html import escape

from functions.api.docs_fields import fields, kind, parameter_row, prose, table
from functions.api.docs_style import STYLE
from functions.api.documents import Document
from functions.platform.errors import ERROR_CODES

_QUICK_START = """\
export SERVER=http://127.0.0.1:8080 KEY=am_...

# create an entry; the answer's id is what the next calls need
curl "$SERVER/api/v1/memory" -H "X-API-Key: $KEY" -H 'Content-Type: application/json' \\
  -d '{"namespace": "invoices", "key": "progress", "memory_type": "working",
       "value": {"completed": 23}, "tags": ["batch"]}'
export ID=mem_...

# read it, and change it from the version that was read
curl "$SERVER/api/v1/memory/$ID" -H "X-API-Key: $KEY"
curl -X PATCH "$SERVER/api/v1/memory/$ID" -H "X-API-Key: $KEY" -H 'If-Match: 1' \\
  -H 'Content-Type: application/json' -d '{"value": {"completed": 24}}'

# find it by its tag, and delete it
curl "$SERVER/api/v1/memory?tags=batch" -H "X-API-Key: $KEY"
curl -X DELETE "$SERVER/api/v1/memory/$ID" -H "X-API-Key: $KEY"
"""


def render(document: Document) -> str:
    """The page of an OpenAPI document."""
    title = escape(document["info"]["title"])
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{STYLE}</style></head><body>"
        f"<h1>{title}</h1>{_introduction(document)}{_contents(document)}"
        f'<h2 id="quick-start">Quick start</h2><pre><code>{escape(_QUICK_START)}</code></pre>'
        f"{_sections(document)}{_objects(document)}{_problems()}</body></html>\n"
    )


def _introduction(document: Document) -> str:
    paragraphs = document["info"]["description"].split("\n\n")
    text = "".join(f"<p>{prose(paragraph)}</p>" for paragraph in paragraphs)
    version = escape(document["info"]["version"])
    machine = '<a href="/openapi.json">/openapi.json</a>'
    return f'{text}<p class="soft">Version {version}; for machines: {machine}.</p>'


def _contents(document: Document) -> str:
    items = "".join(
        f'<li><a href="#{operation["operationId"]}">{escape(operation["summary"])}</a></li>'
        for tag in document["tags"]
        for _, _, operation in _operations(document, tag["name"])
    )
    more = "".join(
        f'<li><a href="#{anchor}">{name}</a></li>'
        for anchor, name in (("objects", "Objects"), ("problems", "Problems"))
    )
    return f"<nav><ul>{items}{more}</ul></nav>"


def _operations(document: Document, tag: str) -> Iterator[tuple[str, str, Document]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if tag in operation["tags"]:
                yield method.upper(), path, operation


def _sections(document: Document) -> str:
    return "".join(_section(document, tag) for tag in document["tags"])


def _section(document: Document, tag: Document) -> str:
    operations = "".join(_operation(document, *each) for each in _operations(document, tag["name"]))
    name = escape(tag["name"].capitalize())
    return f"<h2>{name}</h2><p>{prose(tag['description'])}</p>{operations}"


def _operation(document: Document, method: str, path: str, operation: Document) -> str:
    return (
        f'<article id="{operation["operationId"]}">'
        f'<h3><span class="method">{method}</span> <code>{escape(path)}</code></h3>'
        f"<p>{prose(operation['summary'])}. "
        f'<span class="soft">{prose(operation["description"])}</span></p>'
        f"{_parameters(operation)}{_body(document, operation)}{_answers(operation)}"
        "</article>"
    )


def _parameters(operation: Document) -> str:
    rows = table(map(parameter_row, operation["parameters"]))
    return f"<h4>Parameters</h4>{rows}" if rows else ""


def _body(document: Document, operation: Document) -> str:
    if "requestBody" not in operation:
        return ""
    reference = operation["requestBody"]["content"]["application/json"]["schema"]
    schema = _resolved(document, reference)
    text = prose(schema.get("description", ""))
    return f"<h4>Body: {kind(reference)}</h4><p>{text}</p>{fields(schema)}"


def _answers(operation: Document) -> str:
    rows = (
        (f"<code>{status}</code>", _content(answer), _said(status, answer))
        for status, answer in operation["responses"].items()
    )
    return f"<h4>Answers</h4>{table(rows)}"


def _content(answer: Document) -> str:
    if "$ref" in answer:
        return '<a href="#Problem">Problem</a>'
    content = answer.get("content", {}).items()
    return "".join(kind(each["schema"]) for _, each in content) or "no body"


def _said(status: str, answer: Document) -> str:
    if "$ref" in answer:
        codes = (code for code, kind in ERROR_CODES.items() if str(kind.status) == status)
        return ", ".join(f'<a href="#{code}">{code}</a>' for code in codes)
    headers = ", ".join(f"`{name}`" for name in answer["headers"])
    return prose(f"{answer['description']}. Headers: {headers}.")


def _objects(document: Document) -> str:
    objects = "".join(
        f'<article id="{escape(name)}"><h3>{escape(name)}</h3>{_object(schema)}</article>'
        for name, schema in document["components"]["schemas"].items()
    )
    return f'<h2 id="objects">Objects</h2>{objects}'


def _object(schema: Document) -> str:
    text = schema.get("description", "")
    return (f"<p>{prose(text)}</p>" if text else "") + (fields(schema) or f"<p>{kind(schema)}</p>")


def _problems() -> str:
    problems = "".join(_problem(code, kind.status) for code, kind in ERROR_CODES.items())
    return f'<h2 id="problems">Problems</h2>{problems}'


def _problem(code: str, status: int) -> str:
    what, remedy = ERROR_CODES[code].description, ERROR_CODES[code].remedy
    return (
        f'<article id="{code}"><h3><code>{code}</code> <span class="soft">{status}</span></h3>'
        f"<p>{prose(what)}</p><p>{prose(remedy)}</p></article>"
    )


def _resolved(document: Document, reference: Document) -> Document:
    schema: Document = document["components"]["schemas"][
        reference["$ref"].removeprefix("#/components/schemas/")
    ]
    return schema
