"""The settings of a client: their defaults, how they are checked, and how they merge."""

import math
import os
import re
import threading
from collections.abc import Collection, Mapping
from typing import TypeGuard, cast
from urllib.parse import urlsplit

import attrs

from adclient.conventions import MADE_BY_CLIENT, Conventions, is_header_name
from adclient.errors import ConfigurationError
from adclient.hooks import Hooks

# Every default of the library stands here or, for what the interface leaves open, in Conventions.
TIMEOUT = 30.0
MAX_RETRIES = 2
BACKOFF_FIRST = 0.5
BACKOFF_LONGEST = 8.0
RETRY_STATUSES = frozenset({408, 429, 500, 502, 503, 504})
MAX_CONCURRENCY = 100

ENV_BASE_URL = "ADCLIENT_BASE_URL"
ENV_TOKEN = "ADCLIENT_TOKEN"  # noqa: S105  the name of a variable, not a token

_HEADER_VALUE = re.compile(r"[!-~](?:[ -~]*[!-~])?")
_HOST_AND_PATH = re.compile(r"[^\s\\\x00-\x1f\x7f]+")


def _frozen(statuses: Collection[int]) -> frozenset[int]:
    given: object = statuses
    if isinstance(given, Collection) and all(_is_status(status) for status in statuses):
        return frozenset(statuses)
    raise ConfigurationError("statuses must be a set of HTTP statuses", argument="statuses")


def _is_status(value: object) -> bool:
    return type(value) is int and 100 <= value <= 599


@attrs.frozen(kw_only=True)
class RetryPolicy:
    """When a call is tried again, and after how long.

    Reads are tried again after a connection failure, a lost connection, and the statuses below.
    Writes are tried again only if the service surely did not take them: when the connection was
    never made, and after 429 if it is one of the statuses. With a key that makes them safe to
    repeat, `Conventions(idempotency_header=…)`, they are tried again as reads are. The wait before
    retry *n* is random between 0 and `backoff_first * 2 ** (n - 1)` seconds, at most
    `backoff_longest`, but never less than a `Retry-After` asks for.

    Args:
        max_retries: How many times a call is tried again after its first attempt.
        backoff_first: The longest wait before the first retry, in seconds.
        backoff_longest: The longest wait before any retry, in seconds.
        statuses: The HTTP statuses after which a call is tried again; a write without such a key
            only after 429.

    Raises:
        ConfigurationError: A number is negative or not finite, or a status is none.

    Example:
        >>> from adclient import AdClient, RetryPolicy
        >>> client = AdClient("https://ads.example.com", retry=RetryPolicy(max_retries=5))
    """

    max_retries: int = MAX_RETRIES
    backoff_first: float = BACKOFF_FIRST
    backoff_longest: float = BACKOFF_LONGEST
    statuses: frozenset[int] = attrs.field(default=RETRY_STATUSES, converter=_frozen)

    def __attrs_post_init__(self) -> None:
        check_count("max_retries", self.max_retries, least=0)
        for name in ("backoff_first", "backoff_longest"):
            if not _is_finite(getattr(self, name)) or getattr(self, name) < 0:
                raise ConfigurationError(
                    f"{name} must be a finite number of seconds, 0 or more", argument=name
                )


@attrs.frozen(kw_only=True)
class Options:
    """What a call needs to know of its client, checked."""

    base_url: str
    timeout: float = TIMEOUT
    retry: RetryPolicy = attrs.field(factory=RetryPolicy)
    headers: Mapping[str, str] = attrs.field(factory=dict[str, str], repr=False)
    conventions: Conventions = attrs.field(factory=Conventions)
    hooks: tuple[Hooks, ...] = ()

    def merged(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        retry: RetryPolicy | None = None,
        headers: Mapping[str, str] | None = None,
        hooks: Hooks | None = None,
    ) -> "Options":
        """These options with some replaced; headers and hooks are added to those there are."""
        check_type("retry", retry, RetryPolicy)
        check_type("hooks", hooks, Hooks)
        return attrs.evolve(
            self,
            timeout=self.timeout if timeout is None else check_timeout(timeout),
            retry=merge_retry(self.retry, retry, max_retries),
            headers={**self.headers, **check_headers(headers or {})},
            hooks=self.hooks if hooks is None else (*self.hooks, hooks),
        )


def resolve(
    *,
    base_url: str | None,
    timeout: float | None,
    max_retries: int | None,
    retry: RetryPolicy | None,
    headers: Mapping[str, str] | None,
    hooks: Hooks | None,
    conventions: Conventions | None,
) -> Options:
    """The options of a new client: argument, else environment, else default."""
    known = base_url if base_url is not None else from_environment(ENV_BASE_URL)
    if known is None:
        raise ConfigurationError(
            f"base_url is missing: pass it or set {ENV_BASE_URL}", argument="base_url"
        )
    check_type("conventions", conventions, Conventions)
    start = Options(base_url=check_base_url(known), conventions=conventions or Conventions())
    return start.merged(
        timeout=timeout, max_retries=max_retries, retry=retry, headers=headers, hooks=hooks
    )


def from_environment(name: str) -> str | None:
    """An environment variable's text; a blank one counts as not set."""
    return os.environ.get(name, "").strip() or None


def merge_retry(
    current: RetryPolicy, retry: RetryPolicy | None, max_retries: int | None
) -> RetryPolicy:
    """The policy that holds: `max_retries` on its own wins over the policy's."""
    policy = retry or current
    return policy if max_retries is None else attrs.evolve(policy, max_retries=max_retries)


def check_base_url(value: object) -> str:
    """A base URL without its trailing slash; the error never shows a URL that may hold a secret."""

    def refused(reason: str) -> ConfigurationError:
        return ConfigurationError(
            f"base_url {reason}; expected something like 'https://ads.example.com'",
            argument="base_url",
        )

    if not isinstance(value, str):
        raise refused(f"must be a text, not {type(value).__name__}")
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError:
        raise refused("is not a URL") from None
    if parts.scheme not in ("http", "https"):
        raise refused("must begin with http:// or https://")
    if "@" in parts.netloc:
        raise refused("must not hold a user name or password (use token= or auth=)")
    if "?" in value or "#" in value:
        raise refused("must not hold a query or fragment")
    if not value.isascii():
        raise refused("must be ASCII: write other characters as xn--… or %…")
    labels = (parts.hostname or "").removesuffix(".").split(".")
    if (
        not all(0 < len(label) < 64 for label in labels)
        or not _HOST_AND_PATH.fullmatch(value)
        or port == 0
    ):
        raise refused("has no valid host")
    if any(segment in (".", "..") for segment in parts.path.split("/")):
        raise refused("must not hold '.' or '..' in its path")
    return parts.scheme + value[len(parts.scheme) :].rstrip("/")


def check_timeout(value: object) -> float:
    """A time in seconds that is finite and above 0."""
    if _is_finite(value) and 0 < value <= threading.TIMEOUT_MAX:
        return float(value)
    raise ConfigurationError(
        "timeout must be a finite number of seconds above 0", argument="timeout"
    )


def check_headers(headers: object, *, argument: str = "headers") -> dict[str, str]:
    """Headers that may be sent as they are; the error names a header and never its value."""

    def refused(problem: str) -> ConfigurationError:
        return ConfigurationError(f"{argument}: {problem}", argument=argument)

    if not isinstance(headers, Mapping):
        raise refused(f"expected a mapping of texts, not {type(headers).__name__}")
    checked: dict[str, str] = {}
    for name, value in cast("Mapping[object, object]", headers).items():
        if not is_header_name(name):
            raise refused("the name of a header is not valid")
        lowered = name.lower()
        if lowered == "authorization" and argument == "headers":
            raise refused("authorization is made from token= or auth=")
        if lowered in MADE_BY_CLIENT:
            raise refused(f"{lowered} is made by the client")
        if not isinstance(value, str) or not _HEADER_VALUE.fullmatch(value):
            raise refused(
                f"{lowered} must be visible ASCII text without line breaks or outer blanks"
            )
        checked[lowered] = value
    return checked


def check_token(value: object) -> str:
    """A bearer token; the error never shows it."""
    if not isinstance(value, str):
        problem = f"must be a str or a function that returns one, not {type(value).__name__}"
    elif not value:
        problem = "is empty"
    elif value != value.strip():
        problem = "begins or ends with a blank or a line break; pass token.strip()"
    elif not re.fullmatch(r"[!-~]+", value):
        problem = "holds a blank, a line break or a character outside ASCII"
    else:
        return value
    del value  # a traceback may show the locals
    raise ConfigurationError(f"token {problem}", argument="token")


def check_max_concurrency(value: int | None) -> int:
    """How many requests may be under way at once, at least 1."""
    if value is None:
        return MAX_CONCURRENCY
    check_count("max_concurrency", value, least=1)
    return value


def check_count(name: str, value: object, *, least: int) -> None:
    """Refuse what is no whole number, or too small a one."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ConfigurationError(f"{name} must be a whole number, {least} or more", argument=name)


def check_type(name: str, value: object, expected: type) -> None:
    """Refuse what is there and of another class."""
    if value is not None and not isinstance(value, expected):
        raise ConfigurationError(
            f"{name} must be a {expected.__name__}, not {type(value).__name__}", argument=name
        )


def _is_finite(value: object) -> TypeGuard[float]:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False
