"""A response whose body arrives slowly."""

import attrs

from adclient._core.response import Failure, RawResponse


@attrs.frozen(kw_only=True)
class SlowBodyResponse(RawResponse):
    """A response whose body takes `seconds` to arrive."""

    seconds: float

    @classmethod
    def of(cls, response: RawResponse, seconds: float) -> "SlowBodyResponse":
        """The same response with a slow body."""
        return cls(**attrs.asdict(response, recurse=False), seconds=seconds)

    def within(self, time_left: float | None) -> "SlowBodyResponse":
        """What of it reaches a client that waits for some seconds; None for one that waits on."""
        if time_left is None or self.seconds < time_left:
            return self
        received = int(len(self.body) * time_left / self.seconds)
        late = Failure(reason="no more of the body in time", sent=True, timed_out=True)
        return attrs.evolve(self, body=self.body[:received], broken=late)
