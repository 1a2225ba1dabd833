"""Each route, called by each kind of caller on the things of others.

A route without a row fails, so that each new route declares who may call it.
"""

from collections.abc import Iterator

import pytest

from functions.api.route_index import list_routes
from tests.contract.authorization_matrix import ROWS, Row
from tests.contract.documented_schemas import check_document
from tests.contract.engines import Engine
from tests.contract.everything import CALLERS, SECRET, Everything, set_up
from tests.contract.service import Service

_ROUTES = [
    f"{each.method} {each.openapi_path}"
    for each in list_routes()
    if not each.path.startswith("/console")  # static files, where they are built
]


def test_every_route_has_a_row() -> None:
    assert set(ROWS) == set(_ROUTES), "add a row to tests/contract/authorization_matrix.py"


@pytest.fixture(scope="module")
def everything(session_service: Service, engine: Engine) -> Iterator[Everything]:
    """One scene for all rows: what a call changes is put back."""
    yield set_up(session_service)
    engine.empty_tables()


def ask(everything: Everything, route: str, row: Row, caller: str) -> str:
    """Send a row's call as a caller; its status, `v` if it shows values, `w` if it writes.

    A call that is refused must write nothing, which the test looks at for all of a row at once.
    """
    method = route.partition(" ")[0]
    client = everything.clients[row.party if caller == "party" else caller]
    path, body = everything.render(row.path), everything.render(row.body)
    answer = client.request(method, path, json=body, headers=everything.render(row.headers))
    marks = "v" if SECRET in answer.text else ""
    if caller in ("admin", "party"):
        check_document(answer)
    if answer.is_success and method != "GET" and everything.is_changed():
        everything.put_back()
        marks += "w"
    return f"{answer.status_code}{marks}"


@pytest.mark.in_process
@pytest.mark.usefixtures("parallel")
def test_each_caller_gets_the_answer_of_the_matrix(
    everything: Everything, subtests: pytest.Subtests
) -> None:
    for route, row in ROWS.items():
        with subtests.test(route):
            expected = dict(zip(CALLERS, row.answers.split(), strict=True))
            refused = [each for each in CALLERS if expected[each] >= "400"]
            answers = {each: ask(everything, route, row, each) for each in refused}
            assert not everything.is_changed()
            admitted = [each for each in CALLERS if each not in refused]
            answers |= {each: ask(everything, route, row, each) for each in admitted}
            assert answers == expected
