"""The steps that need a second Region, or a domain name."""

from operations.aws_day.calling import MEMORY, Caller
from operations.aws_day.day import Day, Facts, NotApplicable, await_true, expect, in_region
from operations.deployment import client
from operations.regions import start_region, stop_region

_HOURS = 6 * 3600.0  # which a replica can take
_BLOCKED = ("${jndi:ldap://x}", "http://169.254.169.254/latest/meta-data", "<script>alert(1)")


def standby_and_back(day: Day) -> Facts:
    """Replicate to a second Region, write in it, and switch back."""
    if day.standby is None:
        raise NotApplicable("name a second Region: --standby REGION")
    home: str = client("sts").meta.region_name
    agent = day.agent("standby")
    kept = agent.create("kept", {"text": "secret"}, sensitivity="confidential")
    with in_region(day.standby):
        key = _find_or_create_key(day)
    options = {"standby_region": day.standby, "standby_storage_key_arn": key}
    replicated = day.deploy(**options)
    context = _find_replicas(day, home, key)
    with in_region(day.standby):
        day.deploy(**context)
        second = day.deployment
        there = Caller(second.outputs["ApiUrl"], day.state["agents"]["standby"])
        stopped = there.call("POST", MEMORY, {"namespace": "day", "key": "k", "value": 1}).status
        expect(stopped == 503, f"the standby answers a write with {stopped}")
    waited = stop_region(day.deployment, day.standby)["waited_seconds"]
    with in_region(day.standby):
        start_region(second)
        written = await_true(lambda: there.call(*_write("there")).status == 201, "a write there")
        found = there.expect(200, "GET", f"{MEMORY}/{kept['id']}")["value"]
        expect(found == kept["value"], "a confidential value differs there")
        stop_region(second, home)
    start_region(day.deployment)
    back = await_true(lambda: agent.call(*_write("back")).status == 201, "a write at home")
    return {
        "replicas_after_seconds": replicated,
        "stopped_for_seconds": waited,
        "writes_there_after_seconds": written,
        "writes_back_after_seconds": back,
    }


def _write(key: str) -> tuple[str, str, dict[str, object]]:
    body: dict[str, object] = {"namespace": "day", "key": key, "value": {"n": 1}}
    body["memory_type"] = "episodic"
    return "POST", MEMORY, body


def _find_or_create_key(day: Day) -> str:
    """Create a key for the replicas, unless the day has one."""
    if "standby_key" not in day.state:
        made = client("kms").create_key(Description=f"agent-memory {day.name}: replicas")
        day.save(standby_key=made["KeyMetadata"]["Arn"])
    return str(day.state["standby_key"])


def _find_replicas(day: Day, home: str, key: str) -> dict[str, str]:
    """Find the replicated resources for the second Region's deployment."""
    outputs, region = day.deployment.outputs, str(day.standby)
    found = client("lambda").get_function_configuration(FunctionName=day.deployment.alias_of("Api"))
    values = found["Environment"]["Variables"]["ENCRYPTION_KEY_ID"]
    with in_region(region):
        dynamodb = client("dynamodb")
        tables = {name: outputs[name] for name in ("MemoryTable", "LogTable")}

        def is_there() -> bool:
            known = dynamodb.list_tables()["TableNames"]
            return all(each in known for each in tables.values())

        await_true(is_there, f"the replicas in {region}", _HOURS)
        described = {
            name: dynamodb.describe_table(TableName=each)["Table"] for name, each in tables.items()
        }
        secret = client("secretsmanager").describe_secret(
            SecretId=outputs["RootKeySecretId"].replace(home, region)
        )
    return {
        "active_region": home,
        "replicated_values_key_arn": values,
        "storage_key_arn": key,
        "memory_stream_arn": described["MemoryTable"]["LatestStreamArn"],
        "log_table_arn": described["LogTable"]["TableArn"],
        "root_key_arn": secret["ARN"],
    }


def edge(day: Day) -> Facts:
    """Call the API through CloudFront and the firewall, with texts that firewalls block."""
    if "edge_domain_name" not in day.context:
        raise NotApplicable("deploy with the options of an edge: -c edge_domain_name=… and others")
    agent = day.agent("edge")
    for number, text in enumerate(_BLOCKED):
        agent.create(f"blocked-{number}", {"text": text})
    agent.expect(201, "PUT", "/api/v1/agents/edge/objects/day/drafts/app.log", b"text")
    api = client("apigatewayv2").get_apis()["Items"]
    (own,) = [each for each in api if each["Name"] == f"agent-memory-{day.name}"]
    around = Caller(own["ApiEndpoint"], "none").call("GET", "/health").status
    expect(around != 200, "the generated address answers")
    return {"accepted": len(_BLOCKED) + 1, "generated_address": around}
