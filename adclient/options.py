"""The settings of a client: defaults, checks and merging."""

import math
import os
import re
import warnings
from collections.abc import Collection, Mapping
from inspect import currentframe
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

import attrs

from adclient._values.json_values import as_count, as_float
from adclient._values.text import short
from adclient.conventions import MADE_BY_CLIENT, Conventions, is_header_name
from adclient.errors import ConfigurationError, InvalidRequest

if TYPE_CHECKING:
    from adclient.hooks import Hooks

# All defaults, except those of `Conventions`.
TIMEOUT = 30.0
LONGEST_TIMEOUT = 2_000_000.0  # 23 days: sockets count milliseconds in 32 bits
MAX_RETRIES = 2
BACKOFF_FIRST = 0.5
BACKOFF_LONGEST = 8.0
RETRY_QUOTA = 100
RETRY_STATUSES = frozenset({408, 429, *range(500, 600)} - {501, 505})
MAX_CONCURRENCY = 100

ENV_ACTOR = "ADCLIENT_ACTOR"
ENV_BASE_URL = "ADCLIENT_BASE_URL"
ENV_LOG = "ADCLIENT_LOG"
ENV_SERVICE = "ADCLIENT_SERVICE"
ENV_TOKEN = "ADCLIENT_TOKEN"  # noqa: S105  the name of a variable, not a token

_Refusal = ConfigurationError | InvalidRequest
_PACKAGE = f"{__name__.partition('.')[0]}."
_SCHEME = r"(?i)\A[ \t]*(bearer|basic|token)[ \t]"  # of the whole header


def _checked_statuses(statuses: Collection[int]) -> frozenset[int]:
    candidate: object = statuses
    counts = {as_count(each) for each in statuses} if isinstance(candidate, Collection) else {None}
    if counts <= {*range(100, 600)}:
        return frozenset(filter(None, counts))
    raise ConfigurationError("statuses must be a set of HTTP statuses", argument="statuses")


@attrs.frozen(kw_only=True)
class RetryPolicy:
    """Rules for the retries of a call: which outcomes are retried, and after how long.

    Reads are retried after a failed or lost connection, and after the statuses below. Writes are
    retried only when the service is known not to have processed them: when no connection was made,
    and after 429, if that is one of the statuses. With `Conventions(idempotency_header=…)`, which
    makes them safe to repeat, they are retried like reads. The wait before retry *n* is random
    between 0 and `backoff_first * 2 ** (n - 1)` seconds, at most `backoff_longest`, but never
    shorter than a `Retry-After`. All attempts and waits share the `timeout` of the call.
    After a 429 with a `Retry-After` above 0, a call waits and is sent again as often as that fits
    its `timeout`, and this takes no retry. While everything fails, retries only add load, so the
    calls of a client share a `quota` of them.

    Attributes:
        max_retries: How many times a call is retried after its first attempt; 2 by default. 0
            turns off the waits after a 429, too.
        backoff_first: The longest wait before the first retry, in seconds; 0.5 by default.
        backoff_longest: The longest wait before any retry, in seconds; 8 by default. A
            `Retry-After` may be longer.
        statuses: The HTTP statuses after which a call is retried: by default 408, 429, and 500 to
            599 without 501 and 505. A write without an idempotency key is retried after 429 only,
            which stands for every rate limit.
        attempt_timeout: Seconds for one attempt. None, the default, lets an attempt use all of the
            call's `timeout`, so a service that hangs once leaves no time for a retry.
        quota: How many retries the calls of a client share; 100 by default, None for any number.
            Each call that succeeds gives one back. When none is left, errors are raised at once.

    Raises:
        ConfigurationError: A number is negative or not finite, or a status is not an HTTP status.

    Examples:
        >>> from adclient import AdClient, RetryPolicy
        >>> client = AdClient("https://ads.example.com", retry=RetryPolicy(max_retries=5))
    """

    max_retries: int = MAX_RETRIES
    backoff_first: float = BACKOFF_FIRST
    backoff_longest: float = BACKOFF_LONGEST
    statuses: frozenset[int] = attrs.field(
        default=RETRY_STATUSES,
        converter=_checked_statuses,
        repr=lambda it: "RETRY_STATUSES" if it == RETRY_STATUSES else repr(it),
    )
    attempt_timeout: float | None = None
    quota: int | None = RETRY_QUOTA

    def __attrs_post_init__(self) -> None:
        retries = check_count("max_retries", self.max_retries, least=0)
        object.__setattr__(self, "max_retries", retries)
        for name in ("backoff_first", "backoff_longest"):
            seconds = as_float(getattr(self, name))
            object.__setattr__(self, name, seconds)
            if not 0 <= seconds < math.inf:
                raise ConfigurationError(
                    f"{name} must be a finite number of seconds, 0 or more", argument=name
                )
        if self.attempt_timeout is not None:
            seconds = check_timeout(self.attempt_timeout, "attempt_timeout")
            object.__setattr__(self, "attempt_timeout", seconds)
        if self.quota is not None:
            object.__setattr__(self, "quota", check_count("quota", self.quota, least=0))


@attrs.frozen(kw_only=True, repr=False)
class Options:
    """The checked settings of one client."""

    base_url: str
    timeout: float = TIMEOUT
    retry: RetryPolicy = attrs.field(factory=RetryPolicy)
    headers: Mapping[str, str] = attrs.field(factory=dict[str, str], repr=False)
    conventions: Conventions = attrs.field(factory=Conventions)
    hooks: "tuple[Hooks, ...]" = ()
    actor: str | None = None

    def merged(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        retry: RetryPolicy | None = None,
        headers: Mapping[str, str] | None = None,
        hooks: "Hooks | None" = None,
        actor: str | None = None,
    ) -> "Options":
        """A copy with some options replaced; headers and hooks are added to the present ones."""
        check_type("retry", retry, RetryPolicy)
        if hooks is not None:
            from adclient.hooks import Hooks  # deferred: its classes take a while to make

            check_type("hooks", hooks, Hooks)
        policy = retry or self.retry
        if max_retries is not None:
            policy = attrs.evolve(policy, max_retries=max_retries)
        return attrs.evolve(
            self,
            timeout=self.timeout if timeout is None else check_timeout(timeout),
            retry=policy,
            headers={**self.headers, **check_headers({} if headers is None else headers)},
            hooks=self.hooks if hooks is None else (*self.hooks, hooks),
            actor=self.actor if actor is None else check_actor(actor),
        )


def resolve(
    *,
    base_url: str | None,
    conventions: Conventions | None,
    actor: str | None = None,
    **changes: Any,
) -> Options:
    """The options of a new client: argument, else environment, else default; see `merged`."""
    url = base_url if base_url is not None else from_environment(ENV_BASE_URL)
    if url is None:
        raise ConfigurationError(
            f"base_url is missing: pass it, or set {ENV_BASE_URL} or {ENV_SERVICE}",
            argument="base_url",
        )
    check_type("conventions", conventions, Conventions)
    defaults = Options(base_url=check_base_url(url), conventions=conventions or Conventions())
    actor = from_environment(ENV_ACTOR) if actor is None else actor
    options = defaults.merged(actor=actor, **changes)
    for name in ("idempotency-key", defaults.conventions.idempotency_header):
        if name is not None and name.lower() in options.headers:
            raise ConfigurationError(
                f"headers: with the same {name.lower()} on every call, the service would treat all "
                "writes as one; Conventions(idempotency_header=…) sends a key for each call, or "
                "pass yours for one call with client.with_options(headers=…)",
                argument="headers",
            )
    return options


def names_service() -> bool:
    """Check if the environment names a service file, for clients without an address."""
    if from_environment(ENV_SERVICE) is None:
        return False
    if from_environment(ENV_BASE_URL) is not None:
        problem = f"{ENV_SERVICE} and {ENV_BASE_URL} are both set, and each names a service"
        raise ConfigurationError(f"{problem}: unset one of them", argument="base_url")
    return True


def from_environment(name: str) -> str | None:
    """The value of an environment variable; a blank one counts as not set."""
    return os.environ.get(name, "").strip() or None


def warn_caller(problem: str) -> None:
    """Issue a `UserWarning` that names the line from which the package was called."""
    level, frame = 1, currentframe()
    # Code may have no name.
    while frame is not None and str(frame.f_globals.get("__name__")).startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(problem, UserWarning, stacklevel=level)


def check_base_url(value: object) -> str:
    """Check a base URL, and remove its trailing slash. Errors omit it: it may contain a secret."""

    def refused(reason: str) -> ConfigurationError:
        return ConfigurationError(
            f"base_url {reason}; expected something like 'https://ads.example.com'",
            argument="base_url",
        )

    if not isinstance(value, str):
        raise refused(f"must be a str, not {type(value).__name__}")
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError:
        raise refused("is not a URL") from None
    if parts.scheme not in ("http", "https"):
        raise refused("must start with http:// or https://")
    if "@" in parts.netloc:
        raise refused("must not contain a user name or password (use token= or auth=)")
    if "?" in value or "#" in value:
        raise refused("must not contain a query or fragment")
    if not value.isascii():
        raise refused("must be ASCII: encode other characters as xn--… or %…")
    labels = (parts.hostname or "").removesuffix(".").split(".")
    if (
        not all(0 < len(label) < 64 for label in labels)
        or not _is_visible(value)
        or "\\" in value
        or port == 0
    ):
        raise refused("has no valid host")
    if any(segment in (".", "..") for segment in parts.path.split("/")):
        raise refused("must not contain '.' or '..' in its path")
    if re.search(r"/v1(/\w+-ads(/.*)?)?/*\Z", parts.path):
        raise refused("must not end in /v1: the path of every operation begins with it")
    return parts.scheme + value[len(parts.scheme) :].rstrip("/")


def check_timeout(value: object, name: str = "timeout") -> float:
    """Check a time in seconds: finite and above 0. A longer one than sockets can wait is cut."""
    if 0 < (seconds := as_float(value)) < math.inf:
        return min(seconds, LONGEST_TIMEOUT)
    raise ConfigurationError(f"{name} must be a finite number of seconds above 0", argument=name)


def check_headers(headers: object, *, argument: str = "headers") -> dict[str, str]:
    """Check headers, and convert names to lower case. Errors name a header, never its value."""

    def refused(problem: str) -> ConfigurationError:
        return ConfigurationError(f"{argument}: {problem}", argument=argument)

    if not isinstance(headers, Mapping):
        raise refused(f"expected a mapping of strings, not {type(headers).__name__}")
    checked: dict[str, str] = {}
    for name, value in cast("Mapping[object, object]", headers).items():
        if not is_header_name(name):
            raise refused("the name of a header is not valid")
        lowered = name.lower()
        if lowered == "authorization" and argument == "headers":
            raise refused("authorization is set by token= or auth=")
        if lowered in MADE_BY_CLIENT:
            raise refused(f"{lowered} is set by the client")
        if (
            not isinstance(value, str)
            or value != value.strip()
            or not _is_visible(value.replace(" ", ""))
        ):
            raise refused(
                f"{lowered} must be visible ASCII without line breaks or surrounding whitespace"
            )
        checked[lowered] = value
    return checked


def check_token(value: object) -> str:
    """Check a bearer token; errors never contain it."""
    if not isinstance(value, str):
        kind = type(value).__name__
        problem = f"must be a str, or a function that returns a str or a Token, not {kind}"
    elif not value:
        problem = "is empty"
    elif scheme := re.findall(_SCHEME, value):
        problem = (
            f"begins with the scheme {scheme[0]!r}: pass only what follows it, which is sent as a "
            "bearer token, or use auth= for another scheme"
        )
    elif value != value.strip():
        problem = "starts or ends with whitespace; pass token.strip()"
    elif len(value.splitlines()) > 1:
        problem = "has a line break; pass one line"
    elif not _is_visible(value):
        problem = "contains whitespace, a control character or one outside ASCII"
    else:
        return value
    del value  # tracebacks can show local variables
    raise ConfigurationError(f"token {problem}", argument="token")


def check_actor(value: object) -> str:
    """Check a name: one line that can be read as it is, of at most 60 characters."""
    if isinstance(value, str) and value and value == short(value).strip():
        return value
    problem = "actor must be visible text of one line, at most 60 characters"
    raise ConfigurationError(problem, argument="actor")


def check_count(
    name: str, value: object, *, least: int, error: type[_Refusal] = ConfigurationError
) -> int:
    """Refuse a value that is not a whole number, or is less than `least`."""
    if (count := as_count(value)) is None or count < least:
        raise error(f"{name} must be a whole number, {least} or more", argument=name)
    return count


def check_rate(name: str, value: object) -> float:
    """Refuse what is not a number above 0, or is too small to divide by."""
    if 0 < (rate := as_float(value)) < math.inf > 1 / rate:
        return rate
    raise ConfigurationError(f"{name} must be a finite number above 0", argument=name)


def check_type(name: str, value: object, expected: type) -> None:
    """Refuse a value of another class; None is allowed."""
    if value is not None and not isinstance(value, expected):
        raise ConfigurationError(
            f"{name} must be a {expected.__name__}, not {type(value).__name__}", argument=name
        )


def check_methods(name: str, value: object, example: str, *methods: str) -> None:
    """Refuse a value without these methods; None is allowed."""
    if value is not None and not all(callable(getattr(value, each, None)) for each in methods):
        problem = f"{name} must be a {name}, such as a {example}, not {type(value).__name__}"
        raise ConfigurationError(problem, argument=name)


def _is_visible(value: str) -> bool:
    """Check if a string consists of visible ASCII characters, at least one."""
    return value != "" and value.isascii() and value.isprintable() and " " not in value
