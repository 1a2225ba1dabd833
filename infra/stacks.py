"""The stacks of this app, a minimal use of the construct."""

from aws_cdk import App, CfnOutput, Environment, Stack
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sns as sns

from infra.agent_memory_cdk import AgentMemory, Edge, FunctionCode, Settings, State, TableArns
from infra.agent_memory_cdk.edge import REGION as EDGE_REGION
from infra.agent_memory_cdk.encryption import Encryption
from infra.config import Config

_DESCRIPTION = "Memory for AI agents (OpenIntent RFC-0015)"
_STATE = "State"
_HIDDEN = "Default"  # an id that the CDK leaves out of logical ids


class MemoryStacks:
    """A stack for kept resources, one for functions, and one in us-east-1 for an edge.

    The first one is omitted if all kept resources are given by reference.

    The functions' stack reads the other's outputs by weak references (`cdk.json`), so that a
    restored table can replace one. Neither has termination protection here: the CDK would set it
    before a first deployment, which could then not be repeated after a failure. `operations
    protect` sets it after the deployment.
    """

    def __init__(self, app: App, config: Config, code: FunctionCode) -> None:
        settings, name = config.to_settings(), f"agent-memory-{config.stage}"
        self.compute = Stack(app, name, description=_DESCRIPTION)
        self.state = self.compute
        if not config.refers_to_all_state or settings.backup_days is not None:
            self.state = Stack(
                app,
                f"{name}-state",
                description=f"{_DESCRIPTION}: what is kept",
            )
        topic = config.alarm_topic_arn
        self.memory = AgentMemory(
            self.compute,
            _HIDDEN,
            settings,
            code=code,
            state=_make_state(self.state, settings, config),
            alarm_topic=sns.Topic.from_topic_arn(self.compute, "AlarmTopic", topic)
            if topic
            else None,
            tags={"stage": config.stage},
        )
        for output in ("ApiUrl", "TokenApiUrl", "RootKeySecretId"):
            if output in self.memory.description:
                CfnOutput(self.compute, output, value=self.memory.description[output])
        if settings.edge is not None:
            place = Environment(region=EDGE_REGION)
            Edge(Stack(app, f"{name}-edge", description=_DESCRIPTION, env=place), _HIDDEN, settings)


def _make_state(stack: Stack, settings: Settings, config: Config) -> State:
    """Create the kept resources, except those that are given by reference."""
    tables = _to_arns(config.memory_stream_arn, config.log_table_arn)
    return State(
        stack,
        _STATE if config.refers_to_all_state else _HIDDEN,
        settings,
        storage_key=_refer_to_key(stack, "StorageKey", config.storage_key_arn),
        values_key=Encryption.replicate_values(stack, settings, config.replicated_values_key_arn)
        if config.replicated_values_key_arn
        else _refer_to_key(stack, "ValuesKey", config.values_key_arn),
        memory_table=_refer_to_table(stack, "Memory", tables.memory, tables.memory_stream)
        if tables
        else None,
        log_table=_refer_to_table(stack, "Log", tables.log) if tables else None,
        archive_bucket=s3.Bucket.from_bucket_name(stack, "Archive", config.archive_bucket)
        if config.archive_bucket
        else None,
        root_key=secretsmanager.Secret.from_secret_complete_arn(
            stack, "RootKey", config.root_key_arn
        )
        if config.root_key_arn
        else None,
        also_grant=_to_arns(config.also_memory_stream_arn, config.also_log_table_arn),
    )


def _to_arns(memory_stream: str | None, log: str | None) -> TableArns | None:
    if memory_stream is None or log is None:
        return None
    return TableArns(memory_stream=memory_stream, log=log)


def _refer_to_key(stack: Stack, id: str, arn: str | None) -> kms.IKey | None:
    return None if arn is None else kms.Key.from_key_arn(stack, id, arn)


def _refer_to_table(
    stack: Stack, id: str, arn: str, stream_arn: str | None = None
) -> dynamodb.ITableV2:
    return dynamodb.TableV2.from_table_attributes(
        stack, id, table_arn=arn, table_stream_arn=stream_arn
    )
