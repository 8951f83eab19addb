"""One run of the checks: its accounts, and what was found."""

from collections.abc import Mapping

import attrs

from adclient._values.redact import one_line
from adclient.extend import Operation
from adclient.models import JSON
from adclient.survey.checks import Verdict
from adclient.survey.observation import Observation, Probe
from adclient.survey.session import Session, StoppedError

Arguments = Mapping[str, JSON]
# The name of a check, whether it passed or another verdict, and what was received.
Found = tuple[str, bool | Verdict, str]


class UnsentError(Exception):
    """The client sent nothing, such as a call that its policy refuses."""


@attrs.define(eq=False, repr=False)
class Run:
    """The accounts and the results of one run.

    `accepted` are the platforms and accounts of which a read was, and `refused` the reads that
    accepted no account. `reasons` say why checks of an operation were not run.
    """

    session: Session
    accounts: tuple[str, ...]
    staging: tuple[str, ...]
    given: Mapping[str, Arguments]
    draft_ids: list[JSON] = attrs.Factory(list[JSON])
    accepted: set[tuple[str, str]] = attrs.Factory(set[tuple[str, str]])
    refused: dict[Operation, Observation] = attrs.Factory(dict[Operation, Observation])
    reasons: dict[str, str] = attrs.Factory(dict[str, str])
    results: dict[tuple[str, str], tuple[Verdict, str]] = attrs.Factory(
        dict[tuple[str, str], tuple[Verdict, str]]
    )

    def note(self, operation: Operation, found: Found) -> None:
        """Keep the result of a check."""
        name, verdict, seen = found
        if isinstance(verdict, bool):
            verdict = "passed" if verdict else "failed"
        self.results[operation.full_name, name] = verdict, self.redact(seen)

    def redact(self, text: str) -> str:
        """A text without the credentials that were sent, as one line."""
        return one_line(self.session.redact(text))

    def ask(
        self,
        operation: Operation,
        arguments: Arguments,
        cursor: JSON = None,
        *,
        path: str | None = None,
    ) -> Observation:
        """Make a call with any arguments, or to another path, as the client does."""
        seen = self.session.ask(
            Probe(
                operation=operation, arguments=arguments, cursor=cursor, as_client=True, path=path
            )
        )
        if not seen.is_sent:
            raise UnsentError(seen.text.removeprefix("not sent: "))
        if seen.status == 429:
            raise StoppedError(f"{self.redact(seen.text)}; run it again later")
        return seen
