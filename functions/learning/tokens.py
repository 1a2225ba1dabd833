"""Count the tokens of a question, before it is sent."""

from functions.learning.language_model import ModelQuestion
from functions.platform.json_text import dumps

_CHARACTERS = 3  # for each token of ASCII text; common models need four


def count_question(question: ModelQuestion) -> int:
    """Count the tokens that a question has at most: a character beyond ASCII counts as one."""
    text = question.system + question.text + dumps(question.schema).decode()
    ascii_count = sum(map(str.isascii, text))
    return ascii_count // _CHARACTERS + len(text) - ascii_count + 1
