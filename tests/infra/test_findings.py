"""cdk-nag checks each synthesis; what it finds is mended, or has its reason on its own resource."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from infra.config import Config

if TYPE_CHECKING:
    from aws_cdk import Stack


@pytest.fixture
def stack(tmp_path: Path) -> "Stack":
    """A stack that is not synthesized yet."""
    from aws_cdk import App

    from infra.app import make

    return make(App(outdir=str(tmp_path)), Config()).compute


def test_a_finding_fails_the_synthesis(stack: "Stack") -> None:
    from aws_cdk import Stage
    from aws_cdk import aws_sqs as sqs

    app = Stage.of(stack)
    assert app is not None
    sqs.Queue(stack, "Unencrypted")
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        app.synth()


def test_what_is_accepted_is_accepted_at_one_resource_with_a_reason(stack: "Stack") -> None:
    from aws_cdk import App, Stack

    accepted = [
        (construct, entry.data)
        for construct in stack.node.root.node.find_all()
        for entry in construct.node.metadata
        if "acknowledge" in entry.type
    ]
    assert accepted
    for construct, data in accepted:
        assert not isinstance(construct, App | Stack)
        assert len(str(data)) > 40
