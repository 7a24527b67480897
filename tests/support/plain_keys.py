"""Keys of splits in plain Python: splitmix64 over the words of a seed and of ids."""

from __future__ import annotations

import struct
from datetime import date, datetime, timezone

BITS = 2**64 - 1
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def splitmix64(state: int) -> int:
    """Return the next number of the published generator whose state is given."""
    z = (state + 0x9E3779B97F4A7C15) & BITS
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & BITS
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & BITS
    return z ^ (z >> 31)


def words_of(value: object) -> list[int]:
    """Return the words of an id."""
    if value is None:
        return [2**63]
    if isinstance(value, str):
        text = value.encode()
        ends = [text[:64], text[-64:]] if len(text) > 64 else [text]
        words = [len(text)]
        for end in ends:
            padded = end + bytes(-len(end) % 8)
            words.extend(struct.unpack(f"<{len(padded) // 8}Q", padded))
        return words
    if isinstance(value, datetime):
        since = value.replace(tzinfo=value.tzinfo or timezone.utc) - EPOCH
        micros = (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
        return [micros * 1_000 & BITS]
    if isinstance(value, date):
        return [(value - EPOCH.date()).days & BITS]
    return [int(value) & BITS]  # type: ignore[call-overload]  # numbers


def plain_key(seed: int, *ids: object) -> int:
    """Return the key of a seed and ids."""
    state = splitmix64(seed & BITS)
    for value in ids:
        for word in words_of(value):
            state = splitmix64(state ^ word)
    return state
