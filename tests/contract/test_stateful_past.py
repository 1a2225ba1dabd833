"""The past beside a plain model: entries' versions, facts' validity, consolidation (section 15).

The model keeps what each entry and each fact was at any time. After each step, the API is asked
about a random moment, and must answer the same.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

import pytest

from functions.platform.clock import to_rfc3339
from tests.contract.bodies import MEMORY, allow, create, semantic, update
from tests.contract.expect import assert_no_content, ok, refused
from tests.contract.fact_calls import FACTS
from tests.contract.service import Service, Tenant
from tests.contract.streaming import Json, Stream, stream_function
from tests.contract.sweeping import sweep

CONSOLIDATION = "/api/v1/consolidation"
PREDICATES, OBJECTS = ("lives in", "likes"), ("Rome", "rome", "ROME.", "Paris", "paris", "Oslo")
STEPS = 60
pytestmark = [
    pytest.mark.parametrize("engine", ["dynoxide"], indirect=True),
    pytest.mark.in_process,
]


@dataclass
class PastEntry:
    """An entry with all of its versions: value and time of each, the first one at the begin."""

    id: str
    versions: list[tuple[int, int]]
    kept_from: int = 1

    def at(self, time: int) -> int | None:
        """The value at a time; None before the entry existed."""
        return next((value for value, since in reversed(self.versions) if since <= time), None)


@dataclass
class PastFact:
    """A fact: the periods in which it held (the end is None), and its evidence."""

    id: str
    object: str
    periods: list[tuple[int, int | None]]
    updated: int
    count: int = 1
    is_merged: bool = False
    is_settled: bool = False

    @property
    def is_open(self) -> bool:
        return self.periods[-1][1] is None

    def held_at(self, time: int) -> bool:
        return any(start <= time and (end is None or time < end) for start, end in self.periods)

    def end(self, time: int) -> None:
        start, _ = self.periods[-1]
        self.periods[-1] = (start, max(time, start))

    def copy(self) -> "PastFact":
        return PastFact(**vars(self) | {"periods": list(self.periods)})


@dataclass
class PastModel:
    """The expected state, by key, and by predicate and object."""

    entries: dict[str, PastEntry] = field(default_factory=dict)
    facts: dict[tuple[str, str], PastFact] = field(default_factory=dict)
    single: set[str] = field(default_factory=set)
    took: Counter[str] = field(default_factory=Counter)

    def open_facts(self, predicate: str) -> list[PastFact]:
        return [each for (p, _), each in self.facts.items() if p == predicate and each.is_open]


class PastApi:
    """Does to the API what it does to the model."""

    def __init__(self, service: Service, tenant: Tenant, random: Random) -> None:
        self.service, self.tenant, self.random, self.clock = service, tenant, random, service.clock
        self.stream, self.deliver_to = Stream(service), stream_function(service)
        self.model, self.began = PastModel(), service.clock()
        self.client = tenant.agent("ada")
        allow(tenant.admin, "facts", "write")
        settings = {"every": None, "decay_after": None}
        ok(tenant.admin.put(f"{CONSOLIDATION}/settings", json=settings))

    def run(self) -> None:
        steps: list[Callable[[], None]] = [
            *[self.write] * 5,
            self.restore,
            self.delete,
            self.forget_past,
            *[self.learn] * 7,
            self.forget_fact,
            self.consolidate,
        ]
        for number in range(STEPS):
            self.clock.advance(ms=self.random.randrange(1, 5000))
            if number == STEPS // 2:
                self.declare()
            step = self.random.choice(steps)
            self.model.took[step.__name__] += 1
            step()
            self.deliver()
            self.check()

    def deliver(self) -> None:
        """Deliver what changed, and some of it once more."""
        records: list[Json] = self.stream.read()
        assert self.deliver_to(records) == []
        if self.random.random() < 0.3:
            assert self.deliver_to(records) == []

    def pick(self) -> tuple[str, PastEntry] | None:
        living = sorted(self.model.entries.items())
        return self.random.choice(living) if living else None

    def write(self) -> None:
        key, value = self.random.choice("abc"), self.random.randrange(1000)
        known = self.model.entries.get(key)
        if known is None:
            made = create(self.client, semantic(key=key, value={"n": value}))
            self.model.entries[key] = PastEntry(made["id"], [(value, self.clock.now)])
        else:
            ok(update(self.client, known.id, len(known.versions), value={"n": value}))
            known.versions.append((value, self.clock.now))

    def restore(self) -> None:
        if (picked := self.pick()) is None:
            return
        known = picked[1]
        version = self.random.randrange(known.kept_from, len(known.versions) + 1)
        headers = {"If-Match": str(len(known.versions))}
        url = f"{MEMORY}/{known.id}/restore"
        restored = ok(self.client.post(url, json={"version": version}, headers=headers))
        value = known.versions[version - 1][0]
        assert restored["value"] == {"n": value}
        known.versions.append((value, self.clock.now))

    def delete(self) -> None:
        if (picked := self.pick()) is not None:
            assert_no_content(self.client.delete(f"{MEMORY}/{picked[1].id}"))
            del self.model.entries[picked[0]]
            refused(self.client.get(f"{MEMORY}/{picked[1].id}/history"), 404, "ENTRY_NOT_FOUND")

    def forget_past(self) -> None:
        if (picked := self.pick()) is not None:
            assert_no_content(self.client.delete(f"{MEMORY}/{picked[1].id}/history"))
            picked[1].kept_from = len(picked[1].versions)

    def learn(self) -> None:
        predicate, what = self.random.choice(PREDICATES), self.random.choice(OBJECTS)
        is_replacing = self.random.random() < 0.1
        body = {"subject": "ada", "predicate": predicate, "object": what}
        body |= {"replaces": "same_subject_predicate"} if is_replacing else {}
        now, known = self.clock.now, self.model.facts.get((predicate, what))
        answer = self.client.post(FACTS, json=body)
        learned = ok(answer, 201 if known is None else 200)
        if is_replacing or predicate in self.model.single:
            for each in self.model.open_facts(predicate):
                if each is not known:
                    each.end(now)
        if known is None:
            known = PastFact(learned["fact_id"], what, [(now, None)], now, count=0)
            self.model.facts[predicate, what] = known
        elif not known.is_open:
            known.periods.append((now, None))
        known.count = 1 if known.is_merged else known.count + 1
        known.updated, known.is_merged, known.is_settled = now, False, False
        assert learned["learned_count"] == known.count

    def forget_fact(self) -> None:
        if self.model.facts:
            key = self.random.choice(sorted(self.model.facts))
            fact = self.model.facts.pop(key)
            assert_no_content(self.client.delete(f"{FACTS}/{fact.id}"))

    def declare(self) -> None:
        url = f"{FACTS}/predicates/{PREDICATES[0]}"
        ok(self.tenant.admin.put(url, json={"single_valued": True}))
        self.model.single.add(PREDICATES[0])

    def consolidate(self) -> None:
        """Consolidate, and sometimes undo it at once."""
        before = {key: each.copy() for key, each in self.model.facts.items()}
        touched = {each for predicate in PREDICATES for each in self.expect_steps(predicate)}
        started = ok(self.tenant.admin.post(CONSOLIDATION, json={}), 202)
        sweep(self.service)
        url = f"{CONSOLIDATION}/{started['id']}"
        report = ok(self.tenant.admin.get(url))
        shown = {
            each["fact_id"]
            for kind in ("merged", "ended")
            for s in report[kind]
            for each in s["facts"]
        }
        assert shown == touched
        self.model.took["steps"] += len(report["merged"]) + len(report["ended"])
        if self.random.random() < 0.3:
            ok(self.tenant.admin.post(f"{url}/undo"))
            changed = touched | {s["kept"] for s in report["ended"]}
            self.model.facts = before
            for each in before.values():
                each.is_settled |= each.id in changed
            self.model.took["undone"] += bool(touched)

    def expect_steps(self, predicate: str) -> set[str]:
        """Consolidate in the model; the ids of the facts that are merged or ended."""
        groups: dict[str, list[PastFact]] = {}
        for each in self.model.open_facts(predicate):
            if not each.is_settled:
                groups.setdefault(each.object.lower().strip("."), []).append(each)
        touched: set[str] = set()
        merging = list(groups.values())
        if predicate in self.model.single and len(merging) > 1:
            latest = max(merging, key=lambda group: max(each.updated for each in group))
            time = max(each.updated for each in latest)
            for each in (each for group in merging if group is not latest for each in group):
                each.end(time)
                touched.add(each.id)
            merging = [latest]
        for group in (each for each in merging if len(each) > 1):
            touched |= {each.id for each in group}
            self.merge(group)
        return touched

    def merge(self, group: list[PastFact]) -> None:
        kept = max(group, key=lambda each: (each.count, each.updated, each.id))
        starts = [each.periods[-1][0] for each in group]
        kept.count = sum(each.count for each in group)
        kept.updated = max(each.updated for each in group)
        kept.periods[-1] = (min(starts), None)
        for each in group:
            if each is not kept:
                each.end(self.clock.now)
                each.is_merged = True

    def check(self) -> None:
        time = self.random.randrange(self.began, self.clock.now + 1)
        as_of = to_rfc3339(time)
        self.check_entries(time, as_of)
        for moment, params in ((time, {"as_of": as_of}), (self.clock.now, {})):
            query = {"subject": "ada"} | params
            found = ok(self.client.get(FACTS, params=query))["facts"]
            said = {(each["predicate"], each["object"]) for each in found}
            assert said == {key for key, e in self.model.facts.items() if e.held_at(moment)}
        for fact in list(self.model.facts.values())[:2]:
            chain = ok(self.client.get(f"{FACTS}/{fact.id}/history"))["facts"]
            own = [each for each in chain if each["fact_id"] == fact.id]
            assert len(own) == len(fact.periods)

    def check_entries(self, time: int, as_of: str) -> None:
        if all(each.kept_from == 1 for each in self.model.entries.values()):
            params = {"namespace": "facts", "as_of": as_of}
            found = ok(self.client.get(MEMORY, params=params))["entries"]
            there = {key: each.at(time) for key, each in self.model.entries.items()}
            expected = {key: value for key, value in there.items() if value is not None}
            assert {each["key"]: each["value"]["n"] for each in found} == expected
        for known in self.model.entries.values():
            listed = ok(self.client.get(f"{MEMORY}/{known.id}/history"))["versions"]
            kept = known.versions[known.kept_from - 1 :]
            assert [each["value"]["n"] for each in reversed(listed)] == [value for value, _ in kept]
            assert [each["version"] for each in reversed(listed)] == [
                *range(known.kept_from, len(known.versions) + 1)
            ]
            version = self.random.randrange(known.kept_from, len(known.versions) + 1)
            url = f"{MEMORY}/{known.id}"
            found = ok(self.client.get(url, params={"version": version}))
            assert found["value"] == {"n": known.versions[version - 1][0]}


@pytest.mark.parametrize("seed", range(4))
def test_the_past_and_the_model_agree(service: Service, tenant: Tenant, seed: int) -> None:
    api = PastApi(service, tenant, Random(seed))  # noqa: S311 - picks what is done
    api.run()
    took = api.model.took
    print(dict(took))  # noqa: T201 - `pytest -s` shows it
    assert took["write"] > 5
    assert took["learn"] > 5
