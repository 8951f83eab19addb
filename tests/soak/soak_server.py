"""The faulty fake of the soak test over HTTP, which records the caller of each draft."""

from multiprocessing.connection import Connection
from threading import Lock

from adclient import Conventions, Request
from adclient._core.response import Outcome
from adclient.testing import FakeAdService, Fault
from adclient.testing.server import serving

CALLER = "x-soak-caller"
KEYED = Conventions(idempotency_header="Idempotency-Key")
SHARE = 0.01
# Writes that a careless client would send twice; frequent enough for a short run.
LOST = Fault.dropped(taken=True)
SOON = {"Retry-After": "0.05"}

IN_BODY = (
    "cut stalled wrong_length broken_gzip not_json not_utf8 wrong_shape error_object "
    "duplicate_keys wrong_content_type"
)
IN_PAGE = "same_next foreign_next next_missing page_missing data_missing"
FAULTS = [
    *(Fault.refused(), Fault.dropped(), Fault.no_response(), Fault.no_response(taken=True)),
    *(Fault.slow(0.2), Fault.slow(60), Fault.slow_body(0.2), Fault.slow_body(60)),
    *(Fault.status(status, headers=SOON) for status in (429, 503)),
    *(Fault.status(status, taken=True) for status in (500, 503)),
    *(Fault.redirect(status=status) for status in (302, 307)),
    *(Fault.status(502), Fault.response(b"", status=201)),
    *map(Fault.in_body, IN_BODY.split()),
    *map(Fault.in_page, IN_PAGE.split()),
]


class BookedService(FakeAdService):
    """A fake that records the call of each draft, which each request names in a header."""

    def __init__(self, seed: str, conventions: Conventions) -> None:
        super().__init__(seed=seed, conventions=conventions, history=1_000)
        self._booking = Lock()
        self._callers: list[int] = []
        for fault in FAULTS:
            self.faults.at_random(fault, share=SHARE)
        self.faults.at_random(LOST, share=SHARE * 10)
        self.faults.at_random(Fault.in_body("huge"), share=SHARE / 10)

    def handle_untimed(self, request: Request) -> tuple[Outcome, float]:
        """Handle a request, and record the caller of its draft if there is one."""
        with self._booking:
            before = self.dashboard.waiting
            answer = super().handle_untimed(request)
            staged = self.dashboard.waiting - before
            self._callers += [int(request.headers[CALLER])] * staged
            return answer

    def close_books(self) -> list[tuple[int, str, object]]:
        """Return the caller, id and diff of each draft since the last call, and reject them."""
        with self._booking:
            drafts, callers = self.dashboard.pending(), self._callers
            self._callers = []
            for draft in drafts:
                self.dashboard.reject(draft.draft_id, reviewer="Ines")
            return [
                (caller, draft.draft_id, draft.diff.to_dict())
                for caller, draft in zip(callers, drafts, strict=True)
            ]


def serve(seed: str, keyed: bool, soak: Connection) -> None:
    """Serve in a process of its own: send the address, and for each message the new drafts."""
    fake = BookedService(seed, KEYED if keyed else Conventions())
    with serving(fake) as url:
        soak.send(url)
        while True:
            soak.recv()
            soak.send(fake.close_books())
