"""Which requests have a line in the function's log: each failed one, and a share of the rest."""

from dataclasses import replace

import httpx
import pytest

from functions.api.app import App
from functions.container import Container
from functions.platform.observability import logger
from functions.platform.settings import ApiSettings, WrongSetting
from tests.contract.service import Service
from tests.contract.transport import HandlerTransport, turns


@pytest.mark.parametrize("engine", ["dynoxide"], indirect=True)
@pytest.mark.parametrize(("sample", "logged"), [(0.0, [404]), (1.0, [200, 404])])
def test_a_share_of_successful_requests_is_logged(
    service: Service, caplog: pytest.LogCaptureFixture, sample: float, logged: list[int]
) -> None:
    settings = replace(service.settings(), request_log_sample=sample)
    app = App(Container(settings, service.clock))
    client = httpx.Client(
        transport=HandlerTransport(app, turns(parallel=True)), base_url="http://memory"
    )
    caplog.set_level("INFO", logger.name)  # of a function, whatever runs in this process
    assert client.get("/health").status_code == 200
    assert client.get("/nowhere").status_code == 404
    lines = [each for each in caplog.records if each.getMessage() == "request"]
    assert [each.__dict__["status"] for each in lines] == logged


def test_a_sample_is_a_share() -> None:
    with pytest.raises(WrongSetting, match="REQUEST_LOG_SAMPLE"):
        ApiSettings(
            memory_table="m",
            log_table="l",
            root_key="k" * 40,
            encryption_key_file="f",
            request_log_sample=2,
        )
