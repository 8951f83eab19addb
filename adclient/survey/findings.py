"""What follows from the observations, and how sure it is.

A conclusion is *observed* only if the service treated two requests differently that differ in
nothing but the point in question.
"""

import re
from collections.abc import Iterator, Mapping
from typing import cast

import attrs

from adclient._core.response import problem_of
from adclient._service.model import Certainty
from adclient._values.redact import one_line
from adclient.conventions import Conventions, is_header_name
from adclient.extend import Failure, RawResponse
from adclient.survey.candidates import WRONG_NAME
from adclient.survey.examination import Examination, Reading
from adclient.survey.finding import Finding, Setting, not_observed
from adclient.survey.observation import Observation
from adclient.survey.trials import STYLES

_IDS = re.compile(
    r"(request|req|correlation|trace|transaction|operation|call)[-_]?id|traceparent|cf-ray"
    r"|trace-context"
)
_UNFINISHED = "the examination ended within the search"
_ENDS = {
    "null": "`next` is null on the last page",
    "missing": "the last page has no `next`",
    "empty": '`next` is "" on the last page',
    "false": "`next` is false on the last page",
}


def findings_of(found: Examination, limited: RawResponse | None) -> tuple[Finding, ...]:
    """One finding for each open point, and one for each read that differs from the others."""
    accepted = found.accepted
    return (
        _service(found),
        _credentials(found),
        *_read_parameters(found, accepted),
        _objects(found),
        *_together(
            not_observed("continuation", "unknown: no listing had a next page"),
            {each.name: _continuation(each) for each in accepted if each.search is not None},
        ),
        *_together(
            not_observed("end of listing", "unknown: no listing was read to its end"),
            {
                each.name: end
                for each in accepted
                if (end := _end_of_listing(found, each)) is not None
            },
        ),
        _size_parameter(found, accepted),
        _request_id(found),
        *_limits(limited),
        _errors(found),
        _reads(accepted),
    )


def _together(default: Finding, each: Mapping[str, Finding]) -> Iterator[Finding]:
    """One finding for most reads, and one for each read that differs."""
    common: dict[str, Setting] = {}
    first: Finding | None = None
    rest: list[Finding] = []
    conclusions = [finding.conclusion for finding in each.values()]

    def order(name: str) -> tuple[bool, bool, int]:
        # A file cannot say that a read has no function, so functions are those of single reads.
        finding = each[name]
        has_function = finding.settings.get("continuation") is not None
        is_unknown = finding.certainty == "not observed"
        return is_unknown, has_function, -conclusions.count(finding.conclusion)

    for name in sorted(each, key=order):
        finding, settings = each[name], each[name].settings
        is_other = any(common.get(key, value) != value for key, value in settings.items())
        common |= {} if is_other else settings
        first = first or finding
        if is_other or finding.conclusion != first.conclusion:
            own = {key: value for key, value in settings.items() if is_other and value is not None}
            rest.append(attrs.evolve(finding, read=name, settings=own))
        elif finding.certainty == "observed":
            first = attrs.evolve(first, certainty="observed")
    yield default if first is None else attrs.evolve(first, settings=common)
    yield from rest


def _service(found: Examination) -> Finding:
    if found.base is not None:
        return Finding("service", "reachable", f"{found.base.first.probe}: {found.base.first}")
    last = found.telling()
    if last is None:
        return not_observed("service", "nothing was sent")
    if isinstance(last.outcome, Failure):
        conclusion = f"does not respond: {last.outcome.reason}"
    elif last.status is None:
        conclusion = "its response breaks off or cannot be read"
    elif 300 <= last.status < 400:
        conclusion = f"redirects, which is never followed: {last.text}"
    elif last.is_success:
        conclusion = f"responds, but not with the documented shape: {last.outline}"
    elif last.is_refused:
        # A 400 may only mean that the parameters were in the wrong place.
        refused = (seen for seen in found.observations if seen.is_refused and seen.status != 400)
        conclusion = f"reachable, but refuses every read: {next(refused, last).text}"
    else:
        conclusion = f"reachable, but fails: {last.status}"
    return Finding("service", one_line(conclusion, 140), f"{last.probe}: {last}")


def _credentials(found: Examination) -> Finding:
    point, base, anonymous = "credentials", found.base, found.anonymous
    if base is None:
        refused = next((seen for seen in found.observations if seen.status == 401), None)
        if refused is None or refused.response is None:
            return not_observed(point, "unknown: no read was accepted")
        asked = one_line(refused.response.headers.get("www-authenticate", "none"), 60)
        conclusion = "the given ones are refused" if found.has_credentials else "needed"
        return Finding(point, conclusion, f"401, www-authenticate: {asked}")
    ids = base.first.view.ids
    # An empty page proves less.
    by_items: Certainty = "observed" if ids else "likely"
    needed, needless = "needed, and those given work", "none needed for reads"
    if not found.has_credentials:
        return Finding(point, needless, "accepted without any", by_items)
    observed = f"without them: {anonymous}"
    if anonymous is not None and anonymous.is_refused:
        # Only a 401 says why; others may be chance.
        is_telling = anonymous.status == 401 and found.is_accepted_after(anonymous)
        return Finding(point, needed, observed, "observed" if is_telling else "likely")
    if anonymous is None or anonymous.page is None:
        unknown = "those given are accepted; whether they are needed is unknown"
        return not_observed(point, unknown, observed)
    if anonymous.page.ids == ids:
        return Finding(point, needless, "the same items with and without them", by_items)
    return Finding(point, needed, observed, "likely")


def _read_parameters(found: Examination, accepted: list[Reading]) -> list[Finding]:
    default = not_observed("read parameters", "unknown: no read was accepted")
    findings = [*_together(default, {each.name: _place(found, each) for each in accepted})]
    if accepted and findings[0].certainty == "not observed":
        unknown = "unknown: the service does not seem to look at them"
        findings[0] = attrs.evolve(findings[0], conclusion=unknown)
    return findings


def _place(found: Examination, reading: Reading) -> Finding:
    where, other, unknown = f"in the {reading.place}", reading.other_place, reading.unknown
    certainty: Certainty = "not observed"
    what = "" if unknown is None else unknown.probe.purpose
    observed = f"{what}, it makes no difference: {unknown}"
    if reading.makes_difference and unknown is not None:
        observed = f"{where}, {what}, it makes a difference: {unknown}"
        is_sure = found.is_accepted_after(unknown) and not unknown.is_temporary
        certainty = "observed" if is_sure else "likely"
    elif other is not None and other.is_refused:
        observed, certainty = f"accepted {where}, refused elsewhere", "likely"
    is_odd = reading.first.view.ids and any(each.makes_difference for each in found.accepted)
    conclusion = where
    if certainty == "not observed" and is_odd and reading.other_place is None:
        conclusion = f"{where}, but the account makes no difference"
    settings: dict[str, Setting] = {"read_parameters": reading.place}
    return Finding("read parameters", conclusion, observed, certainty, settings)


def _objects(found: Examination) -> Finding:
    point, search = "objects", found.readings.get("gamma.search_targeting")
    if search is None or search.first.page is None:
        return not_observed(point, "unknown: no search was accepted")
    if len(found.styled) < len(STYLES):
        is_body = search.place == "body"
        why = "the body is JSON" if is_body else "unknown: the search has too few items to tell"
        return not_observed(point, why)
    is_guess = found.targeting is None
    effects = {
        style: _effect_of_style(search.first, seen, is_guess=is_guess)
        for style, seen in found.styled.items()
    }
    again = None if found.plain_again is None else found.plain_again.page
    if again is None or again.ids != search.first.page.ids:
        return not_observed(point, "unknown: a search changes from request to request")
    observed = ", ".join(f"{style}: {effect}" for style, effect in effects.items())
    understood = [style for style, effect in effects.items() if effect == "understood"]
    found_ids = {seen.page.ids for seen in found.styled.values() if seen.page is not None}
    if not understood or (len(understood) == 2 and len(found_ids) > 1):
        count = "none" if not understood else "more than one"
        return not_observed(point, f"unknown: {count} of the styles has an effect", observed)
    conclusion = "one JSON value" if understood[0] == "json" else "brackets"
    # A search that finds nothing may have been understood.
    certainty: Certainty = "likely" if "no evidence" in effects.values() else "observed"
    return Finding(point, conclusion, observed, certainty, {"object_style": understood[0]})


def _effect_of_style(plain: Observation, seen: Observation, *, is_guess: bool) -> str:
    """The effect of a search in a style; a guess is for an item that was there without it."""
    if seen.page is None or plain.page is None:
        return "refused" if seen.is_refused else "no evidence"
    if seen.page.ids == plain.page.ids:
        return "ignored"
    is_part = set(seen.page.ids) < set(plain.page.ids)
    if is_guess and seen.page.ids and not is_part:
        return "no evidence"
    # A service that searches for this text as a word finds nothing.
    return "understood" if seen.page.ids else "no evidence"


def _continuation(reading: Reading) -> Finding:
    point, search = "continuation", reading.search
    assert search is not None
    kind = "value that cannot be sent" if search.form is None else search.form.form
    form = f"an {kind}" if kind == "object" else f"a {kind}"
    tried = ", ".join(f"{label}: {effect}" for label, effect in search.tried.items())
    observed = f"`next` is {form}; {WRONG_NAME}: {search.control}; {tried}"
    if search.chosen is None:
        return not_observed(point, f"unknown: {search.trouble or _UNFINISHED}", observed)
    label, settings = search.chosen.label, cast("dict[str, Setting]", search.chosen.settings)
    conclusion = f"{label} takes {form}" if search.chosen.name else label
    return Finding(point, conclusion, observed, search.certainty, settings)


def _end_of_listing(found: Examination, reading: Reading) -> Finding | None:
    page = reading.views[-1]
    if page.end is None and found.is_check:  # nothing contradicts the file
        end = reading.first.probe.conventions.end_of_listing
        return Finding("end of listing", _ENDS[end], settings={"end_of_listing": end})
    if page.end is None:
        return None
    observed = f"on page {len(reading.pages)} of {reading.name}"
    # Where no page follows another, a page without a continuation may mean something else.
    is_sure = len(reading.pages) > 1 or page.end == "null"
    certainty: Certainty = "observed" if is_sure else "likely"
    return Finding(
        "end of listing", _ENDS[page.end], observed, certainty, {"end_of_listing": page.end}
    )


def _size_parameter(found: Examination, accepted: list[Reading]) -> Finding:
    point, name, known = "size parameter", found.size_parameter, found.page_sizes
    if not known:
        return not_observed(point, f"unknown: {found.no_page_size}")
    of_reads = {read: {"page_size": {name: size}} for read, size in known.items()}
    first, *_ = of_reads.values()
    reads, sizes = ", ".join(known), sorted({*known.values()})
    is_of_all = all(each.name in known for each in accepted if each.search is not None)
    where = "" if is_of_all else f" of {reads}"
    return Finding(
        point,
        f"`{name}` sets the page size{where}; {' or '.join(map(str, sizes))} items without it",
        f"with a smaller page, the next one has the items that follow: {reads}",
        suggestions=first if found.is_one_page_size else {"reads": of_reads},
    )


def _request_id(found: Examination) -> Finding:
    """The headers that hold another id in every response."""
    point, default = "request id", Conventions().request_id_headers
    pages = [seen.response for seen in found.observations if seen.page is not None]
    headers = [response.headers for response in pages if response is not None]
    if not headers:
        return not_observed(point, "unknown: no read was accepted")
    present = [name for name in headers[0] if _IDS.search(name) and is_header_name(name)]
    values = {name: {each.get(name, "") for each in headers} - {""} for name in present}
    unique = [name for name in present if len(values[name]) == len(headers)]
    unique.sort(key=lambda name: (*default, name).index(name))
    if not unique:
        return Finding(point, "no header has one", certainty="likely")
    is_default = next((n for n in default if any(n in each for each in headers)), "") == unique[0]
    observed = f"another value in each of {len(headers)} responses"
    certainty: Certainty = "observed" if len(headers) > 1 else "likely"
    settings: dict[str, Setting] = {"request_id_headers": tuple(default if is_default else unique)}
    return Finding(point, one_line(", ".join(unique), 100), observed, certainty, settings)


def _limits(limited: RawResponse | None) -> Iterator[Finding]:
    """The rate limit that a read has met."""
    if limited is not None:
        after = limited.headers.get("retry-after")
        more = "" if after is None else f", with a Retry-After of {one_line(after, 40)}"
        yield Finding("limits", f"429 when they are exceeded{more}")


def _errors(found: Examination) -> Finding:
    """The shape of an error response, and what the client reads in it."""
    refused = refused_of(found)
    response = None if refused is None else refused.response
    if refused is None or response is None:
        return not_observed("errors", "unknown: nothing was refused")
    kind = response.headers.get("content-type", "no content-type").partition(";")[0]
    problem = problem_of(response)
    parts = [name for name in ("message", "code", "details") if getattr(problem, name) is not None]
    observed = one_line(f"{response.status} {kind} {refused.outline}: {problem.message}", 160)
    read = ", ".join(parts) or "nothing but the status"
    return Finding("errors", f"the client reads: {read}", observed)


def refused_of(found: Examination) -> Observation | None:
    """The refusal that is the example of an error: that of an unknown account, if it is one."""
    base = found.base
    first = [] if base is None or base.unknown is None else [base.unknown]
    return next((seen for seen in (*first, *found.observations) if seen.is_refused), None)


def _reads(accepted: list[Reading]) -> Finding:
    """Which of the seven reads were accepted."""
    if not accepted:
        return not_observed("reads", "unknown: no read was accepted")
    items = {each.name: sum(len(page.ids) for page in each.views) for each in accepted}
    observed = ", ".join(f"{name}: {count} items" for name, count in items.items())
    part = [each.name for each in accepted if each.views[-1].end is None]
    more = f"; not to its end: {', '.join(part)}" * bool(part)
    return Finding("reads", f"{len(accepted)} of 7 are accepted{more}", observed)
