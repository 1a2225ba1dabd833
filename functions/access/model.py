"""What an explanation of access is about, and what it says."""

from typing import Literal, NamedTuple

from functions.authorization.model import Decision

TargetKind = Literal["entry", "namespace", "task", "conversation"]


class AccessTarget(NamedTuple):
    """What is read and written; `id` is a namespace's name. Of a task, it is its working memory."""

    kind: TargetKind
    id: str


class AccessExplanation(NamedTuple):
    """Whether a principal may read and write a target, each with the reason."""

    principal: str
    target: AccessTarget
    read: Decision
    write: Decision
