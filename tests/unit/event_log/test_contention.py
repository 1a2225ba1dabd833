"""How many calls an append makes where others append to the same log at the same moment."""

from benchmarks import contention


def test_appenders_that_meet_make_a_bounded_number_of_calls() -> None:
    calls = {row.appenders: row.calls for row in contention.measure()}
    assert calls[1] == 2
    assert calls[2] <= 3.1
    assert calls[8] <= 4.4
    assert calls[40] <= 6.2
