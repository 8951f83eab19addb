"""The doctor on fakes: every switch of a profile, and on demand all pairs of switches."""

from itertools import combinations, product

from cases import each_case
from switches import ROWS, SWITCHES, profile_of

from adclient import Conventions
from adclient.doctor import Report, examine
from adclient.testing import FakeAdService, Profile

ACCOUNTS = ["account_b204", "account_c3d8", "account_a91f", "account_d118"]
READ_PLACES = {"query": "in the query", "body": "in the body", "either": "in the query"}
PAIRS = [
    {one: first, other: second}
    for one, other in combinations(SWITCHES, 2)
    for first, second in product(SWITCHES[one][1:], SWITCHES[other][1:])
]


def test_every_switch_is_found(pytestconfig) -> None:
    """`nox -s long` checks all pairs of switches."""
    is_long = pytestconfig.getoption("seeds") > 1
    each_case("chosen", PAIRS if is_long else ROWS)(check)()


def check(chosen: dict) -> None:
    """The findings are those of the profile, or say that they are not observed."""
    profile, settings = profile_of(chosen)
    conventions = Conventions(**settings)
    token = "sesame" if profile.key_header is not None else None
    fake = FakeAdService(page_size=5, token=token, conventions=conventions, profile=profile)
    auth = {"auth": lambda request: {"X-Api-Key": token}} if token else {}
    given = {"timeout": 3600, "most_requests": 300}
    report = examine(fake.client(**auth), account_id=ACCOUNTS, **given)
    assert len(fake.requests) == report.sent
    assert {request.method for request in fake.requests} == {"GET"}
    assert fake.drafts == ()
    assert report.is_accepted
    check_findings(report, profile, conventions)


def check_findings(report: Report, profile: Profile, conventions: Conventions) -> None:
    found, place = report.conventions(), profile.read_parameters or "query"
    told = {finding.point: (finding.certainty, finding.conclusion) for finding in report.findings}
    assert told["read parameters"] == ("observed", READ_PLACES[place])
    needed = "needed, and those given work" if profile.key_header else "none needed for reads"
    assert told["credentials"] == ("observed", needed)
    if place == "body":
        assert told["objects"][0] == "not observed"
    else:
        assert told["objects"][0] == "observed"
        assert found.object_style == conventions.object_style
    assert told["request id"] == ("observed", conventions.request_id_headers[0].lower())
    assert found.request_id_headers[0] in (told["request id"][1], "x-request-id")
    assert ("limits" in told) == bool(profile.requests_a_minute)
    parts = {"text": "message", "detail": "message", "empty": "nothing but the status"}
    parts |= dict.fromkeys(("html", "truncated", "success_false"), "message")
    expected = parts.get(profile.errors, "message, code, details")
    assert told["errors"] == ("observed", f"the client reads: {expected}")
    certainty, conclusion = told["continuation"]
    is_number = profile.continuation == "number"
    if is_number and conventions.cursor_parameter == "page":
        # A long number under the name of a page number may be something else.
        assert certainty == "not observed"
        assert "overlaps or skips" in report.problems[0]
        return
    assert report.problems == ()
    if profile.continuation == "none":
        assert certainty == "not observed"
    elif "url" in profile.continuation:
        assert told["continuation"] == ("observed", "the URL in `next`, followed")
    else:
        # What a number means, nothing shows.
        assert certainty == ("likely" if is_number else "observed"), conclusion
        # The fake also accepts the entries of an object one by one.
        is_named = found.cursor_parameter == conventions.cursor_parameter
        assert is_named or (found.continuation is dict and profile.continuation == "object")
        if profile.page_size_parameter is not None:
            size = "`limit` sets the page size; 5 items without it"
            assert told["size parameter"] == ("observed", size)
