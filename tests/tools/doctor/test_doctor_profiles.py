"""The doctor on fakes: every switch of a profile, and on demand all pairs of switches."""

from itertools import combinations, product

from cases import each_case
from switches import ROWS, SWITCHES, profile_of

from adclient import Conventions
from adclient.doctor import examine
from adclient.testing import FakeAdService, Fault

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
    each_case("chosen", *(PAIRS if is_long else ROWS))(check)()


def check(chosen: dict) -> None:
    """The findings are those of the profile, or say that they are not observed."""
    profile, settings = profile_of(chosen)
    conventions, place = Conventions(**settings), profile.read_parameters or "query"
    token = "sesame" if profile.key_header is not None else None
    fake = FakeAdService(page_size=5, token=token, conventions=conventions, profile=profile)
    auth = {"auth": lambda request: {"X-Api-Key": token}} if token else {}
    given = {"timeout": 3600, "most_requests": 300}
    report = examine(fake.client(**auth), account_id=ACCOUNTS, **given)
    assert {request.method for request in fake.requests} == {"GET"}
    found = report.conventions()
    told = {finding.point: (finding.certainty, finding.conclusion) for finding in report.findings}
    assert told["read parameters"] == ("observed", READ_PLACES[place])
    needed = "needed, and those given work" if token else "none needed for reads"
    assert told["credentials"] == ("observed", needed)
    assert told["objects"][0] == ("not observed" if place == "body" else "observed")
    assert place == "body" or found.object_style == conventions.object_style
    assert told["request id"] == ("observed", conventions.request_id_headers[0].lower())
    assert ("limits" in told) == bool(profile.requests_a_minute)
    form, certainty = profile.continuation, told["continuation"][0]
    is_number = form == "number"
    if is_number and conventions.cursor_parameter == "page":
        # A long number under the name of a page number may be something else.
        assert certainty == "not observed"
        assert report.exit_code == 1
        return
    assert (report.problems, report.exit_code) == ((), 4 if form == "none" else 0)
    if "url" in form:
        assert told["continuation"] == ("observed", "the URL in `next`, followed")
    elif form != "none":
        # What a number means, nothing shows.
        assert certainty == ("likely" if is_number else "observed")
        # The fake also accepts the entries of an object one by one.
        is_named = found.cursor_parameter == conventions.cursor_parameter
        assert is_named or (found.continuation is dict and form == "object")


def test_account_that_fails_on_other_platforms_is_used_on_its_own() -> None:
    fake = FakeAdService(page_size=5)
    for platform, account in zip(("beta", "gamma", "alpha", "delta"), ACCOUNTS, strict=True):
        where = {"where": lambda request, own=platform: own not in request.path}
        fake.faults.add(Fault.status(500), account_id=account, times=None, **where)
    report = examine(fake.client(), account_id=ACCOUNTS[::-1])
    assert (report.problems, report.exit_code) == ((), 0)
