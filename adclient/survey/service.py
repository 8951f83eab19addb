"""The report and the service file that follow from an examination."""

import re
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

import attrs

from adclient._core.response import problem_of
from adclient._service.model import AuthShape, Certainty, ErrorShape, Service, variable_for
from adclient._values.json_values import as_mapping, is_array, is_object
from adclient._values.jsontext import JSONError, dumps, loads
from adclient._values.redact import looks_secret, one_line
from adclient.conventions import Conventions, ReadConventions
from adclient.extend import RawResponse
from adclient.models import JSON
from adclient.survey.findings import findings_of, problems_of
from adclient.survey.reading import Examination, Finding
from adclient.survey.report import Report
from adclient.survey.samples import described

T = TypeVar("T")

_OTHER_TEXT = "…"
_LONGEST = 5000  # text of a line
_NAMES_IN_SETTINGS = ("cursor_parameter", "request_id_headers")  # which are words of the service
_FIELD = re.compile(r"[A-Za-z_$@][A-Za-z_$@. -]{0,39}")  # others may be data, such as an account


def report_of(found: Examination) -> Report:
    """The report on what was observed so far of a service, without secrets."""
    session, given, redact = found.session, found.options.headers, found.session.redact
    findings = findings_of(found)
    wanted = _conventions_of(findings)
    problems = [*problems_of(found, wanted)]
    findings = tuple(
        attrs.evolve(
            finding,
            # A terminal obeys what a name of the service may contain.
            conclusion=one_line(redact(finding.conclusion), _LONGEST),
            observed=one_line(redact(finding.observed), _LONGEST),
            settings={
                name: _mapped(value, redact) if name in _NAMES_IN_SETTINGS else value
                for name, value in finding.settings.items()
            },
        )
        for finding in findings
    )
    conventions = _conventions_of(findings)
    if conventions != wanted:
        problems.append("a setting contains the secret, and is hidden; set it yourself")
    certainty: dict[str, Certainty] = {  # of each setting that was examined
        name if finding.read is None else f"{finding.read}.{name}": finding.certainty
        for finding in findings
        for name, value in sorted(finding.settings.items())
        if value is not None
    }
    listings = described(found.accepted, found.accounts)
    if listings and not any(each.next for each in listings.values()):
        certainty["cursor_parameter"] = "not observed"
    secret = [name for name, text in given.items() if looks_secret(name, text)]
    auth = session.auth or (AuthShape() if secret else None)
    if auth is not None:  # a variable in the place of each value
        headers = {**auth.headers, **{name: variable_for(name) for name in secret}}
        auth = attrs.evolve(auth, headers=headers)
    seen = {reading.name: reading.first for reading in found.readings.values()}
    if found.unknown is not None:
        seen["unknown_account"] = found.unknown
    example = None if found.base is None else found.base.first.probe
    return Report(
        service=Service(
            url=found.options.base_url,
            accounts=found.accounts,
            problems=len(problems),
            auth=auth,
            headers={name: text for name, text in given.items() if name not in secret},
            conventions=conventions,
            certainty=certainty,
            errors=_mapped(_errors(found), redact),
            listings={name: _mapped(listing, redact) for name, listing in listings.items()},
        ),
        findings=findings,
        problems=tuple(one_line(redact(each), _LONGEST) for each in problems),
        sent=session.sent,
        requests=tuple(
            one_line(redact(f"{seen.probe}: {seen}"), _LONGEST) for seen in found.observations
        ),
        example=None if example is None else (example.operation.full_name, example.account_id),
        # Refused for certain, not by a quota that is used up.
        answered=tuple(
            name
            for name, each in seen.items()
            if each.page is not None or (each.is_refused and found.is_accepted_after(each))
        ),
    )


def _mapped(value: T, change: Callable[[str], str]) -> T:
    """A copy of a value with every text in it changed, such as by a redactor."""
    changed: object = value
    if isinstance(value, str):
        changed = change(value)
    elif is_object(value):
        changed = {_mapped(key, change): _mapped(each, change) for key, each in value.items()}
    elif is_array(value):
        changed = tuple(_mapped(each, change) for each in value)
    elif attrs.has(type(value)):
        names = [name for name in as_mapping(value) if not name.startswith("_")]
        changed = type(value)(**{name: _mapped(getattr(value, name), change) for name in names})
    return cast(T, changed)


def _conventions_of(findings: Iterable[Finding]) -> Conventions:
    """The conventions that follow from findings."""
    common: dict[str, Any] = {}
    reads: dict[str, dict[str, Any]] = {}
    for finding in findings:
        settings = common if finding.read is None else reads.setdefault(finding.read, {})
        settings |= finding.settings
    own = {name: cast("ReadConventions", settings) for name, settings in reads.items() if settings}
    return attrs.evolve(Conventions(), reads=own, **common)


def _errors(found: Examination) -> ErrorShape | None:
    """What errors look like, by that of an unknown account, if it is one."""
    observed = [*found.strangers, *found.observations]
    response = next((each.response for each in observed if each.is_refused), None)
    if response is None:
        return None
    controls = (each.control for each in found.readings.values() if each.is_listing)
    causes = {
        "unauthenticated": found.anonymous,
        "unknown_account": found.unknown,
        "unknown_parameter": next(controls, None),
    }
    try:
        body = dumps(_template(loads(response.body), response), "body")
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


def _template(value: JSON, response: RawResponse) -> JSON:
    """The body of an error with placeholders for its message and code, and without its data."""
    if isinstance(value, dict):
        names = [name for name in value if _FIELD.fullmatch(name)]
        return {name: _template(value[name], response) for name in names}
    if isinstance(value, list):
        return [_template(each, response) for each in value[:1]]
    if value is None or isinstance(value, bool) or value == response.status:
        return value
    message, code, *_ = problem_of(response)
    texts = {code: "{code}", message: "{message}"}
    return texts.get(str(value), _OTHER_TEXT if isinstance(value, str) else 0)
