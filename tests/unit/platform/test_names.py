"""Expressions name attributes that DynamoDB reserves as `#value`."""

from functions.platform.writes import build_set_expression, find_names


def test_names_are_resolved_to_the_attributes_that_they_name() -> None:
    names = find_names("SET #value = :value REMOVE #key", None, "#value = :old")
    assert names == {"ExpressionAttributeNames": {"#value": "value", "#key": "key"}}


def test_an_expression_without_names_needs_none() -> None:
    assert find_names("version = :version", None) == {}


def test_a_set_expression_may_have_reserved_words() -> None:
    expression, values = build_set_expression({"value": "1", "status": None})
    assert expression == "SET #value = :value REMOVE #status"
    assert values == {"value": "1"}
