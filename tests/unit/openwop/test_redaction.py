"""OpenWOP RFC 0004 §D, SR-1: no secret is in what comes out, in whatever form it goes in."""

import json
import os
import re
import textwrap
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from functions.openwop.model import Edition
from functions.openwop.redaction import Redactor, collect_secrets, remove_ignored
from functions.openwop.requests import Secret
from functions.platform.errors import ValidationFailed
from functions.platform.limits import MIN_SECRET_CHARACTERS

CASES = int(os.environ.get("REDACTION_EXAMPLES", "2000"))  # for each edition
Pairs = list[tuple[str, str]]
EDITIONS: tuple[Edition, Edition] = ("rfc-0004", "1.x")

ALPHABETS = [
    "ab",  # overlaps, repetitions and secrets within secrets are the rule
    ".*+?^$(){}[]|d",  # looks like a regular expression
    "<>[]:REDACTd1",  # looks like a marker
    "é\u0301ßI\u0130\u0131\u017fK\u212a\U0001f511\u200d\u202e\x00\n",  # Unicode that folds
    '\\"nu0061/ ',  # looks like JSON
]
PEM = "\n".join(
    ("-----BEGIN PRIVATE KEY-----", *textwrap.wrap("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" * 9, 64),
     "-----END PRIVATE KEY-----", "")
)  # fmt: skip
PASSWORD = 'pä$$"w0rd\\x'


def text_of(rng: Random, alphabet: str, least: int, most: int) -> str:
    return "".join(rng.choices(alphabet, k=rng.randint(least, most)))


def make_run(rng: Random) -> tuple[Pairs, str]:
    """Secrets of one alphabet, some of them parts of others, and a text made of their pieces."""
    alphabet = rng.choice(ALPHABETS)
    values = [text_of(rng, alphabet, 8, 14) for _ in range(rng.randint(1, 4))]
    parent = rng.choice(values)
    values += [parent[rng.randint(0, 3) :] + text_of(rng, alphabet, 0, 9), parent * 2]
    values = [each for each in values if len(remove_ignored(each)) >= MIN_SECRET_CHARACTERS]
    pairs = [(text_of(rng, "abDET.-_", 1, 6), value) for value in values]
    pieces = [*values, *(each[:-1] for each in values), *(each[3:] for each in values)]
    pieces += ["<REDACTED:", "REDACTED", ">", "[", "]", *alphabet]
    return pairs, "".join(rng.choices(pieces, k=rng.randint(0, 12)))


def redactor(pairs: Pairs, edition: Edition = "rfc-0004") -> Redactor:
    secrets = [Secret(label=a, value=SecretStr(b)) for a, b in pairs]
    return Redactor(collect_secrets(secrets, (), edition), edition)


def redact(pairs: Pairs, text: str, edition: Edition = "rfc-0004") -> str:
    (clean,) = redactor(pairs, edition).redact([text])
    return clean


def assert_redacts(edition: Edition, pairs: Pairs, text: str) -> int | None:
    """Check all that redaction promises; how many of the secrets the text contains.

    None where a marker would contain a secret, which the start of a run refuses.
    """
    try:
        built = redactor(pairs, edition)
    except ValidationFailed:
        return None
    (clean,) = built.redact([text])
    values = [value for _, value in pairs]
    present = [value for value in values if value in text]
    assert not [value for value in values if value in clean], (pairs, text)
    assert not [value for value in values if json.dumps(value)[1:-1] in clean], (pairs, text)
    assert (clean == text) == (not built.find_labels([text])), (pairs, text)
    assert not present or clean != text, (pairs, text)
    if clean != text:
        assert any(built.render_marker(label) in clean for label, _ in pairs), (pairs, text)
    assert built.redact([clean]) == [clean], (pairs, text)
    return len(present)


@pytest.mark.parametrize("edition", EDITIONS)
def test_no_secret_is_in_redacted_text(edition: Edition) -> None:
    """By plain seeds, which take a twentieth of the time of as many of hypothesis' examples."""
    found = [assert_redacts(edition, *make_run(Random(seed))) for seed in range(CASES)]  # noqa: S311
    for count in range(4):
        assert found.count(count) >= CASES // 50, f"too few cases with {count} secrets"


@pytest.mark.parametrize("edition", EDITIONS)
@settings(max_examples=50)  # what it finds is made small; the seeds above are the many
@given(rng=st.randoms(use_true_random=False))
def test_a_counterexample_would_be_small(edition: Edition, rng: Random) -> None:
    assert_redacts(edition, *make_run(rng))


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize(
    ("pairs", "text"),
    [
        ([("a", "abababab"), ("b", "babababa")], "babababababab"),
        ([("a", "x" * 8), ("b", "y<REDACT")], "y" + "x" * 8),
        ([("a", "aaaaaaaa"), ("b", "b>cccccc"), ("b", "bbbbbbbb")], "b" * 8 + "c" * 6),
    ],
)
def test_secrets_that_markers_and_neighbours_form(
    edition: Edition, pairs: Pairs, text: str
) -> None:
    assert_redacts(edition, pairs, text)


def test_without_overlaps_it_is_plain_replacement() -> None:
    rng, tried = Random(7), 0  # noqa: S311
    while tried < 500:
        text, value = text_of(rng, "abc<>", 0, 60), text_of(rng, "abc", 8, 8)
        around = f"{text}!{value}!{text}"
        if around.count(value) == 1:
            tried += 1
            assert redact([("k", value)], around) == f"{text}!<REDACTED:k>!{text}"


@pytest.mark.parametrize(
    ("pairs", "text", "clean"),
    [
        ([("k", "hunter2hunter2")], "it is hunter2hunter2.", "it is <REDACTED:k>."),
        ([("k", "12345678")], "1234567", "1234567"),
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
        ([("k", "line1line2")], "a line1\n  line2 b", "a <REDACTED:k> b"),
        ([("k", "line1line2")], "line1\u200bline2", "<REDACTED:k>"),
        ([("k", "line1line2")], "curl line1\\\nline2", "curl <REDACTED:k>"),
        ([("k", "line1 line2")], "line1line2", "<REDACTED:k>"),
        ([("k", "🔑-key-🔑-key")], json.dumps("the 🔑-key-🔑-key"), '"the <REDACTED:k>"'),
        ([("a", "same-value"), ("b", "same-value")], "same-value", "<REDACTED:a>"),
        ([], "anything at all", "anything at all"),
    ],
)  # fmt: skip
def test_redaction_by_hand(pairs: Pairs, text: str, clean: str) -> None:
    assert redact(pairs, text) == clean


def escape_all(text: str) -> str:
    """JSON's longest form of a text."""
    return '"' + "".join(f"\\u{ord(character):04X}" for character in text) + '"'


@pytest.mark.parametrize("value", [PASSWORD, 'hunter2"quote', "path/to\\secret", "tab\tnewline\n1"])
@pytest.mark.parametrize(
    "write",
    [
        json.dumps,
        lambda text: json.dumps(text, ensure_ascii=False),
        lambda text: json.dumps(json.dumps({"password": text})),
        lambda text: json.dumps(json.dumps(json.dumps([text]))),
        lambda text: json.dumps(text).replace("/", "\\/"),
        escape_all,
        repr,
    ],
)
def test_a_json_escaped_secret_is_redacted(value: str, write: Callable[[str], str]) -> None:
    clean = redact([("k", value)], f"stored: {write(value)}")
    assert "<REDACTED:k>" in clean
    assert re.search(r"[a-z0-9]{4}", clean.replace("stored", "").replace("password", "")) is None


@pytest.mark.parametrize(
    "write",
    [
        str,
        str.strip,
        lambda pem: pem.replace("\n", "\r\n"),
        lambda pem: pem.replace("\n", ""),
        lambda pem: pem.replace("\n", " "),
        lambda pem: textwrap.indent(pem, "    "),
        lambda pem: json.dumps({"private_key": pem}),
        lambda pem: json.dumps(json.dumps({"private_key": pem})),
        lambda pem: "\n".join(textwrap.wrap(pem.replace("\n", ""), 76)),
        lambda pem: "\n".join(pem.splitlines()[1:-1]),
        lambda pem: "".join(pem.splitlines()[1:-1]),
        lambda pem: "\n".join(textwrap.wrap("".join(pem.splitlines()[1:-1]), 40)),
        lambda pem: "\n".join(f"> {line}" for line in pem.splitlines()),
        lambda pem: "\n".join(f"{n}: {line}" for n, line in enumerate(pem.splitlines())),
        lambda pem: f"the second line is {pem.splitlines()[2]}",
    ],
)
@pytest.mark.parametrize("given", [PEM, PEM.strip(), PEM.replace("\n", "\\n"), json.dumps(PEM)])
def test_a_key_of_several_lines_is_redacted_however_it_is_wrapped(
    given: str, write: Callable[[str], str]
) -> None:
    clean = redact([("k", given)], f"key:\n{write(PEM)}\nend")
    assert "<REDACTED:k>" in clean
    assert clean.startswith("key:\n")
    assert clean.endswith("\nend")
    assert re.search(r"[A-Za-z0-9]{33}", clean) is None


def test_a_short_line_of_a_secret_is_no_secret() -> None:
    """It would redact ordinary text: `region = eu-central-1`."""
    secret = "region = eu-central-1\nkey = 0123456789abcdef0123456789abcdef"
    assert redact([("k", secret)], "region = eu-central-1") == "region = eu-central-1"
    assert redact([("k", secret)], "key = 0123456789abcdef0123456789abcdef") == "<REDACTED:k>"


def test_the_published_marker() -> None:
    assert redact([("k", "12345678")], "a 12345678", "1.x") == "a [REDACTED:k]"


@pytest.mark.parametrize(
    "pairs",
    [
        [("k", "REDACTED")],
        [("12345678", "12345678")],
        [("a", "first-secret"), ("key-first-secret", "second-secret")],
        [("k", "<REDACTED:k>")],
        [("k", "REDACTED:secret")],
    ],
)
def test_a_marker_that_holds_a_secret_is_refused(pairs: Pairs) -> None:
    with pytest.raises(ValidationFailed) as refusal:
        redactor(pairs)
    shown = str(refusal.value.members) + refusal.value.message
    assert not [value for _, value in pairs if value in shown and value != "REDACTED"]


def test_a_label_that_holds_another_runs_secret_is_left_out() -> None:
    redactors = Redactor([("k", "first-secret"), ("of-first-secret", "the-other-one")], "rfc-0004")
    assert redactors.redact(["the-other-one"]) == ["<REDACTED:secret>"]


@pytest.mark.parametrize("value", ["1234567", "1 2 3 4 5 6 7", "\n\t" * 8, "abc\u200b\u200bdefg"])
def test_a_secret_that_is_too_short_is_refused(value: str) -> None:
    with pytest.raises(ValidationFailed) as refusal:
        collect_secrets([Secret.model_construct(label="k", value=SecretStr(value))], (), "1.x")
    assert refusal.value.members["errors"][0]["field"] == "secrets.0.value"
    assert value not in str(refusal.value.members)


def test_secrets_are_collected_once_up_to_a_limit() -> None:
    known = [(f"k{number}", f"secret-{number:04}") for number in range(31)]
    more = [Secret(label=label, value=SecretStr(value)) for label, value in known[:3]]
    more.append(Secret(label="new", value=SecretStr("a-new-secret")))
    assert collect_secrets(more, known, "1.x") == [*known, ("new", "a-new-secret")]
    for one_more in ("x-secret", "y" * 4096):
        with pytest.raises(ValidationFailed):
            collect_secrets([*more, Secret(label="x", value=SecretStr(one_more))], known, "1.x")


BASE = "".join(Random(1).choices("ab", k=65_536))  # noqa: S311


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (["a" * (4_096 - n) for n in range(16)], "a" * 65_536),
        ([("ab" * 2_048)[: 4_096 - n] for n in range(16)], "ab" * 32_768),
        ([("ab" * 7 + "<REDACT")[n:] for n in range(8)], "ab" * 32_768),
        ([BASE[n * 1_000 : n * 1_000 + 2_048] for n in range(32)], BASE),
        (["a" * (50 + n) for n in range(32)], "a \\n" * 16_384),
        (["a" * (8 + n) for n in range(32)], "\\\\\\\\u0061" * 7_200),
        (["x" + BASE[n * 64 : n * 64 + 40] for n in range(1_000)], BASE),
    ],
)
def test_the_worst_texts_are_redacted(values: list[str], text: str) -> None:
    built = Redactor([(f"k{number}", value) for number, value in enumerate(values)], "rfc-0004")
    (clean,) = built.redact([text])
    assert not [value for value in values if value in clean]
