"""Ids that look random and follow from the seed."""

import hashlib
from collections.abc import Container


def unique_id(kind: str, name: str, taken: Container[str]) -> str:
    """An id such as `campaign_57a7`, made from a name; longer only if the short one is taken."""
    digest = hashlib.sha256(f"{kind}:{name}".encode()).hexdigest()
    candidates = (f"{kind}_{digest[:length]}" for length in range(4, len(digest) + 1))
    return next(candidate for candidate in candidates if candidate not in taken)


def nth_id(kind: str, seed: str, number: int) -> str:
    """An id for a number; different numbers have different ids."""
    start = int(hashlib.sha256(f"{kind}:{seed}".encode()).hexdigest()[:4], 16)
    lap, place = divmod(number, _LAP)
    digits = (start + place * _STRIDE) % _LAP
    return f"{kind}_{digits:04x}" + (f"{lap:x}" if lap else "")


# The stride is odd, so every four digits come once in a lap.
_LAP, _STRIDE = 0x10000, 0x9E37
