"""Test what Lambda unpacks: only the functions and their dependencies, for its platform."""

import ast
import gzip
import json
import platform
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import botocore
import pytest

from infra.asset import build as build_module
from infra.asset import trim
from infra.asset.build import Asset, build, unzipped_bytes
from infra.asset.bytecode import compile_all, interpreter
from infra.asset.target import Target
from tools.events import render_http_event

_ROOT = Path(__file__).parents[2]
_BUDGET = (
    150_000_000  # bytes, 30 MB of the model and 40 to 60 of numpy included; Lambda takes 250 MB
)
_PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
_MACHINE = platform.machine()
_NATIVE = Target(f"python{_PYTHON}", "arm64" if _MACHINE == "aarch64" else "x86_64")
_AARCH64, _UNCHECKED_HASH = b"\xb7\x00", 1
_LATER = {"boto3", "cryptography", "numpy", "s3transfer", "yaml"}  # what a read needs none of
on_lambdas_platform = pytest.mark.skipif(
    sys.platform != "linux" or _MACHINE not in ("x86_64", "aarch64"),
    reason="what is built for Lambda runs on Linux",
)


@pytest.fixture(scope="module")
def asset() -> Asset:
    """The asset that is deployed by default."""
    return build(Target("python3.14", "arm64"))


@pytest.fixture(scope="module")
def native() -> Asset:
    """The asset for the Python and the processor that run this test."""
    return build(_NATIVE)


def test_it_keeps_to_its_budget(asset: Asset, native: Asset) -> None:
    assert unzipped_bytes(asset.folder) < _BUDGET
    assert unzipped_bytes(native.folder) < _BUDGET


def test_it_holds_every_module_of_the_functions_but_the_development_servers(asset: Asset) -> None:
    functions = asset.folder / "functions"
    held = {path.relative_to(asset.folder) for path in functions.rglob("*.py")}
    there = {path.relative_to(_ROOT) for path in (_ROOT / "functions").rglob("*.py")}
    assert held == {path for path in there if path.parts[1] != "local"}
    assert held != there


def test_it_holds_nothing_that_is_not_used_there(asset: Asset) -> None:
    at_the_top = {path.name for path in asset.folder.iterdir()}
    assert not at_the_top & {"tests", "infra", "sdk", "bin", "moto", "uvicorn", "aws_cdk", "boto3"}
    suffixes = {path.suffix for path in asset.folder.rglob("*") if path.is_file()}
    assert not suffixes & {".pyi", ".c", ".h", ".exe"}


def test_its_binaries_are_for_the_processor_that_runs_them(asset: Asset) -> None:
    libraries = list(asset.folder.rglob("*.so"))
    assert len(libraries) >= 4
    for library in libraries:
        header = library.read_bytes()[:20]
        assert (header[:4], header[18:20]) == (b"\x7fELF", _AARCH64), library
        is_extension = library.parent.name != "numpy.libs"  # what numpy's extensions link to
        assert not is_extension or re.search("cpython-314-aarch64|abi3", library.name)


def test_everybody_may_read_it(asset: Asset) -> None:
    for path in asset.folder.rglob("*"):
        assert path.stat().st_mode & 0o777 == (0o755 if path.is_dir() else 0o644), path


def test_botocore_knows_the_services_that_are_called_and_no_others(asset: Asset) -> None:
    called: set[str] = set()
    for path in (asset.folder / "functions").rglob("*.py"):
        called |= set(
            re.findall(r'\b(?:create_client|LazyClient)\("([\w-]+)"[,)]', path.read_text("utf-8"))
        )
    data = asset.folder / "botocore/data"
    assert {path.name for path in data.iterdir() if path.is_dir()} == called == set(trim.SERVICES)
    partitions = json.loads((data / "endpoints.json").read_text())["partitions"]
    listed = set().union(*(partition["services"] for partition in partitions))
    assert listed == called - {"bedrock-runtime"}  # whose endpoints botocore lists nowhere


def test_botocores_models_are_whole_but_for_their_documentation(asset: Asset) -> None:
    model = "data/dynamodb/2012-08-10/service-2.json.gz"
    trimmed, whole = (
        json.loads(gzip.decompress((folder / model).read_bytes()))
        for folder in (asset.folder / "botocore", Path(botocore.__file__).parent)
    )
    assert "documentation" not in trimmed["operations"]["GetItem"]
    assert trimmed["operations"].keys() == whole["operations"].keys()
    assert trimmed["shapes"]["GetItemInput"]["members"]["Key"]["shape"] == "Key"


def test_the_same_input_is_the_same_asset(native: Asset, tmp_path: Path) -> None:
    """The lock pins the content of each wheel; what is made of one is made once more here."""
    compiler = interpreter(_NATIVE.python)
    assert compiler is not None
    digest = build_module._digest_of_packages(_NATIVE, compiled=True)  # noqa: SLF001 - pure
    unpacked = native.folder.with_name(f"packages-{digest}")
    packages = tmp_path / unpacked.name
    shutil.copytree(unpacked, packages)
    for compiled in list((packages / "pydantic").rglob("*.pyc")):
        compiled.unlink()
    compile_all(compiler, packages, "pydantic")
    again = build(_NATIVE, tmp_path)
    assert again.digest == native.digest
    assert _content(again.folder) == _content(native.folder)


def _content(folder: Path) -> dict[Path, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder): path.read_bytes() for path in files}


def test_it_has_the_api_reference_and_its_document(asset: Asset) -> None:
    api = asset.folder / "functions/api"
    assert (api / "openapi.json").read_bytes() == (
        _ROOT / "functions/api/openapi.json"
    ).read_bytes()
    assert {path.name for path in (api / "docs").iterdir()} == {
        "index.html",
        "reference.css",
        "reference.js",
        "swagger-ui-bundle.js",
        "swagger-ui.css",
    }


def test_another_input_is_another_asset(asset: Asset, tmp_path: Path) -> None:
    for name in ("infra", "functions", "requirements", "tools"):
        shutil.copytree(_ROOT / name, tmp_path / name)
    shutil.copy(_ROOT / "package-lock.json", tmp_path)

    def digest() -> str:
        code = f"""
from infra.asset import build
from infra.asset.target import Target
print(build.digest_of(Target("python3.14", "arm64"), compiled={asset.compiled}))"""
        command = [sys.executable, "-c", code]
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        return ran.stdout.strip()

    assert digest() == asset.digest
    (tmp_path / "functions/local/more.py").write_text("")
    assert digest() == asset.digest
    (tmp_path / "functions/api/more.py").write_text("")
    changed = digest()
    (tmp_path / "requirements/lambda.lock").write_text("")
    assert len({asset.digest, changed, digest()}) == 3


def test_a_built_asset_is_not_built_again(asset: Asset) -> None:
    before = asset.folder.stat()
    again = build(Target("python3.14", "arm64"))
    assert again == asset
    assert again.folder.stat() == before


def test_every_module_is_compiled_where_its_python_is_at_hand(native: Asset) -> None:
    assert native.compiled
    for source in native.folder.rglob("*.py"):
        compiled = (
            source.parent / f"__pycache__/{source.stem}.cpython-{_PYTHON.replace('.', '')}.pyc"
        )
        flags = int.from_bytes(compiled.read_bytes()[4:8], "little")
        assert flags == _UNCHECKED_HASH, source


def choose(target: Target) -> set[str]:
    """The packages that a target needs."""
    chosen = build_module._requirements(target)  # noqa: SLF001 - pure
    return set(re.findall(r"(?m)^([a-z0-9-]+)==", chosen))


def test_what_is_chosen_is_installed_and_nothing_else(asset: Asset) -> None:
    found = (path.name.partition("-")[0].lower() for path in asset.folder.glob("*.dist-info"))
    chosen = choose(Target("python3.14", "arm64")) | {"tokenizers"}
    assert {name.replace("_", "-") for name in found} == chosen


def test_without_boto3_lambdas_own_is_left_to_serve() -> None:
    chosen = choose(Target("python3.13", "arm64", boto3=False))
    assert not {"boto3", "botocore", "python-dateutil", "six", "urllib3"} & chosen
    assert "pydantic" in chosen


@on_lambdas_platform
def test_it_answers_with_nothing_else_installed(native: Asset, tmp_path: Path) -> None:
    event = json.dumps(render_http_event("capabilities", {}))
    code = f"""
import json, sys
sys.path.insert(0, {str(native.folder)!r})
from functions.api.main import handler
answer = handler(json.loads({event!r}), None)
print(json.dumps([answer["statusCode"], [name for name in sys.modules if "." not in name]]))
import functions.stream.main, functions.schedule.main"""
    (tmp_path / "key").write_text("A" * 43 + "=")
    environment = {
        "MEMORY_TABLE": "memory",
        "LOG_TABLE": "log",
        "ROOT_KEY": "root-key-of-this-test",
        "ENCRYPTION_KEY_FILE": str(tmp_path / "key"),
        "AWS_REGION": "eu-central-1",
        "AWS_DEFAULT_REGION": "eu-central-1",
    }
    command = [sys.executable, "-S", "-B", "-c", code]
    ran = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    status, imported = json.loads(ran.stdout.splitlines()[-1])
    assert status == 200
    assert not _LATER & set(imported)


def test_the_lock_holds_the_versions_that_are_tested() -> None:
    def pins(name: str) -> dict[str, str]:
        lock = (_ROOT / f"requirements/{name}.lock").read_text("utf-8")
        return dict(re.findall(r"(?m)^([a-z0-9-]+)==(\S+)", lock))

    assert pins("lambda").items() <= pins("dev").items()


@pytest.mark.parametrize(
    ("name", "extras"),
    [
        ("lambda", []),
        ("run", ["local"]),
        ("infra", ["infra"]),
        ("docs", ["docs"]),
        ("dev", ["local", "infra", "dev"]),
    ],
)
def test_the_locks_hold_all_that_the_project_declares(name: str, extras: list[str]) -> None:
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    optional = project["optional-dependencies"]
    declared = {*project["dependencies"], *(each for extra in extras for each in optional[extra])}
    names = {re.match(r"[\w-]+==[^ ;]+", each)[0].lower() for each in declared}  # type: ignore[index]
    lock = (_ROOT / f"requirements/{name}.lock").read_text("utf-8")
    assert names <= set(re.findall(r"(?m)^[a-z0-9-]+==[^ ;]+", lock))


def test_no_requirement_depends_on_the_platform_that_builds() -> None:
    lock = (_ROOT / "requirements/lambda.lock").read_text("utf-8")
    markers = re.findall(r"(?m)^[a-z0-9-]+==\S+ ; (.+?) \\", lock)
    assert {
        name for marker in markers for name in re.findall(r"\b[a-z_]+\b(?= [!=<>])", marker)
    } <= {
        "platform_python_implementation",
        "implementation_name",
        *("python_full_version", "sys_platform", "platform_machine"),  # as the next test shows
    }


@pytest.mark.parametrize(("python", "numpy"), [("3.11", "2.2.6"), ("3.12", "2.4.6")])
def test_a_requirement_of_some_pythons_is_chosen_by_the_target(python: str, numpy: str) -> None:
    chosen = build_module._requirements(Target(f"python{python}", "arm64"))  # noqa: SLF001 - pure
    assert re.findall(r"(?m)^numpy==(.*)$", chosen) == [f"{numpy} \\"]
    assert re.findall(r"(?m)^cryptography==(.*)$", chosen) == ["50.0.2 \\"]  # not that of Macs


def test_what_the_functions_import_is_held(asset: Asset) -> None:
    held = {path.name.partition(".")[0] for path in asset.folder.iterdir()}
    assert imported_by(asset.folder / "functions") - held - sys.stdlib_module_names == set()


def test_the_deployment_takes_only_names_and_limits_from_the_functions() -> None:
    sources = [path.read_text("utf-8") for path in (_ROOT / "infra").rglob("*.py")]
    used = {
        name
        for text in sources
        for name in re.findall(r"^ *(?:from|import) (functions\S*)", text, re.MULTILINE)
    }
    assert used == {
        "functions.events.event_bus",
        "functions.platform.embedding_models",
        "functions.platform.item_types",
        "functions.platform.limits",
        "functions.platform.schema",
        "functions.platform.settings",
        "functions.stream.handler",
        "functions.usage.model",
    }
    assert not {"infra", "aws_cdk"} & imported_by(_ROOT / "functions")


def imported_by(folder: Path) -> set[str]:
    """The packages that the modules of a folder import."""
    imported: set[str] = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imported.add(node.module.partition(".")[0])
    return imported
