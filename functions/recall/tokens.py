"""Count tokens: an upper bound for common language models, without their vocabularies.

A model splits text into words and pieces of words. The bound counts one token for each two letters
in a run of small letters, none for a single space, one for each UTF-8 byte of any other character,
and one for the beginning of the text. Example: "Hello, Ada" counts 7: the beginning, `H`, `el`,
`lo`, `,`, `A`, `da`.
"""

import re

TOKENIZER = "upper-bound-1"
"""The name of the rule."""
_PIECE = re.compile(r"[a-z]+|[^\S\n]|[^a-z]")


def count_tokens(text: str) -> int:
    """Count the tokens of a text; no common language model counts more."""
    return sum(map(_count_piece, _PIECE.findall(text)), 1) if text else 0


def _count_piece(piece: str) -> int:
    if piece[0].islower() and piece.isascii():
        return (len(piece) + 1) // 2
    return 0 if piece == " " else len(piece.encode())
