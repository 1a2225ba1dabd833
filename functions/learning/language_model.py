"""The interface of language models that learn: one question, and an answer of a given schema."""

from typing import Any, NamedTuple, Protocol


class ModelQuestion(NamedTuple):
    """A question to a language model.

    Attributes:
        model: the model's name, without its provider.
        system: the rules, which the deployment and the strategy set.
        text: the data: what is known, and the messages.
        schema: the JSON schema of the answer.
        max_tokens: of the answer.
    """

    model: str
    system: str
    text: str
    schema: dict[str, Any]
    max_tokens: int


class Reply(NamedTuple):
    """Tells what a model replied.

    Attributes:
        answer: a JSON text, or the object itself.
        tokens: of question and answer; None if the model does not say.
    """

    answer: str | dict[str, Any]
    tokens: int | None


class ModelFailed(Exception):
    """The model did not answer; the message says why, and never what was sent."""


class LanguageModel(Protocol):
    """Asks a language model."""

    def ask(self, question: ModelQuestion) -> Reply:
        """Ask a question once."""
