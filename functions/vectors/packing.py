"""Pack the vectors that clients give: of unit length, in half precision."""

from collections.abc import Sequence
from math import fsum, sqrt
from struct import pack, unpack

from functions.platform.errors import ValidationFailed

_BYTES = 2  # of a number


def pack_vector(numbers: Sequence[float]) -> bytes:
    """Pack a vector, scaled to unit length: a cosine knows no length.

    Half precision changes a cosine by less than 0.001, and halves what is stored.
    """
    # divided by the largest first: squares of 1e200 would be infinite, those of 1e-200 zero
    largest = max(map(abs, numbers))
    if largest == 0:
        raise ValidationFailed("vector", "has no direction: all numbers are 0")
    scaled = [each / largest for each in numbers]
    length = sqrt(fsum(each * each for each in scaled))
    return pack(f"<{len(scaled)}e", *(each / length for each in scaled))


def unpack_vector(packed: bytes) -> list[float]:
    """Return the numbers of a packed vector."""
    return list(unpack(f"<{count_numbers(packed)}e", packed))


def count_numbers(packed: bytes) -> int:
    """Count the numbers of a packed vector."""
    return len(packed) // _BYTES
