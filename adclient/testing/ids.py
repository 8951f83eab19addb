"""Ids that look random and follow from the seed."""

import hashlib
from collections.abc import Container


def unique_id(kind: str, name: str, taken: Container[str]) -> str:
    """An id such as `campaign_57a7`, made from a name; longer only if the short one is taken."""
    digest = hashlib.sha256(f"{kind}:{name}".encode()).hexdigest()
    lengths = range(4, len(digest) + 1)
    candidates = (f"{kind}_{digest[:length]}" for length in lengths)
    return next(candidate for candidate in candidates if candidate not in taken)
