"""Check an account before a deployment; each finding names its remedy.

Nothing is changed. A check that the caller may not make is a warning.
"""

import shutil
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

import boto3
from botocore.exceptions import ClientError
from tqdm import tqdm

from functions.platform.item_types import DEPLOYMENT_SECRET
from infra.config import Config
from operations.deployment import Deployment, UnknownDeployment, client
from operations.estimate import Usage, estimate
from operations.switches import get_switches
from operations.versions import list_functions

Level = Literal["ok", "warning", "error"]

_CONCURRENCY = 1000  # AWS's default quota; new accounts have 10 or 50
_SHARDS = 4  # of a new table's stream
_UNRESERVED = 100  # which Lambda keeps for functions without a reservation
_CODE_SHARE = 0.8
_BOOTSTRAP = "/cdk-bootstrap/hnb659fds/version"
_BOOTSTRAP_VERSION = 6  # what the CDK's templates ask for
_EDGE_REGION = "us-east-1"
_BUDGET = "AWS::Budgets::Budget"  # which about twenty Regions lack, such as eu-north-1
_SERVICES = (
    "apigatewayv2",
    "codedeploy",
    "dynamodb",
    "dynamodbstreams",
    "events",
    "kms",
    "lambda",
    "scheduler",
    "secretsmanager",
    "ssm",
)
_DEPLOYER = (
    "cloudformation:CreateChangeSet",
    "cloudformation:DescribeStacks",
    "cloudformation:UpdateTerminationProtection",
    "dynamodb:UpdateTable",
    "iam:CreateServiceLinkedRole",
    "sts:AssumeRole",
)
_STUCK = ("ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "CREATE_FAILED", "UPDATE_ROLLBACK_FAILED")


class Finding(NamedTuple):
    """The result of a check; `remedy` is empty if all is well."""

    check: str
    level: Level
    finding: str
    remedy: str = ""


Findings = Iterator[Finding]


def check_account(name: str, config: Config) -> list[Finding]:
    """Check the environment's account and Region for a deployment of this configuration."""
    found: list[Finding] = []
    for check in tqdm(_CHECKS, desc="preflight", unit="check", leave=False, disable=None):
        title = check.__name__.removeprefix("_check_").replace("_", " ")
        try:
            found += [each._replace(check=title) for each in check(name, config)]
        except ClientError as error:
            code, call = error.response["Error"]["Code"], error.operation_name
            remedy = f"allow {call}, or check this in the console"
            found.append(Finding(title, "warning", f"{call} answers {code}", remedy))
    return found


def _ok(text: str) -> Finding:
    return Finding("", "ok", text)


def _warn(text: str, remedy: str) -> Finding:
    return Finding("", "warning", text, remedy)


def _fail(text: str, remedy: str) -> Finding:
    return Finding("", "error", text, remedy)


def _region() -> str:
    region: str = client("sts").meta.region_name
    return region


def _check_concurrency(_name: str, config: Config) -> Findings:
    settings = client("lambda").get_account_settings()
    limit = settings["AccountLimit"]["ConcurrentExecutions"]
    reserved = config.stream_concurrency or 0
    if reserved and limit - reserved < _UNRESERVED:
        yield _fail(
            f"{reserved} of {limit} invocations can't be reserved: "
            f"{_UNRESERVED} must stay unreserved",
            "omit -c stream_concurrency, or request a higher quota",
        )
    if limit >= _CONCURRENCY:
        yield _ok(f"Lambda runs {limit} invocations at a time")
        return
    streams = 1 + bool(config.embedding_model) + bool(config.learning_model)
    most = streams * _SHARDS * config.stream_parallelism
    yield _warn(
        f"Lambda runs only {limit} invocations at a time, and the stream may use {most} of them; "
        "the API returns 503 for other requests",
        f"request {_CONCURRENCY} in Service Quotas (Lambda, concurrent executions, L-B99A9384),"
        " and deploy with -c stream_parallelism=1 until it is granted",
    )


def _check_code_storage(_name: str, _config: Config) -> Findings:
    settings = client("lambda").get_account_settings()
    used, limit = settings["AccountUsage"]["TotalCodeSize"], settings["AccountLimit"]
    share = used / limit["TotalCodeSize"]
    text = f"functions use {share:.0%} of Lambda's code storage"
    if share < _CODE_SHARE:
        yield _ok(text)
    else:
        yield _warn(text, "delete old versions: operations delete-old-versions")


def _check_services(_name: str, config: Config) -> Findings:
    session, region = boto3.Session(), _region()
    partition = session.get_partition_for_region(region)
    optional = {"bedrock-runtime": config.embedding_model, "backup": config.backup_days}
    wanted = [*_SERVICES, *(name for name, option in optional.items() if option)]
    missing = [
        each
        for each in wanted
        if region not in session.get_available_regions(each, partition_name=partition)
    ]
    if missing:
        yield _warn(
            f"{region} has no {', '.join(missing)}, by botocore's list",
            "choose another Region, or omit the option that needs the service",
        )
    else:
        yield _ok(f"{region} has all services")


def _check_snap_start(_name: str, config: Config) -> Findings:
    if config.snap_start and boto3.Session().get_partition_for_region(_region()) != "aws":
        yield _fail(f"{_region()} has no SnapStart", "omit -c snap_start=true")


def _check_budget(_name: str, config: Config) -> Findings:
    if config.monthly_budget_usd is None:
        return
    cloudformation = client("cloudformation")
    try:
        cloudformation.describe_type(Type="RESOURCE", TypeName=_BUDGET)
    except cloudformation.exceptions.TypeNotFoundException:
        yield _fail(
            f"CloudFormation has no {_BUDGET} in {_region()}",
            "omit -c monthly_budget_usd and budget_email, and create a budget in AWS Billing",
        )
    else:
        yield _ok(f"CloudFormation has budgets in {_region()}")


def _check_bootstrap(_name: str, config: Config) -> Findings:
    for region in dict.fromkeys((_region(), *([_EDGE_REGION] if config.edge_domain_name else ()))):
        ssm = boto3.client("ssm", region_name=region)
        try:
            version = int(ssm.get_parameter(Name=_BOOTSTRAP)["Parameter"]["Value"])
        except ssm.exceptions.ParameterNotFound:
            version = 0
        if version >= _BOOTSTRAP_VERSION:
            yield _ok(f"{region} is bootstrapped with version {version}")
        else:
            yield _fail(
                f"{region} is not bootstrapped with version {_BOOTSTRAP_VERSION} or later",
                f"run: AWS_REGION={region} make bootstrap",
            )


def _check_deployer(_name: str, _config: Config) -> Findings:
    caller = client("sts").get_caller_identity()["Arn"]
    iam, principal = client("iam"), _find_role(caller)
    results = iam.simulate_principal_policy(PolicySourceArn=principal, ActionNames=list(_DEPLOYER))[
        "EvaluationResults"
    ]
    denied = [each["EvalActionName"] for each in results if each["EvalDecision"] != "allowed"]
    if denied:
        yield _warn(f"{principal} may not call {', '.join(denied)}", "deploy as another principal")
    else:
        yield _ok(f"{principal} may deploy")


def _find_role(caller: str) -> str:
    """Find the role of a session: `arn:aws:sts::1:assumed-role/name/session`."""
    if ":assumed-role/" not in caller:
        return caller
    partition, account = caller.split(":")[1], caller.split(":")[4]
    return f"arn:{partition}:iam::{account}:role/{caller.split('/')[1]}"


def _check_alarm_topic(_name: str, config: Config) -> Findings:
    topic = config.alarm_topic_arn
    if topic is None:
        yield _warn("alarms have no topic", "deploy with -c alarm_topic_arn=TOPIC_ARN")
        return
    sns = client("sns")
    if topic.split(":")[3] != _region():
        yield _fail(f"{topic} is in another Region", f"create a topic in {_region()}")
        return
    try:
        subscriptions = sns.list_subscriptions_by_topic(TopicArn=topic)["Subscriptions"]
    except sns.exceptions.NotFoundException:
        yield _fail(f"{topic} does not exist", "create it, and subscribe to it")
        return
    if any(each["SubscriptionArn"] != "PendingConfirmation" for each in subscriptions):
        yield _ok("alarms have a topic with subscribers")
    else:
        yield _warn(f"{topic} has no confirmed subscriber", "subscribe to it, and confirm")


def _check_certificates(_name: str, config: Config) -> Findings:
    wanted = {
        config.certificate_arn: _region(),
        config.edge_certificate_arn: _EDGE_REGION,
        config.edge_client_certificate_arn: _EDGE_REGION,
    }
    for arn, region in wanted.items():
        if arn is None:
            continue
        if arn.split(":")[3] != region:
            yield _fail(f"{arn} is not in {region}", f"request a certificate in {region}")
            continue
        acm = boto3.client("acm", region_name=region)
        status = acm.describe_certificate(CertificateArn=arn)["Certificate"]["Status"]
        if status == "ISSUED":
            yield _ok(f"{arn} is issued")
        else:
            yield _fail(f"{arn} has the status {status}", "validate the certificate first")


def _check_python(_name: str, config: Config) -> Findings:
    if shutil.which(config.runtime):
        yield _ok(f"{config.runtime} compiles the modules")
    else:
        yield _warn(
            f"no {config.runtime} is on the PATH, so a cold start takes twice as long",
            f"install {config.runtime}, or choose an installed Python by -c runtime=…",
        )


def _check_backups(_name: str, config: Config) -> Findings:
    if config.backup_days is None:
        return
    opted = client("backup").describe_region_settings()["ResourceTypeOptInPreference"]
    missing = [each for each in ("DynamoDB", "S3") if not opted.get(each)]
    if missing:
        yield _fail(
            f"AWS Backup is not enabled for {', '.join(missing)}",
            "enable them in the AWS Backup console: Settings, service opt-in",
        )
    else:
        yield _ok("AWS Backup covers tables and buckets")


def _check_stacks(name: str, _config: Config) -> Findings:
    cloudformation = client("cloudformation")
    for stack in (f"agent-memory-{name}-state", f"agent-memory-{name}"):
        try:
            status = cloudformation.describe_stacks(StackName=stack)["Stacks"][0]["StackStatus"]
        except ClientError as error:
            if "does not exist" in str(error):
                continue
            raise
        if status.endswith("_IN_PROGRESS"):
            yield _fail(f"{stack} is {status}", "wait until the other deployment has ended")
        elif status in _STUCK:
            how_to = "docs/how-to/first-deployment-failed.md"
            yield _warn(f"{stack} is {status}", f"the deployment replaces it, or see {how_to}")
        else:
            yield _ok(f"{stack} is {status}")


def _check_aliases(name: str, _config: Config) -> Findings:
    deployment = _find(name)
    if deployment is None:
        return
    alias, functions = deployment.outputs["Alias"], client("lambda")
    for each in list_functions(deployment):
        function, recorded = deployment.function(each), deployment.outputs[f"{each}Version"]
        version = functions.get_alias(FunctionName=function, Name=alias)["FunctionVersion"]
        if version == recorded:
            yield _ok(f"{each} runs the version that the stack deployed")
        else:
            yield _fail(
                f"{alias} of {each} is at version {version}; the stack deployed {recorded}, so"
                " CodeDeploy refuses the deployment",
                f"aws lambda update-alias --function-name {function} --name {alias}"
                f" --function-version {recorded}",
            )


def _check_switches(name: str, _config: Config) -> Findings:
    deployment = _find(name)
    switches = {} if deployment is None else get_switches(deployment)
    switches.pop("root_key_version", None)
    if switches:
        yield _warn(
            f"switches are set, which take precedence over options: {switches}",
            "end them by the command that set them, such as operations read-only off",
        )


def _check_data_version(name: str, _config: Config) -> Findings:
    deployment = _find(name)
    if deployment is None:
        return
    partition, sort = DEPLOYMENT_SECRET.build_key()
    found = client("dynamodb").get_item(
        TableName=deployment.outputs["MemoryTable"],
        Key={"pk": {"S": partition}, "sk": {"S": sort}},
        ProjectionExpression="data_version",
    )
    stored = int(found.get("Item", {}).get("data_version", {"N": "1"})["N"])
    if stored < int(deployment.outputs["DataVersion"]):
        yield _warn(
            f"the data has version {stored}, and the release reads a later one",
            "if you will not roll back: run operations raise-data-version before the next release",
        )


def _check_cost(_name: str, config: Config) -> Findings:
    usage = Usage(
        edge=config.edge_domain_name is not None,
        standby=config.standby_region is not None,
        backup_days=config.backup_days or 0,
    )
    fixed = sum(estimate(usage)["fixed"].values())
    yield _ok(f"without requests it costs about {fixed:.0f} USD a month (operations estimate)")


def _find(name: str) -> Deployment | None:
    try:
        return Deployment.find(name)
    except UnknownDeployment:
        return None


_CHECKS: tuple[Callable[[str, Config], Findings], ...] = (
    _check_services,
    _check_snap_start,
    _check_budget,
    _check_bootstrap,
    _check_deployer,
    _check_concurrency,
    _check_code_storage,
    _check_alarm_topic,
    _check_certificates,
    _check_python,
    _check_backups,
    _check_stacks,
    _check_aliases,
    _check_switches,
    _check_data_version,
    _check_cost,
)


def render_findings(findings: list[Finding]) -> str:
    """Render findings as lines; each remedy is below its finding."""
    lines = []
    for each in findings:
        lines.append(f"{each.level:8} {each.check}: {each.finding}")
        if each.remedy:
            lines.append(f"{'':8} -> {each.remedy}")
    return "\n".join(lines)
