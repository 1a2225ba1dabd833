"""References resolve to what they were built from, whatever the names are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.platform.errors import NotFound
from functions.platform.references import Reference, build_reference, parse_reference


@given(session=st.text(min_size=1), index=st.integers(min_value=0))
def test_a_reference_resolves_and_is_safe_in_a_path(session: str, index: int) -> None:
    try:
        session.encode()
    except UnicodeEncodeError:
        return
    built = build_reference("messages", session, index)
    assert parse_reference(built) == Reference("messages", (session, str(index)))
    assert all(each.isascii() and (each.isalnum() or each in "-_.~") for each in built)


@pytest.mark.parametrize("text", ["", "x", "m", "m.s", "m.s.1.2", "m..1", "q.a", "e"])
def test_another_text_is_no_reference(text: str) -> None:
    with pytest.raises(NotFound, match="not a reference"):
        parse_reference(text)
