"""What follows from the observations: how sure is each conclusion, and what else could explain it.

A conclusion is *observed* only if the service treated two requests differently that differ in
nothing but the point in question.
"""

from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from adclient._core.redact import one_line
from adclient._core.response import Failure, RawResponse, problem_of
from adclient.doctor._continuation import WRONG_NAME, Continuation
from adclient.doctor._examination import IN_BODY, Examination
from adclient.doctor._fields import classes_of
from adclient.doctor._objects import STYLES
from adclient.doctor._probe import READS, Observation
from adclient.doctor._report import Certainty, Finding, Report, Setting, not_observed
from adclient.doctor._responses import (
    errors,
    limits,
    page_size,
    reads,
    request_id,
)


def report_of(found: Examination, arguments: Mapping[str, str]) -> Report:
    """The report on what was observed so far; `arguments` are those of the client in its code."""
    base = found.base
    continuation = _continuation(found)
    return Report(
        base_url=found.base_url,
        account_ids=tuple(found.accounts),
        findings=(
            _service(found),
            _credentials(found),
            _read_parameters(found),
            _objects(found),
            continuation,
            _next_url(found.continuation, continuation.certainty),
            page_size(found),
            request_id(found.observations),
            limits(found),
            errors(found),
            reads(found),
            not_observed("idempotency", "unknown: only writes could show it, and none is sent"),
        ),
        problems=tuple(_problems(found, continuation)),
        classes=classes_of(found.reads),
        sent=found.requests,
        requests=tuple(map(_line, found.observations)),
        example=None if base is None else (base.probe.operation.full_name, base.probe.account_id),
        arguments=arguments,
    )


def _line(seen: Observation) -> str:
    probe = seen.probe
    return f"GET {probe.operation.path}: {probe.purpose}: {seen} ({seen.seconds:.2f} s)"


def _service(found: Examination) -> Finding:
    point, is_tls = "service", found.base_url.startswith("https:")
    if found.base is not None:
        tls = ", its certificate is valid" * (is_tls and found.verifies_tls)
        return Finding(point=point, conclusion=f"reachable{tls}", observed=_line(found.base))
    if not found.observations:
        return not_observed(point, "nothing was sent")
    last = found.observations[-1]
    observed, outcome = _line(last), last.outcome
    if isinstance(outcome, Failure):
        conclusion = f"does not respond: {one_line(outcome.reason, 120)}"
    elif outcome.broken is not None or outcome.defect is not None:
        conclusion = "its response breaks off or cannot be read"
    elif 300 <= outcome.status < 400:
        conclusion = f"redirects{_target(outcome)}, which is never followed: check the URL"
    elif outcome.is_success:
        conclusion = "responds, but not with the documented shape: check the URL"
    elif last.is_refused:
        # A 400 may only mean that the parameters were in the wrong place.
        refused = [seen.response for seen in found.observations if seen.is_refused]
        telling = next((it for it in refused if it is not None and it.status != 400), outcome)
        message = one_line(problem_of(telling).message or "", 80)
        conclusion = f"reachable, but refuses every read: {telling.status} {message}".strip()
    else:
        conclusion = f"reachable, but fails: {outcome.status}"
    return Finding(point=point, conclusion=conclusion, observed=observed)


def _target(response: RawResponse) -> str:
    """Where a redirect leads, without its query, which may hold a secret."""
    try:
        parts = urlsplit(response.headers.get("location", ""))
    except ValueError:
        return ""
    host = parts.netloc.rpartition("@")[2]
    origin = f"{parts.scheme}://{host}" if host else ""
    return f" to {one_line(origin + parts.path, 80)}" if origin or parts.path else ""


def _credentials(found: Examination) -> Finding:
    point, base, anonymous = "credentials", found.base, found.anonymous
    if base is None or base.page is None:
        outcomes = [seen.outcome for seen in found.observations]
        refused = [it for it in outcomes if isinstance(it, RawResponse) and it.status == 401]
        if not refused:
            return not_observed(point, "unknown: no read was accepted")
        scheme = refused[0].headers.get("www-authenticate")
        asked = "" if scheme is None else f", www-authenticate: {one_line(scheme, 60)}"
        what = "the given ones are refused: check them, and the header that carries them"
        return Finding(
            point=point,
            conclusion=what if found.has_credentials else "needed: pass a token",
            observed=f"401{asked}",
        )
    needed, needless = "needed, and those given work", "none needed for reads"
    # An empty page proves less.
    by_items: Certainty = "observed" if base.page.ids else "likely"
    if not found.has_credentials:
        observed = "accepted without any"
        return Finding(point=point, conclusion=needless, observed=observed, certainty=by_items)
    if anonymous is not None and anonymous.is_refused:
        observed = f"accepted with them, refused without: {anonymous}"
        certainty: Certainty = "observed" if found.is_accepted_after(anonymous) else "likely"
        return Finding(point=point, conclusion=needed, observed=observed, certainty=certainty)
    if anonymous is not None and anonymous.page is not None:
        if anonymous.page.ids == base.page.ids:
            observed = "the same items with and without them"
            return Finding(point=point, conclusion=needless, observed=observed, certainty=by_items)
        again = found.again.page if found.again is not None else None
        if again is not None and again.ids == base.page.ids != frozenset():
            observed = "accepted with and without them, with different items"
            return Finding(point=point, conclusion=needed, observed=observed, certainty="likely")
    observed = "" if anonymous is None else f"without them: {anonymous}"
    conclusion = "those given are accepted; whether they are needed is unknown"
    return not_observed(point, conclusion, observed)


def _read_parameters(found: Examination) -> Finding:
    point, base = "read parameters", found.base
    if base is None:
        return not_observed(point, "unknown: no read was accepted")
    place = base.probe.conventions.read_parameters
    settings: dict[str, Setting] = {"read_parameters": place} if place == "body" else {}
    where = f"in the {place}"
    if found.reads_account:
        assert found.unknown_account is not None
        observed = f"{where}, an unknown account makes a difference: {found.unknown_account}"
        is_proven = found.is_accepted_after(found.unknown_account)
        return Finding(
            point=point,
            conclusion=where,
            observed=observed,
            certainty="observed" if is_proven else "likely",
            settings=settings,
        )
    if base.probe.conventions == IN_BODY:
        observed = "not accepted in the query, but in the body"
    elif found.other_place is not None and found.other_place.is_refused:
        observed = "accepted in the query, refused in the body"
    else:
        return not_observed(
            point,
            "unknown: the service does not seem to look at them",
            f"an unknown account makes no difference: {found.unknown_account}",
        )
    return Finding(
        point=point, conclusion=where, observed=observed, certainty="likely", settings=settings
    )


def _objects(found: Examination) -> Finding:
    point, objects = "objects", found.objects
    if objects is None or len(objects.styled) < len(STYLES):
        why = "unknown: the search has too few items to tell"
        if found.base is not None and found.base.probe.conventions == IN_BODY:
            why = "irrelevant: the body is JSON"
        elif objects is None:
            why = "unknown: no search was accepted"
        return not_observed(point, why)
    effects = {style: objects.effect(style) for style in STYLES}
    observed = ", ".join(f"{style}: {effect}" for style, effect in effects.items())
    json, deep = effects["json"], effects["deep_object"]
    deep_setting: dict[str, Setting] = {"object_style": "deep_object"}
    both = [seen.page.ids for seen in objects.styled.values() if seen.page is not None]
    if not objects.is_stable:
        observed += "; but repeated, they give other items"
    elif json == deep == "understood" and both[0] != both[1]:
        observed += ", with different items"
    elif "understood" in (json, deep):
        # A search that finds nothing may have been understood.
        is_proven = objects.is_repeated and "no evidence" not in (json, deep)
        return Finding(
            point=point,
            conclusion="one JSON value" if json == "understood" else "brackets",
            observed=observed,
            certainty="observed" if is_proven else "likely",
            settings={} if json == "understood" else deep_setting,
        )
    elif (json, deep) == ("refused", "ignored") and objects.targeting is not None:
        # Of a guess, JSON may be refused for what it says.
        return Finding(
            point=point,
            conclusion="brackets",
            observed=observed,
            certainty="likely",
            settings=deep_setting,
        )
    return not_observed(point, "unknown: pass a targeting that the service understands", observed)


def _continuation(found: Examination) -> Finding:
    point, search = "continuation", found.continuation
    if search is None:
        why = "unknown: no listing had a next page" if found.base else "unknown"
        return not_observed(point, why)
    form = f"`next` is a {search.form}".replace("a object", "an object")
    if search.form == "something else":
        return not_observed(point, "unknown: `next` is no text, number or object")
    wrong = f"as `{WRONG_NAME}`: {search.control_effect or 'not tried'}"
    is_unlike_control = search.control_effect in ("same items", "refused")
    is_proven = is_unlike_control and search.is_repeated and search.is_consistent
    settings: dict[str, Setting] = {}
    if search.is_stable and search.unpacked_effect == "other items":
        what, how = "the URL in `next` is followed", "followed"
        if search.form == "object":
            what, how = "each entry of the object in `next` is a parameter", "each sent"
            settings["continuation"] = dict
        return Finding(
            point=point,
            conclusion=what,
            observed=f"{form}; {how}: other items; {wrong}",
            certainty="observed" if is_proven else "likely",
            settings=settings,
        )
    if search.is_stable and search.name is not None:
        if search.name != "cursor":
            settings["cursor_parameter"] = search.name
        return Finding(
            point=point,
            conclusion=f"`{search.name}` takes {form.removeprefix('`next` is ')}",
            observed=f"{form}; as `{search.name}`: other items; {wrong}",
            certainty="observed" if is_proven else "likely",
            settings=settings,
        )
    conclusion = "unknown: too few requests were left, or no time"
    if not search.is_stable or search.control_effect in ("other items", "other page"):
        conclusion = "unknown: pages change from request to request"
    elif search.tried:
        effects, count = set(search.tried.values()), len(search.tried)
        how = "ignored" if effects == {"same items"} else "ignored or refused"
        conclusion = f"unknown: {how} under {count} names"
        conclusion += ", and entry by entry" * (search.unpacked is not None and not search.is_url)
    return not_observed(point, conclusion, f"{form}; {wrong}; tried: {', '.join(search.tried)}")


def _next_url(search: Continuation | None, certainty: Certainty) -> Finding:
    point = "next URLs"
    if search is None or not search.is_url:
        return not_observed(point, "unknown: no `next` was a URL")
    names = ", ".join(dict.fromkeys(search.parameters_in_url))
    observed = one_line(f"a {search.form} with the parameters {names or '(none)'}", 120)
    if search.is_stable and search.unpacked_effect == "other items":
        return Finding(point=point, conclusion="followed", observed=observed, certainty=certainty)
    if search.is_stable and search.name is not None:
        return Finding(
            point=point,
            conclusion="sent back unchanged",
            observed=observed,
            certainty=certainty,
            settings={"follow_next_urls": False},
        )
    return not_observed(
        point, "unknown: neither following it nor sending it back continues the listing", observed
    )


def _problems(found: Examination, continuation: Finding) -> Iterator[str]:
    if found.stopped is not None:
        yield found.stopped
    for operation in READS:
        seen = found.reads.get(operation.full_name)
        if seen is not None and seen.page is not None and seen.mismatch is not None:
            yield f"{operation.full_name} fails: {seen.mismatch}"
    search = found.continuation
    if search is not None and continuation.certainty == "not observed":
        name = search.first.probe.operation.full_name
        advice = "set `cursor_parameter` or `continuation`"
        yield f"{name}: no way to continue it was found; {advice}"
