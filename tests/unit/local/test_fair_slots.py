"""Callers of the local server take its threads in turn."""

import asyncio

import pytest

from functions.local.fair_slots import FairSlots


async def run(slots: FairSlots, calls: list[str]) -> list[str]:
    """Let callers hold a slot each for one turn of the loop; the order in which they got theirs."""
    return (await run_counted(slots, calls))[0]


async def run_counted(slots: FairSlots, calls: list[str]) -> tuple[list[str], dict[str, int]]:
    """Do the same, and count how many slots each caller had at most."""
    order: list[str] = []
    running: list[str] = []
    most: dict[str, int] = {}

    async def call(caller: str) -> None:
        async with slots.hold(caller):
            order.append(caller)
            running.append(caller)
            most[caller] = max(most.get(caller, 0), running.count(caller))
            await asyncio.sleep(0)
            running.remove(caller)

    await asyncio.gather(*map(call, calls))
    return order, most


def test_a_caller_with_one_request_comes_before_the_backlog_of_another() -> None:
    order = asyncio.run(run(FairSlots(2, 2), [*["loud"] * 20, "quiet"]))
    assert order.index("quiet") == 3
    assert order.count("loud") == 20


def test_no_caller_has_more_slots_than_it_may_have() -> None:
    _, most = asyncio.run(run_counted(FairSlots(8, 3), ["loud"] * 10 + ["other"] * 2))
    assert most == {"loud": 3, "other": 2}


def test_callers_with_backlogs_take_turns() -> None:
    order = asyncio.run(run(FairSlots(1, 1), ["a"] * 3 + ["b"] * 3))
    assert order == ["a", "a", "b", "a", "b", "b"]


@pytest.mark.parametrize("waits", [True, False])
def test_a_request_that_is_given_up_leaves_no_slot_taken(waits: bool) -> None:
    async def give_up() -> list[str]:
        slots = FairSlots(1, 1)
        async with slots.hold("first"):
            given_up = asyncio.create_task(run(slots, ["second"]))
            await asyncio.sleep(0)
            if waits:
                given_up.cancel()
                await asyncio.gather(given_up, return_exceptions=True)
        if not waits:
            given_up.cancel()
            await asyncio.gather(given_up, return_exceptions=True)
        return await run(slots, ["third", "third"])

    assert asyncio.run(give_up()) == ["third", "third"]
