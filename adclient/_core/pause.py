"""The wait that a rate limit asks of one call, kept by the others that it concerns as well."""

from adclient._core import retry
from adclient._core.operations import Call
from adclient._core.response import RawResponse
from adclient.models import Result
from adclient.options import Options


class Pauses:
    """Until when the service asked calls of one client to wait, by what its limit counts for."""

    def __init__(self) -> None:
        self._ends: dict[object, tuple[float, float]] = {}

    def note(self, call: Call[Result], options: Options, head: RawResponse, now: float) -> None:
        """Note what an answer asks of more than its own call."""
        scope, asked = _scope(call, options), retry.retry_after(head)
        if scope is None or asked is None:
            return
        for over in [key for key, (end, _) in tuple(self._ends.items()) if end <= now]:
            self._ends.pop(over, None)
        self._ends[scope] = max(
            self._ends.get(scope, (0.0, 0.0)), (now + asked, retry.spread(asked))
        )

    def wait(self, call: Call[Result], options: Options, *, now: float, chance: float) -> float:
        """Seconds for which a call should hold back; `chance` lets such calls not come in step."""
        scope = _scope(call, options) if self._ends else None
        if scope is None or options.retry.max_retries == 0:
            return 0.0
        end, spread = self._ends.get(scope, (now, 0.0))
        return end - now + chance * spread if end > now else 0.0


def _scope(call: Call[Result], options: Options) -> object:
    """What a rate limit counts for, as far as a call shows it; None for the call alone."""
    if 429 not in options.retry.statuses:
        return None
    scopes = {"account": call.arguments["account_id"], "client": "", "call": None}
    return scopes[options.conventions.rate_limit_scope]
