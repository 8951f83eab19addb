"""What follows from the observations, and how sure it is; and what keeps a client from reading all.

A conclusion is *observed* only if the service treated two requests differently that differ in
nothing but the point in question.
"""

import re
from collections.abc import Iterator
from typing import cast

import attrs

from adclient._core.decode import result_of
from adclient._core.paging import SeenPages
from adclient._service.model import Certainty
from adclient._values.jsontext import JSONError
from adclient._values.redact import one_line
from adclient.conventions import Conventions, is_header_name, of_read
from adclient.errors import PaginationError
from adclient.extend import READS, RawResponse
from adclient.models import ResponseInfo
from adclient.survey.continuation import LARGER
from adclient.survey.losses import ASK, contradictions
from adclient.survey.reading import Examination, Finding, Reading, Setting, not_observed

_AGAIN = "run the doctor again later"
_MORE = "allow more requests: `--requests`"

_IDS = re.compile(
    r"(request|req|correlation|trace|transaction|operation|call)[-_]?id|traceparent|cf-ray"
    r"|trace-context"
)
# Without a read that is accepted, nothing is known of them.
_POINTS = ("read parameters", "objects", "continuation", "end of listing", "request id", "reads")
_ENDS = {
    "null": "`next` is null on the last page",
    "missing": "the last page has no `next`",
    "empty": '`next` is "" on the last page',
    "false": "`next` is false on the last page",
}


def findings_of(found: Examination) -> tuple[Finding, ...]:
    """One finding for each open point, and one for each read that differs from the others."""
    if found.base is None:
        unknown = (not_observed(point, "unknown: no read was accepted") for point in _POINTS)
        return _unread(found)[0], _credentials(found), *unknown
    accepted = found.accepted
    listings = [_continuation(each) for each in accepted if each.is_listing]
    ends = [_end(found, each) for each in accepted if each.is_whole or found.is_check]
    limits: list[Finding] = []
    if (limited := found.session.limited) is not None:
        after = limited.headers.get("retry-after")
        wait = "" if after is None else f", with a Retry-After of {one_line(after, 40)}"
        limits.append(Finding("limits", f"429 when they are exceeded{wait}"))
    counts = {each.name: sum(len(page.ids) for page in each.views) for each in accepted}
    items = ", ".join(f"{name}: {count} items" for name, count in counts.items())
    part = [each.name for each in accepted if not each.is_whole]
    more = f"; not to its end: {', '.join(part)}" * bool(part)
    return (
        Finding("service", "reachable", f"{found.base.first.probe}: {found.base.first}"),
        _credentials(found),
        *_together([_place(found, each) for each in accepted], "read parameters", "not tried"),
        found.objects or not_observed("objects", "unknown: not tried"),
        *_together(listings, "continuation", "no listing had a next page"),
        *_together(ends, "end of listing", "no listing was read to its end"),
        _request_id(found),
        *limits,
        Finding("reads", f"{len(accepted)} of 7 are accepted{more}", items),
    )


def _together(findings: list[Finding], point: str, none: str) -> Iterator[Finding]:
    """One finding for most reads, and one for each read that differs."""
    conclusions = [finding.conclusion for finding in findings]

    def order(finding: Finding) -> tuple[bool, bool, int]:
        # A file cannot say that a read has no function, so functions are those of single reads.
        has_function = finding.settings.get("continuation") is not None
        is_unknown = finding.certainty == "not observed"
        return is_unknown, has_function, -conclusions.count(finding.conclusion)

    common: dict[str, Setting] = {}
    rest: list[Finding] = []
    ordered = sorted(findings, key=order)
    first = ordered[0] if ordered else not_observed(point, f"unknown: {none}")
    for finding in ordered:
        settings = finding.settings
        is_other = any(common.get(key, value) != value for key, value in settings.items())
        common |= {} if is_other else settings
        if is_other or finding.conclusion != first.conclusion:
            own = {key: value for key, value in settings.items() if is_other and value is not None}
            rest.append(attrs.evolve(finding, settings=own))
        elif finding.certainty == "observed":
            first = attrs.evolve(first, certainty="observed")
    yield attrs.evolve(first, settings=common, read=None)
    yield from rest


def _unread(found: Examination) -> tuple[Finding, str]:
    """What the service does in place of a read that is accepted, and what to do."""
    sent, step = found.observations, "check the address"
    # A page of another shape says most.
    shaped = (seen for seen in sent if seen.is_success)
    last = next(shaped, sent[-1] if sent else None)
    if last is None or last.status is None:
        step += ", and `--proxy` and `--ca-file`"
    if last is None:
        return not_observed("service", "nothing was sent"), step
    if last.status is None:
        is_part = isinstance(last.outcome, RawResponse)
        conclusion = f"does not respond{' to the end' * is_part}: {last.text}"
    elif 300 <= last.status < 400:
        conclusion = f"redirects, which is never followed: {last.text}"
    elif last.is_success:
        conclusion = f"responds, but not with the documented shape: {last.outline}"
    elif last.is_refused:
        # A 400 may only mean that the parameters were in the wrong place.
        refused = (seen for seen in sent if seen.is_refused and seen.status != 400)
        conclusion = f"reachable, but refuses every read: {next(refused, last).text}"
        step = "check the accounts"
        if last.status == 401:
            step = "check the token, `--token-header` and `--auth-scheme`"
    else:
        conclusion, step = f"reachable, but fails: {last.status}", _AGAIN
    return Finding("service", one_line(conclusion, 140), f"{last.probe}: {last}"), step


def _credentials(found: Examination) -> Finding:
    point, seen = "credentials", found.anonymous
    if found.base is None:
        if 401 not in (each.status for each in found.observations):
            return not_observed(point, "unknown: no read was accepted")
        return Finding(point, "the given ones are refused" if found.has_credentials else "needed")
    first = found.base.first
    # An empty page proves less, and only a 401 says why.
    by_items: Certainty = "observed" if first.ids else "likely"
    needless, observed = "none needed for reads", f"without them: {seen}"
    if not found.has_credentials:
        return Finding(point, needless, "accepted without any", by_items)
    if seen is None or not (seen.is_refused or seen.page is not None):
        unknown = "those given are accepted; whether they are needed is unknown"
        return not_observed(point, unknown, observed)
    if seen.ids == first.ids:
        return Finding(point, needless, observed, by_items)
    is_sure = seen.status == 401 and found.is_accepted_after(seen)
    certainty: Certainty = "observed" if is_sure else "likely"
    return Finding(point, "needed, and those given work", observed, certainty)


def _place(found: Examination, reading: Reading) -> Finding:
    seen, observed = reading.difference, "another account, or none, makes no difference"
    certainty: Certainty = "not observed"
    if seen is not None:
        observed = f"{seen.probe.purpose}, it makes a difference: {seen}"
        certainty = "observed" if found.is_accepted_after(seen) else "likely"
    return Finding(
        "read parameters",
        f"in the {reading.place}",
        observed,
        certainty,
        {"read_parameters": reading.place},
        reading.name,
    )


def _continuation(reading: Reading) -> Finding:
    point, chosen = "continuation", reading.chosen
    kind = "value that cannot be sent" if reading.form is None else reading.form.form
    form = f"an {kind}" if kind == "object" else f"a {kind}"
    tried = ", ".join(f"{label}: {effect}" for label, effect in reading.tried.items())
    observed = f"`next` is {form}; a wrong name: {reading.control}; {tried}"
    if chosen is None:
        unfinished = "the examination ended within the search"
        unknown = f"unknown: {reading.trouble or unfinished}"
        return Finding(point, unknown, observed, "not observed", read=reading.name)
    conclusion = f"{chosen.label} takes {form}" if chosen.name else chosen.label
    if reading.certainty == "not observed":
        conclusion = f"{conclusion}, as far as an empty page shows"
    settings = cast("dict[str, Setting]", chosen.settings)
    return Finding(point, conclusion, observed, reading.certainty, settings, reading.name)


def _end(found: Examination, reading: Reading) -> Finding:
    page = reading.views[-1]
    observed = f"on page {len(reading.pages)} of {reading.name}"
    # In a check that does not come to the end, nothing contradicts the file. Where no page follows
    # another, a page without a continuation may mean something else.
    end = page.end or reading.first.probe.conventions.end_of_listing
    is_sure = found.is_check or len(reading.pages) > 1 or end == "null"
    certainty: Certainty = "observed" if is_sure else "likely"
    settings: dict[str, Setting] = {"end_of_listing": end}
    return Finding("end of listing", _ENDS[end], observed, certainty, settings, reading.name)


def _request_id(found: Examination) -> Finding:
    """The headers that hold another id in every response."""
    point, default = "request id", Conventions().request_id_headers
    pages = [seen.response for seen in found.observations if seen.page is not None]
    headers = [response.headers for response in pages if response is not None]
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


def problems_of(found: Examination, conventions: Conventions) -> Iterator[str]:
    """The problems, the most general first."""
    if found.stopped is not None:
        yield f"ended early: {found.stopped}"
    if found.base is None:
        yield f"no read was accepted; {_unread(found)[1]}"
        return
    failed = [seen for seen in found.observations if seen.is_temporary and seen.probe.is_needed]
    if failed:
        count = f"{len(failed)} request{'s' * (len(failed) > 1)}"
        yield f"{count} failed, such as {failed[0].probe}: {failed[0]}; {_AGAIN}"
    if not any(reading.difference for reading in found.readings.values()):
        yield "an account that cannot exist makes no difference; pass an account that has items"
    if found.targeting is not None and found.objects and not found.objects.settings:
        yield "gamma.search_targeting: no style of the targeting has an effect; pass another one"
    used = {reading.first.probe.account_id for reading in found.accepted}
    for account_id in found.accounts:
        # An examination that ended early may not have come to it, and a check needs not all.
        is_needed = account_id not in found.known_accounts and found.stopped is None
        if account_id not in used and is_needed:
            yield f"{one_line(account_id, 60)} was not used for any read; examine it alone"
    names: dict[str, list[str]] = {}
    for name in READS:
        for problem in _problems_of_read(found, name, conventions):
            names.setdefault(problem, []).append(name)
    for problem, (name, *others) in names.items():
        more = f" and {len(others)} other{'s' * (len(others) > 1)}" * bool(others)
        yield f"{name}{more}: {problem}"


def _problems_of_read(found: Examination, name: str, conventions: Conventions) -> Iterator[str]:
    reading, namespace, accepted = found.readings.get(name), name.partition(".")[0], found.accepted
    if reading is None:
        yield f"not sent; {_MORE}, or `--timeout`"
        return
    if not reading.pages:
        is_known = any(each.name.startswith(f"{namespace}.") for each in accepted)
        is_of_account = reading.first.is_refused and not is_known
        step = f"pass an account of {namespace} with `--account`" if is_of_account else ASK
        yield f"not accepted: {reading.first}; {step}"
        return
    if reading.trouble:
        usual = ASK if reading.chosen else "set `cursor_parameter` or `continuation` yourself"
        yield f"{reading.trouble}; {reading.step or usual}"
    end = of_read(conventions, name).end_of_listing
    pages = SeenPages(reading.first.probe.call(), None)
    for seen in reading.pages:
        assert seen.response is not None
        try:
            pages.add(seen.view.next, seen.view.ids)
            result_of(seen.probe.call(), seen.response, ResponseInfo(), dict, end)
        except (JSONError, PaginationError) as error:
            yield f"{one_line(str(error).removeprefix(f'{name}: '), 100)}; {ASK}"
            break
    last = reading.views[-1]
    if last.end is not None:
        sizes = {len(page.items) for each in accepted for page in each.views}
        stated = contradictions(reading, sizes)
        yield from (f"{what}, so items may be missing; {ASK}" for what in stated)
    if found.is_check:
        return
    # Where no page has a next one, a page without it may mean something else.
    ended = [each for each in accepted if each.is_whole]
    following = [each for each in ended if len(each.pages) > 1]
    if last.end not in {None, "null", *(each.views[-1].end for each in following)}:
        yield f"no listing with two pages ended as this page does; {LARGER}"
    is_alike = (
        reading.way in {each.way for each in following}
        and len({each.views[-1].end for each in ended}) == 1
    )
    if reading.chosen and last.end is None and not reading.trouble and not is_alike:
        yield f"not read to its end; {_MORE}"
