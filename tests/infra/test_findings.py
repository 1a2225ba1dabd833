"""cdk-nag checks each synthesis; what it finds is mended, or has its reason on its own resource."""

import pytest
from aws_cdk import App, Stack
from aws_cdk import aws_sqs as sqs

from infra.app import make
from infra.config import Config


def test_a_finding_fails_the_synthesis(tmp_path: object) -> None:
    app = App(outdir=str(tmp_path))
    stack = make(app, Config())
    sqs.Queue(stack, "Unencrypted")
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        app.synth()


def test_what_is_accepted_is_accepted_at_one_resource_with_a_reason(tmp_path: object) -> None:
    app = App(outdir=str(tmp_path))
    make(app, Config())
    accepted = [
        (construct, entry.data)
        for construct in app.node.find_all()
        for entry in construct.node.metadata
        if "acknowledge" in entry.type
    ]
    assert accepted
    for construct, data in accepted:
        assert not isinstance(construct, App | Stack)
        assert len(str(data)) > 40
