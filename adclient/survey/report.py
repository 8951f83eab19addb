"""What the doctor reports: findings, and the code and the service file that follow from them."""

import os
from pathlib import Path
from typing import ClassVar

import attrs

from adclient._service.file import read_service, text_of
from adclient._service.model import Service, with_paths
from adclient._show.records import Table
from adclient._show.reports import ReportRecord, code
from adclient._values.jsontext import quoted
from adclient._values.text import NOTE
from adclient.conventions import Conventions
from adclient.errors import ConfigurationError
from adclient.survey.changes import changes_of
from adclient.survey.reading import Finding

_QUESTIONS = {
    "credentials": "How does a caller authenticate: with which scheme, in which header?",
    "read parameters": "Are the parameters of the GET operations read from the query or the body?",
    "objects": "How is `targeting` written in a query: as JSON, or with brackets?",
    "continuation": "In which parameter, and in which form, is `page.next` sent back?",
    "end of listing": "What does the last page of a listing have as `page.next`?",
    "request id": "Which header of a response has the id of the request?",
    "limits": "What are the rate limits, what do they apply to, and how is a request refused?",
}


@attrs.frozen(kw_only=True)
class Report(ReportRecord):
    """What the doctor found out about a service; `print` shows it on one screen.

    Attributes:
        service: What a service file holds: the address, the conventions, and what was seen.
        findings: One finding for each open point, and one for each read that differs.
        problems: What a client with these settings cannot read, or what is not certain to be
            right; each ends with what to do. Without any, a client has read everything that was
            tried.
        sent: How many requests were sent.
        requests: The requests, in order, with their outcomes. A request that was repeated after a
            temporary failure occurs once.
        example: The method and the account of a read that was accepted; None if there was none.
        path: The service file, if the report was saved.
        answered: The reads that the service accepted or refused, and `unknown_account` if it did
            so with an account that cannot exist. Nothing is known of others.

    Examples:
        >>> from adclient.doctor import examine
        >>> from adclient.testing import FakeAdService
        >>> fake = FakeAdService(page_size=5)
        >>> report = examine(fake.client(), account_id="account_b204")
        >>> print(report.code)
        from adclient import AdClient
        <BLANKLINE>
        client = AdClient.from_service("service.toml")
        page = client.beta.list_campaigns(account_id="account_b204")
        print(list(page.data))
        >>> report["continuation"].certainty, report.is_accepted
        ('observed', True)
        >>> report.exit_code, len(report.problems)  # it is an account of one platform only
        (1, 3)
        >>> report.base_url, report.account_ids
        ('https://fake.adclient.test', ('account_b204',))
    """

    service: Service
    findings: tuple[Finding, ...]
    problems: tuple[str, ...] = ()
    sent: int = 0
    requests: tuple[str, ...] = ()
    example: tuple[str, str] | None = None
    path: str | None = None
    answered: tuple[str, ...] = ()

    _json: ClassVar = (
        *("format_version", "base_url", "account_ids", "is_accepted", "problems", "findings"),
        *("service.conventions", "code", "sent", "requests"),
    )

    def __getitem__(self, point: str) -> Finding:
        """The finding on a point, for most reads."""
        return {finding.point: finding for finding in self.findings if finding.read is None}[point]

    @property
    def base_url(self) -> str:
        """The address of the service."""
        return self.service.url

    @property
    def account_ids(self) -> tuple[str, ...]:
        """The accounts that were examined."""
        return self.service.accounts

    @property
    def is_accepted(self) -> bool:
        """Whether any read was accepted; otherwise there is little to conclude from."""
        return self.example is not None

    @property
    def exit_code(self) -> int:
        """The exit code of a command that ends with this report.

        - 0: a client with these settings has read everything that was tried
        - 1: a problem is reported, or the examination ended early
        - 3: no read was accepted
        - 4: everything was read, but no listing has a second page, so it is not known how one
          continues
        """
        if not self.is_accepted:
            return 3
        if self.problems:
            return 1
        return 4 if self["continuation"].certainty == "not observed" else 0

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
            >>> report = examine(fake.client(), account_id="account_b204")
            >>> report.conventions() == Conventions(read_parameters="body")
            True
        """
        return self.service.conventions

    def save(self, path: str | os.PathLike[str], *, replace: bool = False) -> "Report":
        """Write a service file, for `AdClient.from_service` and `adclient --service`.

        It holds no secrets, and no texts of the service. It is written as a whole, or not at all.

        Args:
            path: The file.
            replace: Whether to replace a file that exists.

        Returns:
            The same report; its `code` uses the file.

        Raises:
            ConfigurationError: The file exists.
            OSError: The file cannot be written.

        Examples:
            >>> from adclient.doctor import examine
            >>> from adclient.testing import FakeAdService
            >>> fake = FakeAdService()
            >>> report = examine(fake.client(), account_id="account_b204")
            >>> saved = report.save("service.toml")
            >>> fake.client().from_service("service.toml", transport=fake.transport)
            <AdClient https://fake.adclient.test, credentials: none, timeout 30 s, max_retries 2>
        """
        target = Path(path)
        if target.exists() and not replace:
            raise ConfigurationError(f"{target} exists; pass replace=True", argument="path")
        part = Path(f"{target}.part")

        def from_folder(place: str) -> str:  # as a file in the folder names it on every system
            try:
                return Path(os.path.relpath(place, target.parent)).as_posix()
            except ValueError:  # on another drive of Windows
                return Path(place).absolute().as_posix()

        text = text_of(with_paths(self.service, from_folder))
        part.write_text(text, "utf-8", newline="\n")
        part.replace(target)
        return attrs.evolve(self, path=str(path))

    def changes(self, path: str | os.PathLike[str]) -> tuple[str, ...]:
        """Compare the service with an earlier service file.

        Settings, errors, and the names and types of fields are compared, but not the data. What
        was not observed this time counts as unchanged, and so does what the file allows, such as a
        field that was null at times and now never is.

        Args:
            path: The file.

        Returns:
            What changed since, one line for each change.

        Raises:
            ConfigurationError: The file cannot be read.

        Examples:
            >>> from adclient.doctor import examine
            >>> from adclient.testing import FakeAdService
            >>> fake = FakeAdService()
            >>> report = examine(fake.client(), account_id="account_b204")
            >>> report.save("service.toml").changes("service.toml")
            ()
        """
        return changes_of(read_service(path), self.service, self.answered)

    @property
    def code(self) -> str:
        """Code that makes a client from the saved file, and a first read."""
        file = "service.toml" if self.path is None else self.path
        lines = [
            "from adclient import AdClient",
            "",
            f"client = AdClient.from_service({quoted(file)})",
        ]
        if self.example is not None:
            name, account_id = self.example
            lines += [
                f"page = client.{name}(account_id={quoted(account_id)})",
                "print(list(page.data))",
            ]
        return "\n".join(lines)

    def _show(self) -> Table:
        rows = [
            {
                "certainty": found.certainty,
                "point": found.point,
                "conclusion": str(found),
                "observed": found.observed,
            }
            for found in self.findings
        ]
        # For the makers of the service: what is open, and what the findings are based on.
        questions = [
            f"{_QUESTIONS[found.point]} ({found.certainty}: {code(str(found))})"
            for found in self.findings
            if found.certainty != "observed" and found.point in _QUESTIONS
        ]
        plural = "s" * (self.sent != 1)
        hint = "# after: adclient doctor --save service.toml, or report.save(…)\n"
        return Table(
            f"{self.base_url}: {self.sent} read{plural}, no write",
            rows,
            len(rows),
            [f"of {', '.join(self.account_ids)}"],
            [f"problem: {each}" for each in self.problems],
            limit=NOTE,
            lead=2,
            wide=("observed",),
            code=hint * (self.path is None) + self.code if self.is_accepted else "",
            details={
                "Questions": questions,
                f"The {self.sent} request{plural}, all of them reads": [*map(code, self.requests)],
            },
        )
