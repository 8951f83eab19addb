"""The report on a run: as text, JSON and Markdown."""

from collections import Counter

import attrs

from adclient._values.to_json import ToJSON
from adclient.models import JSON
from adclient.survey.checks import ConformCheck, ConformResult, Verdict
from adclient.survey.observation import READS
from adclient.survey.text import cell, span, wrapped

FORMAT_VERSION = "1.0"
_VERDICTS: tuple[Verdict, ...] = ("failed", "open", "not run", "passed")


@attrs.frozen(kw_only=True)
class ConformReport(ToJSON):
    """What the checks of a service found; `print` shows all but what passed.

    `report[check]` is the result of a check.

    Attributes:
        base_url: The address of the service.
        results: One result for each of `CHECKS`, in their order.
        sent: How many requests were sent.
        staged_in: The accounts in which drafts could be staged; empty if nothing was written.
        stopped: Why the run ended early; None if it did not.

    Examples:
        >>> from adclient.conform import CHECKS, conform
        >>> from adclient.testing import FakeAdService
        >>> report = conform(FakeAdService().client(), account_id="account_b204")
        >>> report.failed, report.exit_code
        ((), 3)
        >>> report[CHECKS[0]].verdict
        'not run'
    """

    base_url: str
    results: tuple[ConformResult, ...]
    sent: int
    staged_in: tuple[str, ...] = ()
    stopped: str | None = None

    def __getitem__(self, check: ConformCheck) -> ConformResult:
        return {each.check: each for each in self.results}[check]

    @property
    def failed(self) -> tuple[ConformResult, ...]:
        """The results of the checks that failed."""
        return tuple(each for each in self.results if each.verdict == "failed")

    @property
    def exit_code(self) -> int:
        """The exit code of a command that ends with this report.

        - 0: no check failed, and every operation that was to be checked accepted a request
        - 1: a check failed, or the run ended early
        - 3: no check failed, but an operation accepted no request, so little is known of it
        """
        if self.failed or self.stopped is not None:
            return 1
        for check, verdict in ((each.check, each.verdict) for each in self.results):
            is_asked = bool(self.staged_in) or check.operation in READS
            if is_asked and check.name == "HTTP status" and verdict in ("open", "not run"):
                return 3
        return 0

    def to_dict(self) -> dict[str, JSON]:
        """Convert the report to JSON values.

        Returns:
            A dictionary with the results, their counts, the exit code and a `format_version`.

        Examples:
            >>> from adclient.conform import conform
            >>> from adclient.testing import FakeAdService
            >>> report = conform(FakeAdService().client(), account_id="account_b204")
            >>> report.to_dict()["results"][0]["operation"]
            'alpha.update_campaign_targeting'
        """
        return {
            "format_version": FORMAT_VERSION,
            "base_url": self.base_url,
            "exit_code": self.exit_code,
            "sent": self.sent,
            "staged_in": list(self.staged_in),
            "stopped": self.stopped,
            "counts": {name.replace(" ", "_"): count for name, count in self._counts.items()},
            "results": [
                {**attrs.asdict(each.check), "verdict": each.verdict, "seen": each.seen}
                for each in self.results
            ],
        }

    @property
    def _counts(self) -> dict[str, int]:
        found = Counter(each.verdict for each in self.results)
        return {verdict: found[verdict] for verdict in _VERDICTS}

    def __str__(self) -> str:
        """The counts, what failed or is open, and why the others were not run."""
        alike: dict[tuple[Verdict, str], list[str]] = {}  # what is told once, of which operations
        for verdict in _VERDICTS[:3]:
            for each in self.results:
                if each.verdict == verdict:
                    what = each.seen if verdict == "not run" else str(each).partition(": ")[2]
                    alike.setdefault((verdict, what), []).append(each.check.operation)
        lines: list[str] = []
        for (verdict, what), names in alike.items():
            first, *others = dict.fromkeys(names)
            shown = f"{first} and {len(others)} other{'s' * (len(others) > 1)}" if others else first
            checks = f"{len(names)} checks of " * (verdict == "not run")
            lines.append(f"  {verdict:<9}{checks}{shown}: {what}")
        where = f"drafts in {', '.join(self.staged_in)}" if self.staged_in else "no write"
        title = f"{self.base_url}: {self.sent} requests, {where}"
        return "\n".join([title, self._summary, "", *wrapped(lines, 13)])

    def markdown(self) -> str:
        """Format the report for an issue or a pull request, what failed first.

        Returns:
            Markdown. What the service sent is formatted as code.

        Examples:
            >>> from adclient.conform import conform
            >>> from adclient.testing import FakeAdService
            >>> report = conform(FakeAdService().client(), account_id="account_b204")
            >>> print(report.markdown().splitlines()[4])
            | verdict | operation | check | section | expected | received |
        """
        rows = [
            f"| {verdict} | {check.operation} | {check.name} | {check.section} "
            f"| {cell(check.expected)} | {cell(each.seen)} |"
            for verdict in _VERDICTS
            for each in self.results
            if each.verdict == verdict
            for check in [each.check]
        ]
        header = ["| verdict | operation | check | section | expected | received |"]
        lines = [f"### {span(self.base_url)}", "", self._summary, "", *header]
        return "\n".join([*lines, "|---|---|---|---|---|---|", *rows])

    @property
    def _summary(self) -> str:
        counts = ", ".join(f"{count} {verdict}" for verdict, count in self._counts.items())
        return counts if self.stopped is None else f"{counts}; ended early: {self.stopped}"
