"""What the doctor reports: findings, and the code that follows from them."""

from collections.abc import Callable, Mapping
from textwrap import fill
from typing import Any, Literal

import attrs

from adclient.conventions import Conventions
from adclient.models import JSON

Certainty = Literal["observed", "likely", "not observed"]
Setting = str | bool | tuple[str, ...] | type[dict[str, JSON]]

FORMAT_VERSION = "1.0"
_COLUMNS = 100


@attrs.frozen(kw_only=True)
class Finding:
    """One open point of the interface, and what was found out about it.

    Attributes:
        point: The open point, such as `"read parameters"`.
        conclusion: What follows from the observation.
        observed: What was observed, in words.
        certainty: `"observed"` if the observation has only one explanation, `"likely"` if it has
            others, and `"not observed"` if there was nothing to conclude from.
        settings: The settings of `Conventions` that follow, without those that are the default.

    Examples:
        >>> from adclient.doctor import examine
        >>> from adclient.testing import FakeAdService
        >>> fake = FakeAdService()
        >>> report = examine(fake.base_url, account_id="account_b204", transport=fake.transport)
        >>> report["read parameters"].conclusion
        'in the query'
    """

    point: str
    conclusion: str
    observed: str = ""
    certainty: Certainty = "observed"
    settings: Mapping[str, Setting] = attrs.field(factory=dict[str, Setting], hash=False)


def not_observed(point: str, conclusion: str, observed: str = "") -> Finding:
    """The finding on a point of which nothing follows."""
    return Finding(point=point, conclusion=conclusion, observed=observed, certainty="not observed")


@attrs.frozen(kw_only=True)
class Report:
    """What the doctor found out about a service; `print` shows it on one screen.

    Attributes:
        base_url: The address of the service.
        account_ids: The accounts that were examined.
        findings: One finding for each open point; `report["errors"]` is the one on errors.
        problems: What will fail in a client, and why the examination ended early, if it did.
        classes: For each read, the source of an attrs class for `typed()` with the fields that the
            interface does not name.
        sent: How many requests were sent.
        requests: The requests, in order, with their outcomes. A request that was repeated after a
            temporary failure occurs once.
        example: The method and the account of a read that was accepted; None if there was none.
        arguments: Further arguments of the client in `code`: names and Python expressions.

    Examples:
        >>> from adclient.doctor import examine
        >>> from adclient.testing import FakeAdService
        >>> fake = FakeAdService(page_size=5)
        >>> report = examine(fake.base_url, account_id="account_b204", transport=fake.transport)
        >>> print(report.code)
        from adclient import AdClient
        <BLANKLINE>
        client = AdClient(
            "https://fake.adclient.test",
            transport=transport,
        )
        page = client.beta.list_campaigns(account_id="account_b204")
        print(list(page.data))
        >>> report["continuation"].certainty, report.is_accepted
        ('observed', True)
    """

    base_url: str
    account_ids: tuple[str, ...]
    findings: tuple[Finding, ...]
    problems: tuple[str, ...] = ()
    classes: Mapping[str, str] = attrs.field(factory=dict[str, str], hash=False)
    sent: int = 0
    requests: tuple[str, ...] = ()
    example: tuple[str, str] | None = None
    arguments: Mapping[str, str] = attrs.field(factory=dict[str, str], hash=False)

    def __getitem__(self, point: str) -> Finding:
        """The finding on a point."""
        return {finding.point: finding for finding in self.findings}[point]

    @property
    def is_accepted(self) -> bool:
        """Whether any read was accepted; otherwise there is little to conclude from."""
        return self.example is not None

    def conventions(self) -> Conventions:
        """Make the conventions that follow from the findings.

        Returns:
            The conventions for a client of this service. A point that was not observed keeps its
                default.

        Examples:
            >>> from adclient import Conventions
            >>> from adclient.doctor import examine
            >>> from adclient.testing import FakeAdService
            >>> fake = FakeAdService(conventions=Conventions(read_parameters="body"))
            >>> report = examine(fake.base_url, account_id="account_b204", transport=fake.transport)
            >>> report.conventions() == Conventions(read_parameters="body")
            True
        """
        found: dict[str, Any] = {}
        for finding in self.findings:
            found.update(finding.settings)
        return attrs.evolve(Conventions(), **found)

    @property
    def code(self) -> str:
        """Code that makes a client with these settings, and a first read."""
        settings = [f"{name}={text}," for name, text in self.arguments.items()]
        found = [
            f"{name}={quoted(value)},{'  # likely' * (finding.certainty == 'likely')}"
            for finding in self.findings
            for name, value in finding.settings.items()
        ]
        if found:
            settings += ["conventions=Conventions(", *(f"    {line}" for line in found), "),"]
        lines = ["import os", ""] if "os.environ[" in str(self.arguments) else []
        lines += [f"from adclient import AdClient{', Conventions' * bool(found)}", ""]
        url = quoted(self.base_url)
        if settings:
            settings = [f"    {line}" for line in (f"{url},", *settings)]
            lines += ["client = AdClient(", *settings, ")"]
        else:
            lines += [f"client = AdClient({url})"]
        if self.example is not None:
            name, account_id = self.example
            lines += [
                f"page = client.{name}(account_id={quoted(account_id)})",
                "print(list(page.data))",
            ]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, JSON]:
        """Convert the report to JSON values.

        Returns:
            A dictionary with the findings, the settings, the code and a `format_version`.

        Examples:
            >>> from adclient.doctor import examine
            >>> from adclient.testing import FakeAdService
            >>> fake = FakeAdService()
            >>> report = examine(fake.base_url, account_id="account_b204", transport=fake.transport)
            >>> report.to_dict()["findings"][0]["point"]
            'service'
        """
        conventions = attrs.asdict(self.conventions())
        return {
            "format_version": FORMAT_VERSION,
            "base_url": self.base_url,
            "account_ids": list(self.account_ids),
            "is_accepted": self.is_accepted,
            "problems": list(self.problems),
            "findings": [
                {
                    "point": finding.point,
                    "observed": finding.observed,
                    "conclusion": finding.conclusion,
                    "certainty": finding.certainty,
                    "settings": {name: _plain(value) for name, value in finding.settings.items()},
                }
                for finding in self.findings
            ],
            "conventions": {name: _plain(value) for name, value in conventions.items()},
            "code": self.code,
            "classes": dict(self.classes),
            "sent": self.sent,
            "requests": list(self.requests),
        }

    def __str__(self) -> str:
        """One screen: the conclusions, the problems, and the code."""
        return self._text(
            [
                fill(
                    f"  {found.certainty:<12}  {found.point:<15}  {found.conclusion}",
                    width=_COLUMNS,
                    subsequent_indent=" " * 33,
                )
                for found in self.findings
            ]
        )

    def details(self) -> str:
        """Format the whole report, with the observations, the attrs classes and the requests.

        Returns:
            Text of a few screens.

        Examples:
            >>> from adclient.doctor import examine
            >>> from adclient.testing import FakeAdService
            >>> fake = FakeAdService()
            >>> report = examine(fake.base_url, account_id="account_b204", transport=fake.transport)
            >>> "class MyCampaign(Campaign):" in report.details()
            True
        """
        rows: list[str] = []
        for finding in self.findings:
            rows.append(f"  {finding.certainty:<12}  {finding.point}: {finding.conclusion}")
            rows += [f"  {'':<12}  {finding.observed}"] * bool(finding.observed)
        requests = [f"  {number:>2}. {line}" for number, line in enumerate(self.requests, 1)]
        return "\n\n".join(
            [self._text(rows), *self.classes.values(), "\n".join(["Requests", *requests])]
        )

    def _text(self, rows: list[str]) -> str:
        title = f"{self.base_url}: {self.sent} reads, no write"
        accounts = fill(f"of {', '.join(self.account_ids)}", width=_COLUMNS)
        parts = ["\n".join([title, accounts, "", *rows])]
        if self.problems:
            problems = [
                fill(f"  {problem}", width=_COLUMNS, subsequent_indent="    ")
                for problem in self.problems
            ]
            parts.append("\n".join(["Problems", *problems]))
        return "\n\n".join([*parts, *([self.code] if self.is_accepted else [])])


def mapped(report: Report, change: Callable[[str], str]) -> Report:
    """The report with every text of the service changed, such as by a redactor."""

    def changed(value: Setting) -> Setting:
        if isinstance(value, tuple):
            return tuple(map(change, value))
        return change(value) if isinstance(value, str) else value

    findings = tuple(
        attrs.evolve(
            finding,
            conclusion=change(finding.conclusion),
            observed=change(finding.observed),
            settings={name: changed(value) for name, value in finding.settings.items()},
        )
        for finding in report.findings
    )
    return attrs.evolve(
        report,
        findings=findings,
        problems=tuple(map(change, report.problems)),
        classes={name: change(source) for name, source in report.classes.items()},
        requests=tuple(map(change, report.requests)),
    )


def quoted(value: Setting) -> str:
    """A value as Python code, with the quotes of this project."""
    if isinstance(value, tuple):
        return f"({', '.join(map(quoted, value))},)"
    if isinstance(value, type):
        return value.__name__
    text = repr(value)
    return f'"{text[1:-1]}"' if text.startswith("'") and '"' not in text else text


def _plain(value: JSON | Setting) -> JSON:
    if isinstance(value, type):
        return value.__name__
    return list(value) if isinstance(value, tuple) else value
