"""What a gate decides: pauses after a 429, and turns."""

from collections.abc import Callable
from typing import TypeAlias
from urllib.parse import urlsplit

from adclient._core.call import Call
from adclient._core.response import Failure
from adclient._display.signatures import public_in
from adclient.options import Options

Ask: TypeAlias = Callable[[Call, str, float], Failure | float | None]

_PORTS = {"http": 80, "https": 443}


@public_in("adclient.extend")
class Turn(float):
    """Seconds until the turn of a call at a gate begins, which the call does not miss by a jitter.

    A gate that limits requests per second has a method `__reserve__`, with the arguments of `ask`,
    which reserves a turn. It lasts a moment, in which the call asks `ask` and sends its request.
    """

    __slots__ = ()
    LASTS = 0.1


class Pauses:
    """Until when the calls of a client without a gate of its own wait, as services asked."""

    def __init__(self) -> None:
        self.ends: dict[str, float] = {}

    def left(self, key: str, now: float) -> float:
        """Seconds until the pause of a key is over; 0 or less if there is none."""
        return self.ends.get(key, now) - now

    def begin(self, key: str, now: float, seconds: float) -> None:
        """Begin a pause of so many seconds; one that lasts longer stays."""
        # Expired ends would pile up, one for each account. A copy, because other threads add some.
        for over in [key for key, end in tuple(self.ends.items()) if end <= now]:
            self.ends.pop(over, None)
        self.ends[key] = max(self.ends.get(key, 0.0), now + seconds)


def key_of(call: Call, options: Options) -> str:
    """What a rate limit holds for: a service, whose address has one spelling, or an account."""
    url = urlsplit(options.base_url)
    address = f"{url.scheme}://{url.hostname}:{url.port or _PORTS.get(url.scheme)}{url.path}"
    is_account = options.conventions.rate_limit_scope == "account"
    return f"{address.rstrip('/')}\n{call.account_id * is_account}"
