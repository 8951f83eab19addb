"""Every switch of a profile of the fake, and of its conventions, with the values it can have."""

import random
from typing import Any

from adclient.testing import Profile

# What can be set, and to what. The names with a dot are of `Conventions`.
SWITCHES: dict[str, list] = {
    "errors": ["error_object", "problem", "detail", "fastapi", "success_false", "errors_list",
               "text", "html", "empty", "truncated"],
    "continuation": ["text", "number", "url", "absolute_url", "object", "none"],
    "continuation_life": [None, 9.0], "read_parameters": ["query", "body", "either"],
    "page_size_parameter": [None, "limit"], "key_header": [None, "X-Api-Key"],
    "business_rules": [False, True], "two_reviewers": [False, True],
    "latency": [0.0, 2.0], "requests_a_minute": [None, 10],
    ".object_style": ["json", "deep_object"], ".rate_limit_scope": ["account", "client"],
    ".cursor_parameter": ["cursor", "page_token", "after", "page", "startingAfter"],
    ".request_id_headers": [("x-request-id",), ("request-id",), ("Trace-Id",)],
    ".idempotency_header": [None, "Idempotency-Key"],
}  # fmt: skip


def _rows(count: int, seed: int) -> list[dict[str, Any]]:
    """Every value of every switch, each beside many others, so that none is always hidden."""
    columns = {name: (values * count)[:count] for name, values in SWITCHES.items()}
    for name, values in columns.items():
        random.Random(f"{name}{seed}").shuffle(values)
    # While a rate limit is waited for, a continuation would expire.
    limits, lives = columns["requests_a_minute"], columns["continuation_life"]
    columns["requests_a_minute"] = [
        limit if life is None else None for limit, life in zip(limits, lives, strict=True)
    ]
    for name, values in columns.items():
        assert all(value in values for value in SWITCHES[name])
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


ROWS = _rows(12, seed=8)


def profile_of(chosen: dict[str, Any]) -> tuple[Profile, dict[str, Any]]:
    """A profile, and the settings of `Conventions`."""
    own = {name: value for name, value in chosen.items() if not name.startswith(".")}
    return Profile(**own), {name[1:]: chosen[name] for name in chosen.keys() - own.keys()}
