"""Explanations of access: the target, and the decision."""

from typing import Literal, NamedTuple

from functions.authorization.model import Decision

TargetKind = Literal["entry", "namespace", "task", "conversation"]


class AccessTarget(NamedTuple):
    """The target; `id` is a namespace's name, or a task's for its working memory."""

    kind: TargetKind
    id: str


class AccessExplanation(NamedTuple):
    """Tells whether a principal may read and write a target, each with the reason."""

    principal: str
    target: AccessTarget
    read: Decision
    write: Decision
