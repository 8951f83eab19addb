"""What follows from all responses together: headers, errors, page sizes, shapes."""

import re
from collections.abc import Sequence

from adclient._core.jsontext import JSONError, loads
from adclient._core.redact import one_line
from adclient._core.response import problem_of
from adclient.conventions import Conventions, is_header_name
from adclient.doctor._examination import Examination
from adclient.doctor._probe import READS, Observation
from adclient.doctor._report import Finding, Setting, not_observed
from adclient.models import JSON

_IDS = re.compile(
    r"(request|req|correlation|trace|transaction|operation|call)[-_]?id|traceparent|cf-ray"
    r"|trace-context",
)
_LIMITS = re.compile(r"rate-?limit|^retry-after$")


def page_size(found: Examination) -> Finding:
    """How many items the pages have that are not the last."""
    pages = [seen.page for seen in found.observations if seen.page is not None]
    sizes = sorted({len(page.items) for page in pages if page.next is not None})
    if not sizes:
        return not_observed("page size", "unknown: no listing had a next page")
    is_one = sizes[0] == sizes[-1]
    return Finding(
        point="page size",
        conclusion=f"{sizes[0]} items" if is_one else f"{sizes[0]} to {sizes[-1]} items",
        observed="of pages that have a next one",
        certainty="observed" if is_one else "likely",
    )


def request_id(observations: Sequence[Observation]) -> Finding:
    """The headers that hold another id in every response."""
    point = "request id"
    responses = [seen.response for seen in observations if seen.page is not None]
    headers = [response.headers for response in responses if response is not None]
    names = headers[0] if headers else ()
    present = [name for name in names if _IDS.search(name) and is_header_name(name)]
    ids = {name: {each.get(name, "") for each in headers} for name in present}
    unique = [name for name, values in ids.items() if len(values - {""}) == len(headers)]
    default = Conventions().request_id_headers
    unique.sort(key=lambda name: (*default, name).index(name))
    if not headers:
        return not_observed(point, "unknown: no read was accepted")
    if not unique:
        return Finding(point=point, conclusion="no header has one", certainty="likely")
    settings: dict[str, Setting] = {}
    if next((name for name in default if any(name in each for each in headers)), "") != unique[0]:
        settings["request_id_headers"] = tuple(unique)
    return Finding(
        point=point,
        conclusion=one_line(", ".join(unique), 100),
        observed=f"another value in each of {len(headers)} responses",
        certainty="observed" if len(headers) > 1 else "likely",
        settings=settings,
    )


def limits(found: Examination) -> Finding:
    """Headers and refusals that indicate rate limits."""
    responses = [seen.response for seen in found.observations] + [found.limited]
    shown: dict[str, str] = {}
    for response in responses:
        if response is not None:
            shown |= {name: it for name, it in response.headers.items() if _LIMITS.search(name)}
    observed = one_line(", ".join(f"{name}: {text}" for name, text in shown.items()), 160)
    if found.limited is not None:
        conclusion = "429 when they are exceeded"
        conclusion += ", with a Retry-After" * ("retry-after" in shown)
    elif shown:
        conclusion = one_line(f"in the headers {', '.join(shown)}", 80)
    else:
        return not_observed("limits", "unknown: no header names one, and none was met")
    return Finding(point="limits", conclusion=conclusion, observed=observed)


def errors(found: Examination) -> Finding:
    """The shape of an error response, and what the client reads in it."""
    point = "errors"
    refused = [seen for seen in (found.unknown_account, *found.observations) if seen is not None]
    responses = [seen.response for seen in refused if seen.is_refused]
    if not responses or responses[0] is None:
        return not_observed(point, "unknown: nothing was refused")
    response = responses[0]
    kind = response.headers.get("content-type", "no content-type").partition(";")[0]
    problem = problem_of(response)
    parts = [name for name in ("message", "code", "details") if getattr(problem, name) is not None]
    try:
        outline = one_line(_names(loads(response.body), 3), 100)
    except JSONError:
        outline = "(not JSON)" if response.body else "(empty)"
    return Finding(
        point=point,
        conclusion=f"the client reads: {', '.join(parts) or 'nothing but the status'}",
        observed=one_line(f"{response.status} {kind} {outline}: {problem.message}", 160),
    )


def _names(value: JSON, depth: int) -> str:
    """The names in a JSON value, without what they stand for."""
    if isinstance(value, dict) and depth:
        inner = {name: _names(child, depth - 1) for name, child in value.items()}
        return f"{{{', '.join(name + (text and ' ' + text) for name, text in inner.items())}}}"
    if isinstance(value, list) and value:
        return f"[{_names(value[0], depth)}]"
    return ""


def reads(found: Examination) -> Finding:
    """Which of the seven reads have the documented shape."""
    whole = [seen for seen in found.reads.values() if seen.page is not None]
    if not whole:
        return not_observed("reads", "unknown: no read was accepted")
    others: dict[str, str] = {}
    for operation in READS:
        name = operation.full_name
        seen = found.reads.get(name)
        if seen is None:
            others[name] = "not sent"
        elif seen.mismatch is not None:
            others[name] = seen.mismatch
    counts = {
        "not accepted": len(found.reads) - len(whole),
        "not sent": len(READS) - len(found.reads),
    }
    conclusion = f"{len(READS) - len(others)} of {len(READS)} have the documented shape"
    return Finding(
        point="reads",
        conclusion="; ".join([conclusion, *(f"{n} {what}" for what, n in counts.items() if n)]),
        observed="; ".join(f"{name}: {text}" for name, text in others.items()),
    )
