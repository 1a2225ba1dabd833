"""ADK's artifacts: what all artifact services owe, and what strains them."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from agent_memory import Client

pytest.importorskip("google.adk", reason="`make frameworks` runs these with Google's ADK")

from agent_memory.adapters.google_adk import AgentMemoryArtifactService
from google.adk.artifacts import InMemoryArtifactService
from google.adk.errors.input_validation_error import InputValidationError
from google.genai import types

from tests.sdk.frameworks.adk import HERE, IMAGE, WHERE, wait


@pytest.fixture(params=["ADK's", "ours"])
def artifacts(request: pytest.FixtureRequest) -> Any:
    if request.param == "ADK's":
        return InMemoryArtifactService()
    return AgentMemoryArtifactService(request.getfixturevalue("alice"))


def test_artifacts_have_versions_from_0_on(artifacts: Any) -> None:
    parts = [
        types.Part.from_bytes(data=b"\0\xff", mime_type="image/png"),
        types.Part(text="two"),
        types.Part.from_bytes(data=b"", mime_type="text/plain"),
    ]
    file = HERE | {"filename": "a/b ü.png"}
    for number, part in enumerate(parts):
        saved = artifacts.save_artifact(**file, artifact=part, custom_metadata={"n": number})
        assert wait(saved) == number
    assert wait(artifacts.list_versions(**file)) == [0, 1, 2]
    for number, part in enumerate(parts):
        assert wait(artifacts.load_artifact(**file, version=number)) == part
    assert wait(artifacts.load_artifact(**file)) == parts[-1]
    for missing in (3, -1):
        assert wait(artifacts.load_artifact(**file, version=missing)) is None
    described = wait(artifacts.list_artifact_versions(**file))
    assert [(each.version, each.mime_type) for each in described] == [
        (0, "image/png"),
        (1, "text/plain"),
        (2, "text/plain"),
    ]
    latest = wait(artifacts.get_artifact_version(**file))
    assert (latest.version, latest.custom_metadata) == (2, {"n": 2})
    assert wait(artifacts.get_artifact_version(**file, version=7)) is None
    assert wait(artifacts.list_artifact_keys(**HERE)) == ["a/b ü.png"]
    wait(artifacts.delete_artifact(**file))
    wait(artifacts.delete_artifact(**file))
    assert wait(artifacts.load_artifact(**file)) is None
    assert wait(artifacts.list_artifact_keys(**HERE)) == []
    assert wait(artifacts.save_artifact(**file, artifact=parts[0])) == 0


def test_names_of_a_user_are_seen_by_all_sessions(artifacts: Any) -> None:
    part = {"inlineData": {"mimeType": "text/plain", "data": "aGk="}}
    wait(artifacts.save_artifact(**HERE, filename="user:a", artifact=part))
    wait(artifacts.save_artifact(**HERE, filename="b", artifact=part))
    other = WHERE | {"session_id": "t"}
    assert wait(artifacts.list_artifact_keys(**HERE)) == ["b", "user:a"]
    assert wait(artifacts.list_artifact_keys(**other)) == ["user:a"]
    assert wait(artifacts.list_artifact_keys(**WHERE)) == ["user:a"]
    assert wait(artifacts.load_artifact(**other, filename="user:a")).inline_data.data == b"hi"
    assert wait(artifacts.load_artifact(**other, filename="b")) is None
    bob = {"app_name": "app", "user_id": "bob", "session_id": "s"}
    assert wait(artifacts.list_artifact_keys(**bob)) == []


def test_references_stay_in_their_scope(artifacts: Any) -> None:
    def refer(uri: str) -> types.Part:
        return types.Part(file_data=types.FileData(file_uri=uri, mime_type="text/plain"))

    here = "artifact://apps/app/users/ada/sessions/s/artifacts"
    wait(artifacts.save_artifact(**HERE, filename="a", artifact=types.Part(text="hi")))
    link = refer(f"{here}/a/versions/0")
    wait(artifacts.save_artifact(**HERE, filename="b", artifact=link))
    assert wait(artifacts.load_artifact(**HERE, filename="b")) == types.Part(text="hi")
    wait(artifacts.save_artifact(**HERE, filename="c", artifact=refer(f"{here}/c/versions/0")))
    with pytest.raises(InputValidationError):
        wait(artifacts.load_artifact(**HERE, filename="c"))
    outside = refer("artifact://apps/app/users/bob/artifacts/a/versions/0")
    for refused in (outside, types.Part()):
        with pytest.raises(InputValidationError):
            wait(artifacts.save_artifact(**HERE, filename="d", artifact=refused))
    removed = types.Part.from_bytes(data=b"", mime_type="application/octet-stream")
    wait(artifacts.save_artifact(**HERE, filename="a", artifact=removed))
    assert wait(artifacts.load_artifact(**HERE, filename="a")) is None


def test_an_artifact_of_20_mb_and_saves_at_once(alice: Client) -> None:
    service = AgentMemoryArtifactService(alice)
    part = types.Part.from_bytes(data=IMAGE * 4, mime_type="image/png")
    wait(service.save_artifact(**HERE, filename="big", artifact=part))
    assert wait(service.load_artifact(**HERE, filename="big")) == part

    def save(number: int) -> int:
        small = types.Part(text=str(number))
        return int(wait(service.save_artifact(**HERE, filename="small", artifact=small)))

    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(save, range(6))) == [*range(6)]
