# Generated from ../_async by tools/make_twin.py: change it there.
"""The slot of a call that asks a gate before each of its requests."""

import math
from functools import partial
from typing import TYPE_CHECKING

from adclient._core.events import only_warning
from adclient._core.exchange import Exchange
from adclient._core.response import Failure, none_in_time, too_late
from adclient._core.retry import Ask, Turn
from adclient._http.slots import CapacityLimiter, Slot
from adclient._tasks.clock import LONGEST_END, run_blocking, countdown

if TYPE_CHECKING:
    from adclient.extend import Gate

# Not the thread of the guard, which may be blocked; what needs no slot has another one, so that
# a call whose turn has come is not behind those that still ask for one.
GATE_THREAD, TURNS_THREAD = "adclient-gate", "adclient-turns"
_FRESH = 0.01  # seconds; a consent that is older is asked for again before a request is sent


class GateSlot(Slot):
    """The slot of one call, with the consent of a gate that may block.

    Turns are reserved without a slot, so that a call whose turn has come finds one: calls that
    queue for the gate must not have them all. Each of them has a `place` until its turn is over.
    """

    def __init__(self, limiter: CapacityLimiter, gate: "Gate", exchange: Exchange) -> None:
        super().__init__(limiter)
        self.place = self._place = Slot(limiter.line(exchange.key))
        self._limiter = limiter
        self._gate = gate
        self._reserve: Ask | None = getattr(gate, "__reserve__", None)
        self._exchange = exchange
        # By the clock of the call: when the gate consented, and when the reserved turn is over.
        self._asked_at = self._turn_ends = -math.inf

    @property
    def has_turn(self) -> bool:
        """Whether it has reserved a turn that is not over."""
        return self._exchange.now() <= self._turn_ends

    @property
    def _needs_turn(self) -> bool:
        return self._reserve is not None and not self.has_turn

    def enter(self) -> Failure | float | None:
        """Get a turn and the slot; the seconds to wait, or a failure if that takes too long."""
        exchange = self._exchange
        # Tracers miss the lines behind a cancellation, so two are not measured.
        if self._needs_turn:
            self._place.release()  # of a turn that has just gone
            if not self.is_nested and not self._place.acquire(exchange.time_left):
                return none_in_time("no turn at the gate", self._limiter.total)  # pragma: no cover
            wait = self._ask(TURNS_THREAD)
            if wait is not None:
                return wait
        if not self.acquire(exchange.time_left):
            return none_in_time("no free connection", self._limiter.total)  # pragma: no cover
        is_fresh = exchange.now() - self._asked_at <= _FRESH
        is_permitted = is_fresh and not self._needs_turn
        wait = None if is_permitted else self._ask(GATE_THREAD)
        if wait is None:
            self._turn_ends = -math.inf  # it is used
        return wait

    def leave_line(self) -> None:
        """Release the place, unless it is for a turn that is not over."""
        if not self.has_turn:
            self._place.release()

    def pause(self) -> None:
        """Let all calls of the gate wait, as a response asked."""
        exchange = self._exchange
        pause = partial(self._gate.pause, exchange.call, exchange.key, exchange.pause)
        what = f"{exchange.call.operation.full_name}: its gate could not begin a pause"
        work = only_warning(pause, what)
        run_blocking(work, LONGEST_END, None, thread=GATE_THREAD)

    def _ask(self, thread: str) -> Failure | float | None:
        """Ask the gate, also for a turn if there is none."""
        exchange, seconds = self._exchange, self._exchange.time_left
        # Not in the thread: a slow gate must not take the turn of a call that was in time.
        ask = self._reserve if self._reserve and not self.has_turn else self._gate.ask
        left = countdown(seconds)

        def answered() -> tuple[Failure | float | None, float]:
            return ask(exchange.call, exchange.key, left()), exchange.now()

        late = too_late("the gate took the whole timeout"), 0.0
        # A call that was cancelled before does not ask; afterwards, it leaves its turn unused.
        wait, at = run_blocking(answered, seconds, late, bool, thread)
        if isinstance(wait, Turn):
            self._turn_ends = at + wait + Turn.LASTS
        elif wait is not None:
            self._turn_ends = -math.inf
        if isinstance(wait, Failure) or (wait is not None and wait > 0):
            return wait
        self._asked_at = at
        return None
