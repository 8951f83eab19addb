"""The doctor on every profile of the fake: each switch alone, and all pairs of them."""

from itertools import product
from operator import attrgetter

import attrs
import pytest
from cases import each_case
from switches import SINGLY, SWITCHES

from adclient import Conventions
from adclient.doctor import Report, examine
from adclient.testing import FakeAdService, Profile

ACCOUNTS = ["account_b204", "account_c3d8", "account_a91f", "account_d118"]
READ_PLACES = {"query": "in the query", "body": "in the body", "either": "in the query"}
PAIRS = {
    one: [
        {one: first, other: second}
        for other in list(SWITCHES)[:number]
        for first, second in product(SWITCHES[one][1:], SWITCHES[other][1:])
    ]
    for number, one in enumerate(SWITCHES)
}


def test_every_switch_of_a_profile_is_tried() -> None:
    fields = {field.name for field in attrs.fields(Profile)}
    assert fields == {name for name in SWITCHES if not name.startswith(".")}


def check(chosen: dict) -> None:
    """The findings are those of the profile, or say that they are not observed."""
    conventions = Conventions(
        **{name[1:]: value for name, value in chosen.items() if name.startswith(".")}
    )
    profile = Profile(**{n: value for n, value in chosen.items() if not n.startswith(".")})
    is_locked = profile.key_header is not None
    token = "sesame" if is_locked else None
    fake = FakeAdService(page_size=5, token=token, conventions=conventions, profile=profile)
    auth = {"auth": lambda request: {"X-Api-Key": token}} if is_locked else {}
    report = examine(
        fake.base_url, account_id=ACCOUNTS, transport=fake.transport, timeout=3600, **auth
    )
    assert len(fake.requests) == report.sent <= 100
    assert {request.method for request in fake.requests} == {"GET"}
    assert fake.drafts == ()
    assert report.is_accepted
    check_findings(report, profile, conventions, is_locked=is_locked)


def check_findings(
    report: Report, profile: Profile, conventions: Conventions, *, is_locked: bool
) -> None:
    found, place = report.conventions(), profile.read_parameters or "query"
    told = {finding.point: (finding.certainty, finding.conclusion) for finding in report.findings}
    assert told["read parameters"] == ("observed", READ_PLACES[place])
    credentials = "needed, and those given work" if is_locked else "none needed for reads"
    assert told["credentials"] == ("observed", credentials)
    if place == "body":
        assert told["objects"][0] == "not observed"
    else:
        assert told["objects"][0] == "observed"
        assert found.object_style == conventions.object_style
    certainty, conclusion = told["continuation"]
    is_number = profile.continuation == "number"
    if profile.continuation == "none":
        assert (certainty, told["page size"][0]) == ("not observed", "not observed")
    elif "url" in profile.continuation:
        assert told["continuation"] == ("observed", "the URL in `next`, followed")
    elif is_number and conventions.cursor_parameter == "page":
        # A long number under the name of a page number may be something else.
        assert certainty == "not observed"
        assert "overlaps or skips" in report.problems[0]
        return
    else:
        # What a number means, nothing shows.
        assert certainty == ("likely" if is_number else "observed"), conclusion
        # The fake also accepts the entries of an object one by one.
        is_named = found.cursor_parameter == conventions.cursor_parameter
        assert is_named or (found.continuation is dict and profile.continuation == "object")
        assert told["page size"] == ("observed", "5 items")
        if profile.page_size_parameter is not None:
            size = "`limit` sets the page size; 5 items without it"
            assert told["size parameter"] == ("observed", size)
    assert told["request id"] == ("observed", conventions.request_id_headers[0].lower())
    assert found.request_id_headers[0] in (told["request id"][1], "x-request-id")
    assert told["limits"][0] == ("not observed", "observed")[bool(profile.requests_a_minute)]
    parts = {"text": "message", "detail": "message", "empty": "nothing but the status"}
    parts |= dict.fromkeys(("html", "truncated", "success_false"), "message")
    expected = parts.get(profile.errors, "message, code, details")
    assert told["errors"] == ("observed", f"the client reads: {expected}")
    assert report.problems == ()
    assert told["idempotency"][0] == "not observed"


@each_case("chosen", SINGLY)
def test_every_switch_is_found(chosen) -> None:
    check(chosen)


@pytest.mark.parametrize("one", [one for one, pairs in PAIRS.items() if pairs])
def test_every_pair_of_switches_is_found(one, pytestconfig) -> None:
    """A part of the pairs; `nox -s long` checks all."""
    is_long = pytestconfig.getoption("seeds") > 1
    each_case("chosen", PAIRS[one] if is_long else PAIRS[one][::44])(check)()


def test_classes_of_all_reads_fit_their_items() -> None:
    fake = FakeAdService()
    report = examine(fake.base_url, account_id=ACCOUNTS, transport=fake.transport)
    client = fake.client()
    assert len(report.classes) == 7
    for read, code in report.classes.items():
        names: dict = {}
        exec(code, names)
        (cls,) = (value for name, value in names.items() if name.startswith("My"))
        account = dict(zip(["beta", "gamma", "alpha", "delta"], ACCOUNTS, strict=True))
        account_id = account[read.partition(".")[0]]
        assert attrgetter(read)(client)(account_id=account_id).typed(cls).data
