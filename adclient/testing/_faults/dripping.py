"""An answer whose body comes little by little."""

import attrs

from adclient._core.response import Failure, RawResponse


@attrs.frozen(kw_only=True)
class DrippingReply(RawResponse):
    """An answer whose body takes `seconds` to come."""

    seconds: float

    @classmethod
    def of(cls, reply: RawResponse, seconds: float) -> "DrippingReply":
        """An answer, but little by little."""
        return cls(**attrs.asdict(reply, recurse=False), seconds=seconds)

    def within(self, time_left: float | None) -> "DrippingReply":
        """What a client gets of it that waits no longer; None for one that waits for ever."""
        if time_left is None or self.seconds < time_left:
            return self
        come = int(len(self.body) * time_left / self.seconds)
        late = Failure(reason="no more of the body in time", sent=True, timed_out=True)
        return attrs.evolve(self, body=self.body[:come], broken=late)
