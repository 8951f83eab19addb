"""The fake behind a job: it judges each request, and lets faults meet some."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Literal, Protocol

import attrs

from adclient.conventions import Conventions
from adclient.errors import InvalidRequest
from adclient.extend import Call, Outcome, RawResponse, Request, validated
from adclient.ledger.entry import Entry
from adclient.policy import Policy, Usage, rules
from adclient.testing._accounts.account import FakeAccount
from adclient.testing._faults.fault import Fault
from adclient.testing._http.requests import operation_at, parsed
from adclient.testing._http.responses import HTTPError
from adclient.testing._profile import Profile
from adclient.testing._service import FakeAdService
from adclient.testing.properties._ledger import MemoryLedger


class Printer(Protocol):
    """What Hypothesis and IPython print values with."""

    def text(self, text: str) -> None:
        """Print a text."""
        ...


@attrs.frozen(repr=False)
class JobCall:
    """A call of the job, in which one of its requests may meet a fault, or kill its process.

    If the fault `lasts`, all later requests of this call and of the same kind meet it, too.
    """

    fault: Fault | None = None
    kind: Literal["read", "write"] = "write"
    number: int = 1
    lasts: bool = False
    is_killed: bool = False

    def __repr__(self) -> str:
        if self.fault is None:
            return "call the job"
        how = "kill it after" if self.is_killed else "with"
        later = " and later ones" if self.lasts else ""
        return f"call the job, {how} {self.fault!r} at {self.kind} {self.number}{later}"

    def _repr_pretty_(self, printer: Printer, _: bool) -> None:
        printer.text(repr(self))  # otherwise Hypothesis shows all fields


class Killed(BaseException):
    """The process of the job has ended, which nothing in it can catch."""


@attrs.frozen
class Write:
    """A write that has staged a draft; `key` is equal for equal writes."""

    draft_id: str
    entry: Entry
    key: str

    def __str__(self) -> str:
        entry = self.entry
        return f"{self.draft_id} ({entry.operation}, {json.dumps(entry.arguments, default=str)})"


def key_of(entry: Entry) -> str:
    """The same text for writes with the same operation and arguments."""
    return entry.operation + json.dumps(entry.arguments, sort_keys=True, default=str)


class WatchedService(FakeAdService):
    """A fake with the ledger of a job, which compares what it receives with that and a policy."""

    def __init__(
        self,
        accounts: Sequence[FakeAccount],
        profile: Profile,
        conventions: Conventions | None,
        policy: Policy,
    ) -> None:
        super().__init__(accounts=accounts, profile=profile, conventions=conventions)
        self.ledger = MemoryLedger(self.clock.now)
        self.writes: list[Write] = []
        self.problems: list[str] = []
        self.is_killed: bool = False
        self.has_accepted: bool = False
        self._policy = policy
        self.begin(JobCall())

    def begin(self, call: JobCall) -> None:
        """Begin a call of the job, in a process that lives."""
        self.is_killed = self.ledger.is_dead = False
        self.ledger.read.clear()
        self.faults.clear()
        self._call, self._numbers = call, Counter[str]()
        self._earlier = {entry.entry_id for entry in self.ledger.latest}

    def handle(self, request: Request, time_left: float | None = None) -> Outcome:
        """Handle one request of the job, and judge it."""
        with self._server.lock:
            if self.is_killed:
                raise Killed
            call, operation = self._call, operation_at(request, self.base_url)
            kind = "write" if operation is not None and operation.is_write else "read"
            self._numbers[kind] += 1
            number = self._numbers[kind]
            is_met = kind == call.kind and (
                number >= call.number if call.lasts else number == call.number
            )
            if is_met and call.fault is not None:
                self.faults.add(call.fault)
            staged = self._server.drafts.staged
            outcome = super().handle(request, time_left)
            self.has_accepted |= isinstance(outcome, RawResponse) and outcome.is_success
            self.problems += self._problems(request, self._server.drafts.staged > staged)
            if is_met and call.is_killed:
                self.is_killed = self.ledger.is_dead = True
                raise Killed
            return outcome

    def unrecorded(self) -> Write | None:
        """The first write that has staged a draft and no entry in the ledger."""
        known = {entry.draft_id for entry in self.ledger.latest}
        unknown = Counter(
            key_of(entry)
            for entry in self.ledger.latest
            if entry.is_unknown and entry.draft_id is None
        )
        for write in self.writes:
            if write.draft_id not in known:
                unknown[write.key] -= 1
                if unknown[write.key] < 0:
                    return write
        return None

    def ended_unknown(self) -> Iterator[Entry]:
        """The writes of this call whose outcome is unknown, and that the job has not read of."""
        known = self._earlier | self.ledger.read
        for entry in self.ledger.latest:
            if entry.state == "unknown" and entry.entry_id not in known:
                yield entry

    def draft_of(self, unknown: Entry) -> str | None:
        """The draft that a write of unknown outcome has staged; None if it has staged none."""
        known = {entry.draft_id for entry in self.ledger.latest}
        key = key_of(unknown)
        lost = (w.draft_id for w in self.writes if w.key == key and w.draft_id not in known)
        return unknown.draft_id or next(lost, None)

    def _problems(self, request: Request, is_staged: bool) -> Iterator[str]:
        """What a request violates, in words."""
        try:
            asked = parsed(request, self.base_url, self._server.service, self._server.profile)
            names = [parameter.name for parameter in asked.operation.parameters]
            call = validated(asked.operation, {name: asked.arguments.get(name) for name in names})
        except (HTTPError, InvalidRequest):
            return  # the service refuses it, too
        name, refusal = call.operation.full_name, rules.refusal_of(self._policy, call)
        if is_staged:
            write = self._staged(call)
            for entry in self.ledger.latest:
                is_open = entry.is_unknown and not self._is_under_way(entry)
                if is_open and key_of(entry) == write.key and (first := self.draft_of(entry)):
                    yield f"{write} was staged twice: the outcome of {first} was unknown"
            usage = self._usage(write)
            refusal = refusal or rules.refusal_of_usage(self._policy, write.entry, usage)
            self.writes.append(write)
        if refusal is not None and refusal.rule == "accounts":
            yield f"{name} names an account that is not pinned: {refusal.reason}"
        elif refusal is not None:
            yield f"{name} exceeds the cap {refusal.rule}: {refusal.reason}"

    def _staged(self, call: Call) -> Write:
        """The write of the newest draft."""
        entry = Entry(
            entry_id="",
            at=self.clock.now(),
            operation=call.operation.full_name,
            account_id=call.account_id,
            arguments=rules.arguments_of(call),
        )
        key = key_of(entry)
        # The day on which the ledger counts a draft is that of its reservation.
        entries = (e for e in self.ledger.latest if self._is_under_way(e))
        entry = next((e for e in entries if key_of(e) == key), entry)
        return Write(self.drafts[-1].draft_id, entry, key)

    def _is_under_way(self, entry: Entry) -> bool:
        return entry.state == "under way" and entry.entry_id not in self._earlier

    def _usage(self, write: Write) -> Usage:
        """What a ledger that knows the outcome of each write would contain before this one.

        `change_at_most` needs no usage: nobody can judge a draft before it is staged.
        """
        entry = write.entry
        today = [w.entry for w in self.writes if w.entry.at.date() == entry.at.date()]

        def repeated(seconds: float) -> str | None:
            since = entry.at - timedelta(seconds=seconds)
            equal = (w for w in self.writes if w.key == write.key and w.entry.at >= since)
            return next((f"draft {w.draft_id} is equal" for w in equal), None)

        return Usage(
            drafts_today=len(today),
            drafts_of_account=lambda: sum(e.account_id == entry.account_id for e in today),
            repeated=repeated,
        )
