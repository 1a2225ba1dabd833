"""Test that the packages of others that are deployed are listed with their licenses."""

import re
from pathlib import Path

_ROOT = Path(__file__).parents[2]


def test_each_package_of_the_functions_is_listed_with_a_license() -> None:
    lock = (_ROOT / "requirements/lambda.lock").read_text("utf-8")
    deployed = sorted(set(re.findall(r"^([a-z0-9-]+)==", lock, re.MULTILINE)))
    page = (_ROOT / "docs/contributing/licenses.md").read_text("utf-8")
    listed = re.findall(r"^\| ([a-z0-9-]+) \| \S.* \|$", page, re.MULTILINE)
    assert [each for each in listed if each != "package"] == deployed
    reviewed = (_ROOT / "requirements/licenses.csv").read_text("utf-8")
    names = re.findall(r'^"([^"]+)","[^"]+"$', reviewed, re.MULTILINE)
    assert sorted({each.lower().replace("_", "-") for each in names}) == deployed
