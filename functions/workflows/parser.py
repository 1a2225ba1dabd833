"""Parse workflow files, YAML or JSON; errors name the line (RFC-0015 §7)."""

from collections.abc import Hashable, Iterable
from typing import Any

import yaml
from pydantic import ValidationError

from functions.platform.errors import BodyTooLarge, ValidationFailed
from functions.platform.json_text import loads
from functions.platform.limits import MAX_WORKFLOW_BYTES
from functions.platform.validation import Path, build_validation_error, list_problems
from functions.workflows.requests import Workflow
from functions.workflows.rules import find_problems

_MAX_DEPTH = 20


class _Loader(yaml.SafeLoader):
    """Rejects aliases, tags, and deep nesting, which could make a small file expand."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call] # the stubs leave it out
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            raise _build_error("anchors and aliases are not accepted", event)
        if event.tag is not None:
            raise _build_error("tags are not accepted", event)
        if self.depth == _MAX_DEPTH:
            raise _build_error("is nested too deeply", event)
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        mapping: dict[Hashable, Any] = super().construct_mapping(node, deep=deep)
        if len(mapping) < len(node.value):
            raise _build_error("has a key twice", node)
        return mapping


def _build_error(problem: str, where: Any) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=where.start_mark)


def parse_workflow(body: bytes, media_type: str) -> Workflow:
    """Parse a request's body. Of another media type than JSON and YAML, it is JSON if it begins
    with `{`.
    """
    if len(body) > MAX_WORKFLOW_BYTES:
        raise BodyTooLarge("the workflow is too large", max=MAX_WORKFLOW_BYTES, actual=len(body))
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise ValidationFailed("body", "must be UTF-8") from error
    is_json = "json" in media_type or ("yaml" not in media_type and text.lstrip()[:1] == "{")
    document = _parse_json(body) if is_json else _parse_yaml(text)
    try:
        workflow = Workflow.model_validate(document)
    except ValidationError as error:
        raise _add_lines(text, list_problems(error, Workflow)) from error
    contradictions = find_problems(workflow)
    if contradictions:
        raise _add_lines(text, contradictions)
    return workflow


def _parse_json(body: bytes) -> Any:
    try:
        return loads(body)
    except ValueError as error:
        raise ValidationFailed("body", f"is not valid JSON: {error}") from error


def _parse_yaml(text: str) -> Any:
    try:
        return yaml.load(text, _Loader)  # noqa: S506 - a safe loader, and stricter
    except yaml.MarkedYAMLError as error:
        line = "" if error.problem_mark is None else f"line {error.problem_mark.line + 1}: "
        raise ValidationFailed("body", f"{line}{error.problem}") from error
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        raise ValidationFailed("body", "is not valid YAML") from error


def _add_lines(text: str, found: Iterable[tuple[Path, str]]) -> ValidationFailed:
    root = _compose(text)
    return build_validation_error(
        (path, f"{_render_line(root, path)}{problem}") for path, problem in found
    )


def _compose(text: str) -> yaml.Node | None:
    """Compose nodes with their lines; JSON is YAML, with rare exceptions."""
    try:
        return yaml.compose(text, _Loader)
    except (yaml.YAMLError, ValueError):
        return None


def _render_line(node: yaml.Node | None, path: Path) -> str:
    """Render the line of a path, or of the longest part of the path that exists."""
    if node is None:
        return ""
    line = node.start_mark.line
    for step in path:
        found = _find_child(node, step)
        if found is None:
            break
        line, node = found
    return f"line {line + 1}: "


def _find_child(node: yaml.Node, step: str | int) -> tuple[int, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == str(step):
                return key.start_mark.line, value
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        return node.value[step].start_mark.line, node.value[step]
    return None
