"""Run strategies: follow changes of conversations, ask a model, store its answers.

Each write of a position has the previous position as its condition, and results are written with
the position in one transaction. So of two functions, only one writes a result.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pydantic import ValidationError

from functions.conversations.mapper import header_key
from functions.conversations.message_store import MessageStore
from functions.conversations.model import Conversation
from functions.conversations.store import ConversationChanged, ConversationStore
from functions.learning import rules
from functions.learning.evidence import Reading, read_messages
from functions.learning.language_model import (
    LanguageModel,
    ModelFailed,
    ModelQuestion,
    Reply,
    count_question,
)
from functions.learning.model import Counts, Position, Strategy, StrategyKind, Usage
from functions.learning.prompts import (
    AnswerInvalid,
    ModelAnswer,
    build_schema,
    build_system,
    build_text,
    parse_answer,
)
from functions.learning.service import Budgets, find_room
from functions.learning.store import (
    LearningStore,
    build_counts_write,
    build_position_write,
    build_unchanged_check,
    build_usage_write,
)
from functions.learning.target import Known, Plan, Target, build_learner
from functions.namespaces.rules import get_default
from functions.namespaces.service import Namespaces
from functions.platform.clock import Clock
from functions.platform.errors import Throttled
from functions.platform.limits import MAX_TRANSACTION_WRITES
from functions.platform.observability import report_count
from functions.platform.run_keys import DAY
from functions.platform.table import ConditionFailed, Table
from functions.platform.writes import Write

_LEASE = 180_000  # ms; after this time, another request to the model is made
_ATTEMPTS = 3  # of an answer that the schema does not allow, and of a write
_OWN_WRITES = 5  # of a transaction, beside those of what is learned
_OPEN = "the memory of users is readable by the whole tenant; close users/* first"


class _Claim(NamedTuple):
    """A claimed position, the messages that were read, and the reserved tokens."""

    position: Position
    reading: Reading
    known: Sequence[Known]
    question: ModelQuestion
    day: str
    reserved: int

    def build_settlement(self, used: int) -> Write:
        """Build the write that corrects the reserved tokens to those that were used."""
        added = Usage(used - self.reserved, 0)
        return build_usage_write(self.reading.tenant, self.day, added, Usage())


@dataclass(eq=False)
class Learner:
    """Reads conversations for strategies.

    Args:
        targets: where each kind of strategy stores what it learns.
    """

    _table: Table
    _store: LearningStore
    _budgets: Budgets
    _conversations: ConversationStore
    _namespaces: Namespaces
    _messages: MessageStore
    _models: Sequence[str]
    _ask_model: LanguageModel
    _targets: Mapping[StrategyKind, Target]
    _clock: Clock

    def note(self, tenant: str, session: str, again: Mapping[str, int]) -> None:
        """Follow a change of a conversation: three calls, and a write for each changed position.

        Args:
            again: the index from which a strategy has to read again.
        """
        strategies = [each for each in self._store.list_strategies(tenant) if each.enabled]
        conversation = self._conversations.get_header(tenant, session) if strategies else None
        if conversation is None or not rules.may_learn(conversation, self._clock()):
            return
        names = [each.name for each in strategies]
        found = self._store.get_positions(tenant, session, names)
        for strategy in strategies:
            present = found.get(strategy.name) or rules.begin(conversation, strategy)
            self._schedule(strategy, conversation, present, again.get(strategy.name))

    def _schedule(
        self,
        strategy: Strategy,
        conversation: Conversation,
        position: Position,
        first: int | None = None,
    ) -> None:
        """Write a changed position; if another function has changed it, try again."""
        session = conversation.session_id
        for _ in range(_ATTEMPTS):
            after = rules.schedule(position, strategy, conversation, self._clock(), first)
            if after is None or self._store.try_put_position(after):
                return
            changed = self._store.get_position(conversation.tenant, session, strategy.name)
            position = changed or rules.begin(conversation, strategy)
        raise Throttled("others are writing this position; try again in a second")

    def learn(self, tenant: str, session: str, name: str) -> None:
        """Read a conversation for a strategy if it is ready, and store what is learned."""
        position = self._store.get_position(tenant, session, name)
        if position is None or not position.is_ready:
            return
        strategy = self._store.get_strategy(tenant, name)
        conversation = self._conversations.get_header(tenant, session)
        now = self._clock()
        if (
            strategy is None
            or conversation is None
            or not strategy.enabled
            or not rules.may_learn(conversation, now)
        ):
            self._store.try_put_position(rules.rest(position))
        elif not rules.is_due(position, strategy, conversation, now):
            due = rules.find_idle_end(strategy, conversation)
            self._store.try_put_position(rules.wait(position, "trigger", now, due))
        else:
            self._read(rules.follow(position, conversation), strategy, conversation)

    def _read(self, position: Position, strategy: Strategy, conversation: Conversation) -> None:
        try:
            reading = read_messages(self._messages, conversation, strategy, position.read_until)
        except ConversationChanged as error:
            raise Throttled("the conversation is being changed; try again in a second") from error
        if not reading.messages:
            self._finish(position, reading, [])
            return
        try:
            claim = self._claim(position, reading)
            if claim is not None:
                self._ask(claim)
        except (ModelFailed, ValidationError) as error:
            self._fail(position, reading, str(error), [])

    def _claim(self, position: Position, reading: Reading) -> _Claim | None:
        """Claim a position, and reserve tokens for the request; None if it has to wait."""
        strategy = reading.strategy
        target = self._targets[strategy.kind]
        model = rules.choose_model(self._models, strategy.model)
        if model is None:
            raise ModelFailed(f"the deployment has no model {strategy.model}")
        self._assert_closed(reading)
        known = target.list_known(reading)
        ids = [each.id for each in known]
        question = ModelQuestion(
            model.partition(":")[2],
            build_system(strategy.kind, strategy.instructions),
            build_text([each.document for each in known], reading.messages),
            build_schema(strategy.kind, ids, reading.first, reading.end),
            0,
        )
        asked = count_question(question)
        for _ in range(_ATTEMPTS):
            budget, now = self._budgets.read(reading.tenant), self._clock()
            room = find_room(budget, asked)
            if room is None:
                waiting = rules.wait(position, "budget", now, (now // DAY + 1) * DAY)
                self._store.try_put_position(waiting)
                return None
            claimed = rules.wait(position, "running", now, now + _LEASE)
            writes = [
                build_position_write(claimed),
                build_usage_write(reading.tenant, budget.day, Usage(asked + room, 1), budget.limit),
            ]
            try:
                self._table.transact(writes)
            except ConditionFailed as refused:
                if writes[0].key in refused.failed:
                    return None
                continue
            question = question._replace(max_tokens=room)
            return _Claim(claimed, reading, known, question, budget.day, asked + room)
        raise Throttled("others are using the tenant's budget; try again in a second")

    def _assert_closed(self, reading: Reading) -> None:
        """Check that the whole tenant can't read entries about a user."""
        if reading.strategy.kind != "facts" and reading.namespace.startswith("users/"):
            found = self._namespaces.find(build_learner(reading.tenant), reading.namespace)
            if get_default(found) != "none":
                raise ModelFailed(_OPEN)

    def _ask(self, claim: _Claim) -> None:
        """Ask the model, and store its answer."""
        reading = claim.reading
        try:
            reply = self._ask_model(claim.question)
        except ModelFailed as error:
            self._fail(claim.position, reading, str(error), [claim.build_settlement(0)])
            return
        ids = [each.id for each in claim.known]
        kind = reading.strategy.kind
        try:
            answer = parse_answer(kind, reply.answer, ids, reading.first, reading.end)
        except AnswerInvalid:
            self._reject(claim, reply)
        else:
            self._store_answer(claim, reply, answer)

    def _store_answer(self, claim: _Claim, reply: Reply, answer: ModelAnswer) -> None:
        """Store learned items with the position, all or nothing."""
        reading = claim.reading
        for _ in range(_ATTEMPTS):
            plan = self._plan(claim, answer)
            now = self._clock()
            counts = Counts(
                learned=plan.learned,
                ended=plan.ended,
                dropped=plan.dropped + answer.dropped,
                last_learned_at=now,
            )
            writes = [*plan.writes, *self._settle(claim, reply, counts)]
            try:
                self._finish(claim.position, reading, writes)
            except ConditionFailed as refused:
                if header_key(reading.conversation) in refused.failed:
                    break
            else:
                return
        # the messages or known items have changed: they are read again
        own = build_position_write(rules.make_ready(claim.position, self._clock()))
        self._table.try_write(own, *self._settle(claim, reply, Counts()))

    def _plan(self, claim: _Claim, answer: ModelAnswer) -> Plan:
        """Plan the changes of an answer; drop the last items if they exceed one transaction."""
        target = self._targets[claim.reading.strategy.kind]
        while True:
            plan = target.plan(claim.reading, answer, claim.known, self._clock())
            if len(plan.writes) <= MAX_TRANSACTION_WRITES - _OWN_WRITES:
                return plan
            answer = answer._replace(changes=answer.changes[:-1], dropped=answer.dropped + 1)

    def _finish(self, position: Position, reading: Reading, writes: Sequence[Write]) -> None:
        """Record that a range was read, with the result, unless another function has."""
        conversation = reading.conversation
        own = build_position_write(self._move(position, reading))
        unchanged = build_unchanged_check(conversation)
        try:
            self._table.transact([own, unchanged, *writes])
        except ConditionFailed as refused:
            if own.key not in refused.failed:
                raise
            return
        self.note(reading.tenant, conversation.session_id, {})

    def _move(self, position: Position, reading: Reading) -> Position:
        """Move a position past the messages that were read, and schedule newer ones."""
        after, now = rules.advance(position, reading.end), self._clock()
        if reading.end < reading.conversation.end:
            return rules.make_ready(after, now)
        session = reading.conversation.session_id
        latest = self._conversations.get_header(reading.tenant, session) or reading.conversation
        return rules.schedule(after, reading.strategy, latest, now) or rules.rest(after)

    def _reject(self, claim: _Claim, reply: Reply) -> None:
        """Drop an invalid answer; after three, skip these messages."""
        position, reading = claim.position, claim.reading
        error = "the answer does not fit its schema"
        counts = Counts(dropped=1, last_error=error, last_error_at=self._clock())
        writes = self._settle(claim, reply, counts)
        if position.attempts + 1 < _ATTEMPTS:
            self._retry(position, writes)
        else:
            self._finish(position, reading, writes)

    def _fail(
        self, position: Position, reading: Reading, error: str, writes: Sequence[Write]
    ) -> None:
        """Try again later, and record the reason."""
        counts = Counts(failed=1, last_error=error, last_error_at=self._clock())
        report_count("ModelFailures", tenant=reading.tenant, strategy=reading.strategy.name)
        name = reading.strategy.name
        self._retry(position, [*writes, build_counts_write(reading.tenant, name, counts)])

    def _retry(self, position: Position, writes: Sequence[Write]) -> None:
        now = self._clock()
        due = now + rules.compute_backoff(position.attempts)
        waiting = rules.wait(position, "retry", now, due)
        waiting = waiting._replace(attempts=position.attempts + 1)
        self._table.try_write(build_position_write(waiting), *writes)

    def _settle(self, claim: _Claim, reply: Reply, counts: Counts) -> list[Write]:
        """Build the writes that count a request and correct its reservation."""
        tokens = claim.reserved if reply.tokens is None else reply.tokens
        counts = counts._replace(requests=1, tokens=tokens)
        tenant, name = claim.reading.tenant, claim.reading.strategy.name
        return [
            claim.build_settlement(tokens),
            build_counts_write(tenant, name, counts),
        ]
