# Generated from ../_async by tools/make_twin.py: change it there.
"""The engine: it does what an exchange asks for, and decides nothing."""

from typing import TypeVar

import attrs

from adclient._sync.page import Page
from adclient._sync.page import Source
from adclient._core.auth import Credentials, Grant, bearer, granted
from adclient._core.call import Send, Sleep, World, exchange
from adclient._core.operations import Call, Listing, Operation
from adclient._core.pause import Pauses
from adclient._core.request import Request, validated
from adclient._core.response import Failure, Outcome, told
from adclient._http.connections import Connections
from adclient._http.clock import within
from adclient._tracebacks import forget_frames
from adclient.errors import AdClientError, ConfigurationError
from adclient.models import JSON, Draft, Result
from adclient.options import Options

R = TypeVar("R", bound=Result)
T = TypeVar("T")


@attrs.define
class Engine:
    """Sends the calls of one client over its connections.

    A copy made by `with_options` shares the connections and does not own them.
    """

    options: Options
    credentials: Credentials
    connections: Connections
    world: World
    pauses: Pauses = attrs.field(factory=Pauses)
    owns_connections: bool = True
    is_closed: bool = False

    def stage(self, operation: Operation[Draft], **arguments: object) -> Draft:
        """Stage a draft."""
        try:
            return self.run(validated(Call(operation, arguments)))
        except AdClientError as error:
            forget_frames(error)
            raise

    def read(
        self, operation: Operation[Listing[T]], *, cursor: JSON, **arguments: object
    ) -> Page[T]:
        """Read a listing."""
        try:
            call = validated(Call(operation, arguments, cursor))
            return Source(self, call).page(call.cursor)
        except AdClientError as error:
            forget_frames(error)
            raise

    def run(self, call: Call[R]) -> R:
        """See one call through."""
        steps = exchange(call, self.options, self.world, self.pauses)
        answer: Outcome | None = None
        while True:
            try:
                step = steps.send(answer)
            except StopIteration as done:
                value: R = done.value
                return value
            try:
                answer = self._taken(step)
            except BaseException as error:
                # The exchange knows whether an earlier attempt may have staged a draft, and tells
                # those who watch that the call is over.
                steps.throw(error)

    def close(self) -> None:
        """Close the connections, if they are this engine's own."""
        self.is_closed = True
        if self.owns_connections:
            self.connections.close()

    def with_options(self, options: Options) -> "Engine":
        """An engine with other options and the same connections."""
        return attrs.evolve(self, options=options, owns_connections=False)

    def check_open(self) -> None:
        """Refuse to go on after the client was closed."""
        if self.is_closed or self.connections.is_closed:
            raise ConfigurationError("this client is closed; make another one")

    def _taken(self, step: Send | Sleep) -> Outcome | None:
        if isinstance(step, Send):
            return self._sent(step)
        self.world.sleep(step.seconds)
        return None

    def _sent(self, step: Send) -> Outcome | None:
        self.check_open()
        grant, time_left = self.credentials.fixed, step.time_left
        if grant is None:
            began = self.world.now()
            grant = self._asked_for(step)
            time_left -= self.world.now() - began
        if grant is None or time_left <= 0:
            took_it = "waiting" if self.credentials.kind == "none" else "the credentials"
            return Failure(reason=f"{took_it} took all the time", sent=False, timed_out=True)
        request, secrets = grant.signed(step.request), grant.secrets
        outcome = self.connections.send(request, time_left, secrets, step.turn)
        return None if outcome is None else told(outcome, secrets)

    def _asked_for(self, step: Send) -> Grant | None:
        """Fresh credentials; the time that they take counts."""
        try:
            return within(step.time_left, self._grant, step.request)
        except ConfigurationError as refused:
            # A traceback may show the locals, and below here they hold what was refused.
            raise refused.with_traceback(None) from None

    def _grant(self, request: Request) -> Grant:
        if self.credentials.auth is not None:
            headers = self.credentials.auth(request)
            return granted(headers)
        token = self.credentials.token
        text = token() if callable(token) else token
        return bearer(text)
