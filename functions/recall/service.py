"""Recall: one question to all that the caller may read (CONTRACT3 section 14)."""

from collections.abc import Sequence
from dataclasses import dataclass

from functions.identity.model import Principal
from functions.platform.bounded_pages import BoundedPage, WantedPage
from functions.platform.clock import Clock
from functions.platform.parallel import run_parallel
from functions.platform.references import SourceName, hash_reference, parse_reference
from functions.recall.model import AnswerMessage, Recalled, RecallItem
from functions.recall.requests import ConversationQuestion, Question
from functions.recall.sources import Ask, RecallSources, select_sources
from functions.recall.text import render_within
from functions.recall.tokens import count_tokens


@dataclass(eq=False)
class RecallService:
    """Asks the sources side by side, and ranks what they find by one score."""

    _sources: RecallSources
    _clock: Clock

    def recall(self, caller: Principal, question: Question) -> Recalled:
        """Find the `top_k` items that fit a question best, of all sources together.

        Raises:
            ValidationFailed: a filter needs another one, such as `fields` a namespace.
            Unavailable: no embedding model is installed, or it does not answer.
        """
        searched, skipped = select_sources(question)
        started = self._clock()
        jobs = [
            job for name in searched for job in self._sources.build_jobs(name, caller, question)
        ]
        found = run_parallel(jobs)
        items = [each for several, _ in found for each in several]
        until = min([started, *(until for _, until in found if until is not None)])
        return _answer(items, question, skipped, until)

    def search_conversations(self, caller: Principal, question: ConversationQuestion) -> Recalled:
        """Find the messages that fit a question best.

        Raises:
            Unavailable: no embedding model is installed.
        """
        until = self._clock()
        return _answer(self._sources.find_messages(caller, question), question, [], until)

    def get(self, caller: Principal, reference: str) -> RecallItem:
        """Get the item that a reference names.

        Raises:
            NotFound: the text is no reference, or there is no such item.
            AccessDenied: the caller may not read it.
        """
        return self._sources.get(caller, parse_reference(reference))

    def list_answers(
        self, caller: Principal, reference: str, wanted: WantedPage
    ) -> BoundedPage[AnswerMessage]:
        """List the messages whose `uses` name an item, newest first, whether it exists or not.

        Raises:
            NotFound: the text is no reference.
        """
        return self._sources.list_answers(caller, hash_reference(reference), wanted)


def _answer(
    items: Sequence[RecallItem], question: Ask, skipped: list[SourceName], until: int
) -> Recalled:
    ranked = sorted(items, key=lambda item: (-item.score, item.reference))
    best = [item for item in ranked if item.score >= question.min_score][: question.top_k]
    fitting, text = render_within(best, question.max_tokens)
    return Recalled(fitting, text, count_tokens(text), skipped, until)
