"""OpenWOP RFC 0004 §D, SR-1: no secret of the run is in what comes out, whatever goes in."""

import os
import time

import pytest
from hypothesis import assume, event, example, given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from functions.openwop.model import LEAST_REDACTED
from functions.openwop.redaction import Edition, Harness, harness_of
from functions.openwop.requests import Secret
from functions.platform.errors import ValidationFailed

CASES = int(os.environ.get("REDACTION_EXAMPLES", "2000"))  # for each edition
Pairs = list[tuple[str, str]]

ALPHABETS = [
    "ab",  # overlaps, repetitions and secrets within secrets are the rule
    ".*+?^$(){}[]|\\d",  # looks like a regular expression
    "<>[]:REDACTd1",  # looks like a marker
    "é\u0301ßI\u0130\u0131\u017fK\u212a\U0001f511\u200d\u202e\x00\n",  # Unicode that folds
]
labels = st.text("abDET.-_", min_size=1, max_size=6)


@st.composite
def runs(draw: st.DrawFn) -> tuple[Pairs, str]:
    """Secrets of one alphabet, some of them parts of others, and a text made of their pieces."""
    alphabet = draw(st.sampled_from(ALPHABETS))
    values = draw(st.lists(st.text(alphabet, min_size=5, max_size=14), min_size=1, max_size=4))
    parent = draw(st.sampled_from(values))
    values += [parent[draw(st.integers(0, 3)) :] + draw(st.text(alphabet, max_size=9)), parent * 2]
    pairs = [(draw(labels), value) for value in values if value]
    whole = [value for _, value in pairs]
    pieces = [*whole, *(each[:-1] for each in whole), *(each[3:] for each in whole)]
    pieces += ["<REDACTED:", "REDACTED", ">", "[", "]", *alphabet]
    text = "".join(draw(st.lists(st.sampled_from(pieces), max_size=12)))
    return pairs, text


def harness(pairs: Pairs, edition: Edition = "rfc-0004") -> Harness:
    """The harness of these secrets."""
    return harness_of([Secret(label=a, value=SecretStr(b)) for a, b in pairs], edition)


@pytest.mark.parametrize("edition", ["rfc-0004", "1.x"])
@settings(max_examples=CASES)
@given(run=runs())
@example(run=([("a", "abababab"), ("b", "babababa")], "babababababab"))
@example(run=([("a", "x" * 8), ("b", "y<REDACT")], "y" + "x" * 8))
@example(run=([("a", "aaaaaaaa"), ("b", "b>cccccc"), ("b", "bbbbbbbb")], "b" * 8 + "c" * 6))
def test_no_secret_is_in_what_comes_out(edition: Edition, run: tuple[Pairs, str]) -> None:
    pairs, text = run
    try:
        built = harness(pairs, edition)
    except ValidationFailed:
        event("a marker would hold a secret: refused at the start of the run")
        assume(False)
    clean = built.redacted(text)
    secrets = [value for _, value in pairs if len(value) >= LEAST_REDACTED]
    present = [value for value in secrets if value in text]
    event(f"{min(len(present), 3)} secrets in the text")
    assert not [value for value in secrets if value in clean]
    assert (clean == text) == (not present)
    assert bool(built.found_in(text)) == bool(present)
    if present:
        assert any(built.marker(label) in clean for label, _ in pairs)
    assert built.redacted(clean) == clean


@settings(max_examples=500)
@given(text=st.text("abc <>", max_size=60), value=st.text("abc", min_size=8, max_size=8))
def test_without_overlaps_it_is_plain_replacement(text: str, value: str) -> None:
    assume(value not in value[1:] + text and text not in value)
    around = f"{text} {value} {text}"
    assume(around.count(value) == 1)
    assert harness([("k", value)]).redacted(around) == f"{text} <REDACTED:k> {text}"


@pytest.mark.parametrize(
    ("pairs", "text", "clean"),
    [
        ([("k", "hunter2hunter2")], "it is hunter2hunter2.", "it is <REDACTED:k>."),
        ([("k", "12345678")], "1234567", "1234567"),
        ([("k", "1234567")], "1234567", "1234567"),
        ([("k", "12345678")], "123456781234567812345678", "<REDACTED:k>" * 3),
        ([("in", "password"), ("out", "my-password-1")], "my-password-1 password",
         "<REDACTED:out> <REDACTED:in>"),
        ([("a", "left-mid"), ("b", "middle-r")], "left-middle-r", "<REDACTED:a>"),
        ([("a", "left-mid"), ("b", "middle-right")], "left-middle-right", "<REDACTED:b>"),
        ([("k", "a.c.e.g.")], "abcdefgh a.c.e.g.", "abcdefgh <REDACTED:k>"),
        ([("k", "(a+)+$|x")], "(a+)+$|x aaaa$", "<REDACTED:k> aaaa$"),
        ([("k", "pässwörd")], "pässwörd PÄSSWÖRD", "<REDACTED:k> PÄSSWÖRD"),
        ([("k", "🔑🔑🔑🔑🔑🔑🔑🔑")], "🔑" * 9, "<REDACTED:k>"),
        ([("k", "line1\nline2")], "line1\nline2", "<REDACTED:k>"),
        ([("a", "same-value"), ("b", "same-value")], "same-value", "<REDACTED:a>"),
        ([], "anything at all", "anything at all"),
    ],
)  # fmt: skip
def test_cases_by_hand(pairs: Pairs, text: str, clean: str) -> None:
    assert harness(pairs).redacted(text) == clean


def test_the_published_marker() -> None:
    assert harness([("k", "12345678")], "1.x").redacted("a 12345678") == "a [REDACTED:k]"


@pytest.mark.parametrize(
    "pairs",
    [
        [("k", "REDACTED")],
        [("12345678", "12345678")],
        [("a", "first-secret"), ("key-first-secret", "second-secret")],
        [("k", "<REDACTED:k>")],
    ],
)
def test_a_marker_that_holds_a_secret_is_refused(pairs: Pairs) -> None:
    with pytest.raises(ValidationFailed) as refusal:
        harness(pairs)
    told = str(refusal.value.members) + refusal.value.message
    assert not [value for _, value in pairs if value in told and value != "REDACTED"]


def test_what_a_short_secret_names_is_no_matter() -> None:
    assert harness([("label", "label")]).redacted("label") == "label"


@pytest.mark.parametrize("value", ["a" * 4_096, "ab" * 2_048, "x" * 8])
def test_the_worst_texts_take_no_long_time(value: str) -> None:
    pairs = [(f"k{number}", value[: len(value) - number]) for number in range(8)]
    began = time.process_time()
    assert value not in harness([p for p in pairs if p[1]]).redacted((value * 9_000)[:65_536])
    assert time.process_time() - began < 2
