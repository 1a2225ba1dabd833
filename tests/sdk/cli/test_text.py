"""Text and tables: any text is escape_controls, exact as JSON, and as wide as it looks."""

import json
import unicodedata

import pytest
from agent_memory.cli.formatting import render_record, render_table
from agent_memory.cli.jsontext import parse_json
from agent_memory.cli.text import (
    escape_controls,
    render_indented_json,
    render_json_line,
    truncate,
    width,
)
from hypothesis import given
from hypothesis import strategies as st

BAD = ("Cc", "Cs", "Zl", "Zp")
JOINERS = "\u200c\u200d"
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
any_text = st.text(st.characters(codec=None))


@given(any_text)
def test_any_text_is_made_harmless(text: str) -> None:
    shown = escape_controls(text)
    assert not [each for each in shown if unicodedata.category(each) in BAD]
    assert escape_controls(shown) == shown


def test_no_character_that_controls_or_turns_text_gets_through() -> None:
    shown = escape_controls("".join(map(chr, range(0x110000))))
    left = {each for each in shown if unicodedata.category(each) in (*BAD, "Cf")}
    assert {unicodedata.bidirectional(each) for each in left - set(JOINERS)} <= {"AN", "AL", "L"}


@given(values)
def test_json_is_one_harmless_line_and_exact(value: object) -> None:
    for text in (render_json_line(value), render_indented_json(value)):
        assert json.dumps(json.loads(text)) == json.dumps(value)
        assert not [e for e in text if unicodedata.category(e) in BAD and e != "\n"]
    assert "\n" not in render_json_line(value)


@given(st.text(), st.integers(1, 40))
def test_what_is_cut_fits(text: str, columns: int) -> None:
    shown = truncate(text, columns)
    assert width(shown) <= columns
    assert shown == text or (shown.endswith("…") and text.startswith(shown[:-1]))


@pytest.mark.parametrize(
    ("text", "columns"),
    [("abc", 3), ("請求", 4), ("é", 1), ("e\u0301", 1), ("🤖", 2), ("ｶﾅ", 2), ("각", 2), ("", 0)],
)
def test_width_is_what_a_terminal_shows(text: str, columns: int) -> None:
    assert width(text) == columns


@given(
    st.lists(st.tuples(any_text, any_text, any_text), max_size=5),
    st.none() | st.integers(40, 200),
)
def test_tables_are_aligned_and_fit(rows: list[tuple[str, str, str]], columns: int | None) -> None:
    lines = render_table(("A", "B", "C"), [(*row[:2], "|" + row[2]) for row in rows], columns)
    assert len(lines) == len(rows) + 1
    assert columns is None or max(map(width, lines)) <= columns


def test_the_widest_columns_give_way_first() -> None:
    lines = render_table(("SHORT", "LONG"), [("s" * 10, "l" * 100)], 40)
    assert lines == ["SHORT       LONG", f"{'s' * 10}  {'l' * 27}…"]
    assert (
        render_table(("A", "B"), [("x" * 50, "y" * 50)], 22)[1] == "x" * 9 + "…  " + "y" * 9 + "…"
    )


def test_a_record_is_a_line_for_each_field() -> None:
    assert render_record({"a": "1", "long": "2\n3"}, None) == ["a     1", "long  2\\n3"]


@pytest.mark.parametrize("text", ["1", '"\\ud83e\\udd16"', '{"a": [1.0, -0.0, 1e22]}', "[]"])
def test_json_is_read_exactly(text: str) -> None:
    assert json.dumps(parse_json(text)) == json.dumps(json.loads(text))
