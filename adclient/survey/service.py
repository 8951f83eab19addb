"""The report and the service file that follow from an examination."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, cast

import attrs

from adclient._core.response import problem_of
from adclient._service.model import (
    AuthShape,
    Certainty,
    ErrorShape,
    Listing,
    Service,
    variable_for,
)
from adclient._values.jsontext import JSONError, dumps, loads
from adclient._values.redact import looks_secret, one_line
from adclient.conventions import Conventions, ReadConventions
from adclient.extend import RawResponse
from adclient.models import JSON
from adclient.survey.examination import Examination, Reading
from adclient.survey.finding import Finding, mapped
from adclient.survey.findings import findings_of, refused_of
from adclient.survey.observation import Observation
from adclient.survey.problems import problems_of
from adclient.survey.report import Report
from adclient.survey.samples import Received, described

_OTHER_TEXT = "…"
_LONGEST = 5000  # text of a line
_FIELD = re.compile(r"[A-Za-z_$@][A-Za-z_$@. -]{0,39}")  # others may be data, such as an account


def report_of(
    found: Examination,
    service: Service,
    redact: Callable[[str], str],
    *,
    limited: RawResponse | None,
    keep_texts: bool,
    sent: int,
    arguments: Mapping[str, str],
) -> Report:
    """The report on what was observed so far of a service, without secrets."""
    findings = findings_of(found, limited)
    conventions = _conventions_of(findings)
    problems = [*problems_of(found, conventions)]
    findings = tuple(_redacted(finding, redact) for finding in findings)
    if _conventions_of(findings) != conventions:
        problems.append("a setting contains the secret, and is hidden; set it yourself")
    accepted = found.accepted
    example = None if found.base is None else found.base.first.probe
    settings = attrs.evolve(
        service,
        conventions=_conventions_of(findings),
        certainty=_certainty_of(findings),
        errors=mapped(_errors(found, keep_texts=keep_texts), redact),
    )
    known = service_of(
        settings, {each.name: _received(each) for each in accepted}, keep_texts=keep_texts
    )
    listings = {name: mapped(listing, redact) for name, listing in known.listings.items()}
    return Report(
        service=attrs.evolve(known, listings=listings),
        findings=findings,
        problems=tuple(one_line(redact(each), _LONGEST) for each in problems),
        sent=sent,
        requests=tuple(
            one_line(redact(f"{seen.probe}: {seen}"), _LONGEST) for seen in found.observations
        ),
        example=None if example is None else (example.operation.full_name, example.account_id),
        arguments=arguments,
        answered=(*_answered(found),),
    )


def _answered(found: Examination) -> Iterator[str]:
    """The reads that were accepted or refused for certain, and `unknown_account` if one was."""
    for reading in found.readings.values():
        if reading.pages or _is_refused(found, reading.first):
            yield reading.name
    unknown = None if found.base is None else found.base.unknown
    if unknown is not None and (unknown.page is not None or _is_refused(found, unknown)):
        yield "unknown_account"


def _is_refused(found: Examination, seen: Observation) -> bool:
    return seen.is_refused and found.is_accepted_after(seen)


def _redacted(finding: Finding, redact: Callable[[str], str]) -> Finding:
    settings = dict(finding.settings)
    for name in ("cursor_parameter", "request_id_headers"):  # which are words of the service
        if name in settings:
            settings[name] = mapped(settings[name], redact)
    # A terminal obeys what a name of the service may contain.
    conclusion = one_line(redact(finding.conclusion), _LONGEST)
    observed = one_line(redact(finding.observed), _LONGEST)
    return attrs.evolve(finding, conclusion=conclusion, observed=observed, settings=settings)


def _conventions_of(findings: Iterable[Finding]) -> Conventions:
    """The conventions that follow from findings."""
    common: dict[str, Any] = {}
    reads: dict[str, dict[str, Any]] = {}
    for finding in findings:
        settings = common if finding.read is None else reads.setdefault(finding.read, {})
        settings |= finding.settings
    own = {name: cast("ReadConventions", settings) for name, settings in reads.items() if settings}
    return attrs.evolve(Conventions(), reads=own, **common)


def _certainty_of(findings: Iterable[Finding]) -> dict[str, Certainty]:
    """How sure each setting is that was examined."""
    return {
        name if finding.read is None else f"{finding.read}.{name}": finding.certainty
        for finding in findings
        for name, value in sorted(finding.settings.items())
        if value is not None
    }


def service_of(settings: Service, received: Mapping[str, Received], *, keep_texts: bool) -> Service:
    """A service with what was received of its listings, and without secrets in its headers.

    Args:
        settings: What else is known, such as the address, the conventions and their certainty.
        received: What was received of each read.
        keep_texts: Whether the values of items are kept, instead of invented ones.

    Returns:
        The service. Where a header may be a secret, a variable is named instead of its value.
    """
    secret = [name for name, text in settings.headers.items() if looks_secret(name, text)]
    variables = {name: variable_for(name) for name in secret}
    auth = settings.auth or (AuthShape() if secret else None)
    certainty = dict(settings.certainty)
    if received and not any(each.listing.next for each in received.values()):
        certainty["cursor_parameter"] = "not observed"
    return attrs.evolve(
        settings,
        auth=None if auth is None else attrs.evolve(auth, headers={**auth.headers, **variables}),
        headers={name: text for name, text in settings.headers.items() if name not in secret},
        certainty=certainty,
        listings=described(received, settings.accounts, keep_texts=keep_texts),
    )


def _received(reading: Reading) -> Received:
    pages = reading.views
    items = [item for page in pages for item in page.items]
    listing = Listing(
        account_id=reading.first.probe.account_id,
        count=len(items),
        is_complete=pages[-1].end is not None,
        page_size=max((len(page.items) for page in pages if page.end is None), default=0) or None,
        next=None if reading.search is None else reading.search.form,
    )
    return Received(
        listing=listing, items=items, pages=[{"page": page.page, **page.extra} for page in pages]
    )


def _errors(found: Examination, *, keep_texts: bool) -> ErrorShape | None:
    refused, base, search = refused_of(found), found.base, _control(found)
    response = None if refused is None else refused.response
    if response is None:
        return None
    causes = {
        "unauthenticated": found.anonymous,
        "unknown_account": None if base is None else base.unknown,
        "unknown_parameter": search,
    }
    try:
        body = dumps(_template(loads(response.body), response, keep_texts=keep_texts), "body")
    except JSONError:
        body = "{message}" if response.body else ""
    return ErrorShape(
        content_type=response.headers.get("content-type", "").partition(";")[0].strip(),
        body=body,
        statuses={
            cause: seen.response.status
            for cause, seen in causes.items()
            if seen is not None and seen.is_refused and seen.response is not None
        },
    )


def _control(found: Examination) -> Observation | None:
    searches = (reading.search for reading in found.readings.values())
    return next((each.control for each in searches if each is not None), None)


def _template(value: JSON, response: RawResponse, *, keep_texts: bool) -> JSON:
    """The body of an error with placeholders for its message and code, and without its data."""
    if isinstance(value, dict):
        return {
            name: _template(each, response, keep_texts=keep_texts)
            for name, each in value.items()
            if _FIELD.fullmatch(name)
        }
    if isinstance(value, list):
        return [_template(each, response, keep_texts=keep_texts) for each in value[:1]]
    if value is None or isinstance(value, bool) or value == response.status:
        return value
    message, code, *_ = problem_of(response)
    if str(value) == message:
        return "{message}"
    if str(value) == code:
        return "{code}"
    if isinstance(value, str):
        return value if keep_texts else _OTHER_TEXT
    return 0
