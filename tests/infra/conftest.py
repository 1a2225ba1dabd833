"""The template, synthesized once for a stage that is thrown away and once for production."""

import json
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from infra.config import Config
from infra.upgrades import merge_templates
from tests.infra.template import Template

_ROOT = Path(__file__).parents[2]
Synthesize = Callable[..., Template]
TASK_EVENTS = {
    "task_event_sources": "com.example.planner, com.example.desk",
    "task_event_principal": "acme/desk/planner",
}
EVERYTHING = {
    **TASK_EVENTS,
    "stage": "prod",
    "embedding_model": "bedrock:amazon.titan-embed-text-v2:0",
    "learning_model": "openai:gpt-5-mini",
    "learning_url": "https://models.example.com/v1",
    "learning_key_arn": "arn:aws:secretsmanager:eu-central-1:123456789012:secret:model-AbCdEf",
    "jwt_issuer": "https://id.example.com",
    "jwt_audience": "memory",
    "standby_region": "eu-west-1",
    "standby_storage_key_arn": "arn:aws:kms:eu-west-1:123456789012:key/"
    "1234abcd-12ab-34cd-56ef-1234567890ab",
}
CHOICES = {
    "alarm_topic_arn": "arn:aws:sns:eu-central-1:123456789012:on-call",
    "contributor_insights": "true",
    "log_retention_days": "365",
    "request_log_sample": "1",
    "snap_start": "true",
    "sweep_parts": "3",
    "stream_parallelism": "2",
    "stream_concurrency": "50",
    "throttle_burst": "4000",
    "throttle_rate": "2000",
    "tracing": "true",
}
os.environ.setdefault("JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION", "1")


@pytest.fixture(scope="session")
def synthesize(tmp_path_factory: pytest.TempPathFactory) -> Synthesize:
    """Synthesize the stack for a context, as the CDK's command line would; each context once."""
    from aws_cdk import App

    from infra.app import make

    @cache
    def synthesized(**context: str) -> Template:
        given = json.loads((_ROOT / "cdk.json").read_text())["context"] | context
        # the code isn't copied beside each template, which would take longer than all the rest
        given |= {"aws:cdk:disable-asset-staging": True}
        app = App(context=given, outdir=str(tmp_path_factory.mktemp("cdk.out")))
        config = Config.from_context(app.node.get_all_context())
        make(app, config)
        assembly = app.synth()
        templates = {each.stack_name: each.template for each in assembly.stacks}
        manifest = json.loads(_manifest(assembly.directory))
        prefix = config.to_settings().to_logical_id("")
        return Template(merge_templates(templates), manifest, prefix, templates)

    return synthesized


def _manifest(folder: str) -> str:
    return (Path(folder) / "manifest.json").read_text()


@pytest.fixture(scope="session")
def dev(synthesize: Synthesize) -> Template:
    """The template that `make deploy` deploys."""
    return synthesize()


@pytest.fixture(scope="session")
def prod(synthesize: Synthesize) -> Template:
    return synthesize(stage="prod")


@pytest.fixture(scope="session")
def taking(synthesize: Synthesize) -> Template:
    """A stack that takes task events of other systems."""
    return synthesize(**TASK_EVENTS)


@pytest.fixture(scope="session")
def chosen(synthesize: Synthesize) -> Template:
    """A deployment that chooses otherwise than `dev` wherever it has a choice of one value."""
    return synthesize(**CHOICES)


@pytest.fixture(scope="session")
def with_index(synthesize: Synthesize) -> Template:
    """A deployment with the vector index of DynamoDB, which no engine of the tests has."""
    return synthesize(vector_index="true")


@pytest.fixture(scope="session")
def whole(synthesize: Synthesize) -> Template:
    """A deployment with all that is watched."""
    return synthesize(**EVERYTHING)
