"""The doctor on services of any shape: what it finds out, and that it is never falsely sure."""

import json
import ssl
from decimal import Decimal

import httpx
import pytest
from cases import each_case
from doctor_services import (
    ACCOUNT,
    ENDS,
    FORMS,
    URL,
    Listing,
    Service,
    examined,
    read_by_client,
    true_ids,
)
from hypothesis import given, settings, strategies as st
from raw_server import CERTIFICATE, refusing_url

from adclient import AdClient
from adclient._core.operations import READS
from adclient.doctor import Report, examine
from adclient.testing import FakeAdService, Profile

pytestmark = pytest.mark.usefixtures("doctor_retries_at_once")
PROXY = "http://127.0.0.1:1"


def check_that_a_client_reads_all(service: Service, report: Report) -> None:
    """A client with the conventions of a report reads the true items of every read."""
    for read in READS:
        assert read_by_client(service, report.conventions(), read) == true_ids(service, read), read


def is_accepted(report: Report) -> bool:
    """Whether the exit code would be 0."""
    return report.is_accepted and not report.problems


@each_case("is_strict", [True, False])
@each_case("place", ["query", "body"])
@each_case("form", FORMS)
@each_case("name", ["cursor", "lastKey"])
def test_settings_that_were_found_read_every_listing(is_strict, place, form, name) -> None:
    name = form if form in ("page", "offset") else name
    service = Service(listing=Listing(is_strict=is_strict, place=place, form=form, name=name))
    report = examined(service)
    assert report.problems == ()
    certainty = "likely" if form == "item number" else "observed"
    assert report["continuation"].certainty == certainty
    assert report["read parameters"].certainty == "observed"
    assert len(service.requests) == report.sent <= 100
    check_that_a_client_reads_all(service, report)


NAMES = ["cursor", "page_token", "after", "last_id", "page[after]", "page", "offset", "start", "k7"]
MEANINGS = ["offset", "page", "item number", "last", "following", "ignored"]
OLD = [
    (name, meaning)
    for name in ("offset", "skip", "page", "cursor", "after", "since_id", "page_token")
    for meaning in MEANINGS
    # An old offset is no page, and an old page no offset.
    if (name in ("offset", "skip"), meaning) != (True, "page")
    if (name, meaning) != ("page", "offset")
]
LISTINGS = st.builds(
    Listing,
    place=st.sampled_from(["query", "body"]),
    name=st.sampled_from(NAMES),
    form=st.sampled_from(FORMS),
    end=st.sampled_from(ENDS),
    size=st.integers(2, 5),
    count=st.sampled_from([0, 1, 4, 5, 8, 10, 13]),
    old=st.lists(st.sampled_from(OLD), max_size=2).map(dict),
    is_strict=st.booleans(),
    hint=st.sampled_from(["", "400", "link", "page"]),
    total=st.sampled_from([None, None, 8, 10, 13]),
    is_descending=st.booleans(),
)
SERVICES = st.builds(
    Service,
    listing=LISTINGS,
    others=st.dictionaries(st.sampled_from(list(READS)), LISTINGS, max_size=2),
    account=st.sampled_from(["404", "404", "empty", "same"]),
    foreign=st.sampled_from([(), (), (), ("alpha",), ("beta", "delta")]),
)


@settings(max_examples=150)
@given(service=SERVICES)
def test_report_without_problems_is_never_wrong(service) -> None:
    report = examined(service)
    assert len(service.requests) == report.sent <= 100
    if is_accepted(report):
        check_that_a_client_reads_all(service, report)


@each_case(
    ("listing", "name"),
    [
        # An old offset skips: the continuation is the number of an item.
        (
            Listing(form="item number", name="last_id", old={"offset": "offset"}, count=60),
            "last_id",
        ),
        # A parameter for the last item skips one: the continuation is the next item.
        (Listing(form="following", name="start_key", old={"after": "last"}), "start_key"),
        (Listing(form="following", name="k7", old={"after": "last"}), None),
        # An old page overlaps or skips, and the offset is right; and the reverse.
        (Listing(form="offset", name="offset", old={"page": "page"}, count=40), "offset"),
        (Listing(form="offset", name="offset", old={"cursor": "page"}, size=2, count=8), "offset"),
        (Listing(form="page", name="page", old={"offset": "offset"}), "page"),
        (Listing(form="page", name="k7", old={"offset": "offset"}), None),
        (Listing(form="page", name="k7", old={"page": "item number"}), None),
        # An old name does not move on, or leads to nothing.
        (Listing(name="k7", old={"cursor": "ignored"}), None),
        # An old name goes round in circles, later.
        (Listing(form="item number", name="last_id", old={"after": "circle"}, count=60), "last_id"),
        # An old offset takes the number of an item, and would lose items.
        (Listing(form="item number", name="last_id", old={"after": "offset"}, count=60), "last_id"),
        (Listing(form="item number", name="last_id", old={"after": "offset"}, count=200), None),
        (Listing(form="offset", name="k7", old={"cursor": "page"}, size=3, count=8), None),
        # Pages overlap by one item.
        (Listing(name="k7", old={"cursor": "overlap"}), None),
        (Listing(name="after", old={"cursor": "overlap"}), "after"),
        # Beside a token, too: it would lose the first item of each page, or is a page.
        (Listing(name="page_token", old={"cursor": "skip"}), "page_token"),
        (Listing(name="start_key", old={"after": "skip"}), "start_key"),
        (Listing(form="fraction", name="since_id", old={"after": "skip"}), "since_id"),
        # One that loses nothing.
        (Listing(form="offset", name="k7", old={"offset": "offset"}), "offset"),
    ],
)
def test_old_parameter_that_loses_items_is_not_taken(listing, name) -> None:
    service = Service(listing=listing)
    report = examined(service, most_requests=300)
    assert is_accepted(report) is (name is not None)
    if name is None:
        assert report["continuation"].certainty == "not observed"
    else:
        assert report.conventions().cursor_parameter == name
        check_that_a_client_reads_all(service, report)


@each_case(
    ("listing", "other"),
    [
        (Listing(name="page_token"), Listing(old={"page_token": "skip"})),
        (
            Listing(name="after", form="offset", count=20),
            Listing(name="since_id", form="item number", old={"after": "ignored"}),
        ),
    ],
)
def test_way_of_one_read_is_compared_on_another(listing, other) -> None:
    service = Service(listing=listing, others={"gamma.list_ads": other})
    report = examined(service, most_requests=300)
    assert is_accepted(report)
    check_that_a_client_reads_all(service, report)


@each_case("name", ["page", "after"])
def test_empty_first_page_does_no_harm(name) -> None:
    class Late(Service):
        def page(self, listing, items, more):
            is_first = f"{name}=" not in str(self.requests[-1].url)
            return super().page(listing, [] if is_first else items, 2 if is_first else more)

    report = examined(Late(listing=Listing(name=name, form="page", count=0)))
    assert report.problems


@each_case("hint", ["400", "link", "page"])
@each_case("name", ["k_7", "page[k7]", "resumeAfter"])
def test_name_that_the_service_mentions_is_found(hint, name) -> None:
    report = examined(Service(listing=Listing(name=name, hint=hint, is_strict=hint == "400")))
    assert (report.conventions().cursor_parameter, report.problems) == (name, ())
    assert report["continuation"].certainty == "observed"


def test_rare_name_that_is_mentioned_nowhere_is_not_found() -> None:
    report = examined(Service(listing=Listing(name="k7")), most_requests=700)
    assert report["continuation"].certainty == "not observed"
    (problem,) = report.problems
    assert problem.startswith("beta.list_campaigns and 6 others: no way to continue it was found")
    assert problem.endswith("; set `cursor_parameter` or `continuation` yourself")
    (few,) = examined(Service(listing=Listing(name="k7"))).problems
    assert few.endswith(
        "too few requests were left to find its continuation; allow more: `--requests`"
    )


@each_case("end", ENDS)
def test_end_of_a_listing_is_found(end) -> None:
    service = Service(listing=Listing(end=end))
    report = examined(service)
    assert report.conventions().end_of_listing == end
    assert (report["end of listing"].certainty, report.problems) == ("observed", ())
    check_that_a_client_reads_all(service, report)


def test_reads_that_differ_have_settings_of_their_own() -> None:
    service = Service(
        listing=Listing(name="after"),
        others={
            "gamma.list_ads": Listing(name="page", form="page", end="missing", place="body"),
            "beta.detect_creative_fatigue": Listing(form="href", end="false"),
            "alpha.explain_objectives": Listing(name="k", form="url"),
            "delta.analyze_wasted_spend": Listing(form="foreign token", name="after"),
            "delta.infer_business_profile": Listing(name="region_id", form="entries", end="empty"),
        },
    )
    report = examined(service)
    assert report.problems == ()
    check_that_a_client_reads_all(service, report)
    conventions = report.conventions()
    assert conventions.cursor_parameter == "after"
    assert conventions.reads["gamma.list_ads"] == {
        "read_parameters": "body",
        "cursor_parameter": "page",
        "end_of_listing": "missing",
    }
    # A URL needs no setting.
    assert conventions.reads.keys() == service.others.keys() - {"alpha.explain_objectives"}
    told = str(report)
    assert "  observed      continuation     gamma.list_ads: `page` takes a number\n" in told
    assert "alpha.explain_objectives: the URL in `next`, followed\n" in told
    names: dict = {"transport": httpx.MockTransport(service.handle)}
    exec(report.code.partition("page =")[0], names)
    assert names["client"]._engine.options.conventions == conventions


def read_twice(account: str, **others) -> Service:
    return Service(account=account, listing=Listing(**others))


@each_case(
    ("service", "point", "problem"),
    [
        # It does not look at the account, or at anything.
        (read_twice("same"), "read parameters", "makes no difference"),
        (read_twice("same", is_strict=True), "", "makes no difference"),
        (read_twice("empty", count=0), "read parameters", "makes no difference"),
        # Its order is random.
        (Service(is_random=True), "continuation", "its pages change from request to request"),
        # It does not look at the continuation.
        (read_twice("404", name="k7", size=9, form="last"), "continuation", "no way to continue"),
        # Items are missing.
        (read_twice("404", total=12), "", "`total` is 12, and 10 items were read"),
        (read_twice("404", count=3, total=9), "", "`total` is 9, and 3 items were read"),
        (read_twice("404", count=3, extra={"meta": {"has_more": True}}), "", "has `meta.has_more`"),
        (
            read_twice("404", count=3, end="missing", extra={"next_cursor": "x"}),
            "",
            "`next_cursor`",
        ),
        (Service(listing=Listing(count=3), headers={"link": '</x>; rel="next"'}), "", "a `Link`"),
        (read_twice("404", count=3, end="missing"), "", "no listing with two pages ended as"),
        # It may have no more, or not have understood.
        (read_twice("404", count=5, form="yes"), "continuation", "no text, number or object"),
    ],
)
def test_problem_is_reported_with_a_next_step(service, point, problem) -> None:
    report = examined(service, most_requests=300)
    (found,) = [each for each in report.problems if problem in each]
    assert "; " in found
    assert report.is_accepted
    if point:
        assert report[point].certainty == "not observed"


@each_case(
    ("extra", "headers"),
    [
        *(({name: value}, {}) for name, value in {"next_page": 2, "pages": 3, "more": 6}.items()),
        *(({name: value}, {}) for name, value in {"total": "10", "remaining": 6.0}.items()),
        *(({name: value}, {}) for name, value in {"isLast": False, "truncated": True}.items()),
        ({"meta": {"pagination": {"totalItems": 10.0}}}, {}),
        ({}, {"x-total-count": "10"}),
        ({}, {"content-range": "items 0-3/10"}),
        ({}, {"link": "</x>; REL='next'"}),
        ({}, {"link": '</x>; rel="prefetch Next"'}),
    ],
)
def test_successor_that_is_told_in_other_words_is_a_problem(extra, headers) -> None:
    (problem,) = examined(Service(listing=Listing(count=4, extra=extra), headers=headers)).problems
    assert "so items may be missing; " in problem


def test_other_numbers_are_no_problem() -> None:
    listing = Listing(total=10, extra={"pages": 3, "account_id": 8123, "discount": 15})
    assert examined(Service(listing=listing)).problems == ()
    quiet = {"meta": {"retry_count": 0, "next_offset": 0, "tags": []}, "rate": {"remaining": 7}}
    headers = {"x-page": "1", "content-range": "items 0-2/*", "link": "</x>; rel=prev"}
    assert examined(Service(listing=Listing(count=3, extra=quiet), headers=headers)).problems == ()


class EmptySecondPage(Service):
    """Says that more follows whenever a page is full."""

    def page(self, listing, items, more):
        return super().page(listing, items, "at_4" if len(items) == 4 else None)


def test_empty_second_page_proves_nothing() -> None:
    others = {"gamma.list_ads": Listing(count=4, name="after")}
    report = examined(EmptySecondPage(listing=Listing(count=6, name="after"), others=others))
    (problem,) = report.problems
    assert problem == ("gamma.list_ads: its second page is empty; pass an account with more items")


def test_service_that_fails_on_a_wrong_name_is_only_likely() -> None:
    class Fragile(Service):
        def handle(self, request):
            response = super().handle(request)
            return httpx.Response(500) if response.status_code == 422 else response

    report = examined(Fragile(listing=Listing(is_strict=True)))
    assert report["continuation"].certainty == "likely"
    assert "requests failed" in report.problems[0]


def test_listing_that_goes_wrong_later_is_a_problem() -> None:
    class Forgetful(Service):
        def page(self, listing, items, more):
            is_late = items and items[0]["id"] == "item_33"
            return super().page(
                listing, self.items("beta.list_campaigns")[:4] if is_late else items, more
            )

    report = examined(Forgetful(listing=Listing(count=30)))
    assert report.problems[0] == (
        "beta.list_campaigns and 6 others: page 4: same items; "
        "ask the makers of the service (`--markdown` has the questions)"
    )


def test_offset_that_counts_wrong_later_is_a_problem() -> None:
    class Leaping(Service):
        def page(self, listing, items, more):
            return super().page(listing, items, 17 if more == 16 else more)

    listing = Listing(form="offset", name="offset", count=30)
    report = examined(Leaping(listing=listing))
    assert "page 6: overlaps or skips" in report.problems[0] or "overlaps" in report.problems[0]


def test_continuation_that_stays_the_same_is_not_taken() -> None:
    class Standing(Service):
        def page(self, listing, items, more):
            return super().page(listing, items, more and "at_4")

    report = examined(Standing(listing=Listing(count=30)), most_requests=200)
    assert report["continuation"].certainty == "not observed"
    assert "`cursor`: does not move on" in report["continuation"].observed


def test_limit_of_requests_is_kept() -> None:
    long = Listing(count=400)
    report = examined(Service(listing=long))
    assert report.sent <= 100
    (problem,) = report.problems
    assert problem.startswith("beta.list_campaigns and 6 others: not read to its end; allow more")
    short = examined(Service(listing=long, others={"gamma.list_ads": Listing()}))
    assert (short.problems, short.conventions().end_of_listing) == ((), "null")
    assert "; not to its end: beta.list_campaigns, gamma.search" in short["reads"].conclusion
    differing = {"gamma.list_ads": Listing(end="false"), "beta.list_campaigns": Listing()}
    unsure = examined(Service(listing=long, others=differing))
    assert "not read to its end" in unsure.problems[0]
    stopped = examined(Service(), most_requests=9)
    assert (stopped.sent, len(stopped.problems)) == (9, 2)
    assert stopped.problems[0] == "ended early: 9 requests were sent; allow more: `--requests`"


def test_read_that_has_another_shape_is_a_problem() -> None:
    class Odd(Service):
        def items(self, read, account=ACCOUNT):
            items = super().items(read, account)
            return [{**item, "id": 7} for item in items[:1]] if read == "gamma.list_ads" else items

        def page(self, listing, items, more):
            response = super().page(listing, items, more)
            is_alpha = "alpha" in str(self.requests[-1].url)
            other = {"results": [{"id": "a", "tags": []}], "paging": {"cursors": {"after": "b"}}}
            return httpx.Response(200, json=other) if is_alpha else response

    report = examined(Odd())
    assert [problem.partition(";")[0] for problem in report.problems] == [
        "gamma.list_ads: $.data[0].id: expected text, got a number",
        "alpha.explain_objectives: not accepted: 200, not the documented shape: "
        "{results [{id, tags []}], paging {cursors {after}}}",
    ]
    assert report["reads"].conclusion == "6 of 7 are accepted"


def test_platform_without_an_account_is_a_problem() -> None:
    fake = FakeAdService()
    accounts = ["account_b204", "account_c3d8"]
    report = examine(fake.base_url, account_id=accounts, transport=fake.transport)
    assert [problem.rpartition("; ")[2] for problem in report.problems] == [
        "pass an account of alpha with `--account`",
        "pass an account of delta with `--account`",
    ]


class ByPlatform(Service):
    """Each of two accounts has items of its own platforms; the others are empty."""

    def page(self, listing, items, more):
        request = self.requests[-1]
        is_first = "beta" in request.url.path or "delta" in request.url.path
        is_own = request.url.params.get("account_id") == ("one" if is_first else "two")
        return super().page(listing, items if is_own else [], more if is_own else None)


@each_case("accounts", [["one", "two"], ["two", "one"]])
def test_account_with_items_is_read_rather_than_an_empty_one(accounts) -> None:
    report = examined(ByPlatform(account="other"), account_id=accounts)
    assert report.problems == ()
    accounts_of = {name: each.account_id for name, each in report.service.listings.items()}
    assert accounts_of["beta.list_campaigns"] == "one"
    assert accounts_of["gamma.list_ads"] == "two"


def test_first_account_is_taken_if_all_are_empty() -> None:
    report = examined(Service(account="empty", listing=Listing(count=0)), account_id=["one", "two"])
    assert {each.account_id for each in report.service.listings.values()} == {"one"}


def test_account_that_was_not_used_is_a_problem() -> None:
    report = examined(Service(), account_id=[ACCOUNT, "other"])
    assert report.problems == ("other was not used for any read; examine it alone",)


def test_read_that_ignores_the_account_has_a_line_of_its_own() -> None:
    class Ignoring(Service):
        def handle(self, request):
            self.account = "same" if "gamma-ads/list" in str(request.url) else "404"
            return super().handle(request)

    told = str(examined(Ignoring()))
    assert "gamma.list_ads: in the query, but the account makes no difference\n" in told


def test_rotating_items_are_no_difference() -> None:
    class Rotating(Service):
        def items(self, read, account=ACCOUNT):
            number = len(self.requests)
            return [{"id": f"item_{number}_{n}", "name": "A", "status": "B"} for n in range(3)]

    report = examined(Rotating(account="same"))
    assert report["read parameters"].certainty == "not observed"
    assert report.problems


def test_default_account_is_not_taken_for_one_of_the_platform() -> None:
    report = examined(Service(foreign=("beta",)))
    assert report.problems == (
        "beta.list_campaigns and 1 other: not accepted: 404 no such account; "
        "pass an account of beta with `--account`",
    )


def test_account_that_is_refused_elsewhere_is_not_that_of_the_items() -> None:
    report = examined(Service(foreign=("beta",), listing=Listing(place="body")))
    assert report.problems == (
        "beta.list_campaigns and 1 other: accepted in the query alone, and an account that cannot "
        "exist makes no difference; pass an account of beta with `--account`",
    )


def test_place_is_where_an_account_makes_a_difference() -> None:
    others = {"beta.list_campaigns": Listing(place="body"), "gamma.list_ads": Listing(count=0)}
    service = Service(others=others, account="empty")
    report = examined(service)
    assert report.problems == ()
    check_that_a_client_reads_all(service, report)
    assert report.conventions().reads["beta.list_campaigns"] == {"read_parameters": "body"}


class Public(Service):
    """Without credentials, it has no items."""

    def items(self, read, account=ACCOUNT):
        is_known = "authorization" in self.requests[-1].headers
        return super().items(read, account) if is_known else []


class Failing(Service):
    """Without credentials, it fails."""

    def handle(self, request):
        response = super().handle(request)
        return response if "authorization" in request.headers else httpx.Response(500)


@each_case(
    ("service", "given", "expected"),
    [
        (
            Service(header="x-api-key"),
            {"auth": lambda _: {"X-Api-Key": "sesame"}},
            ("observed", "needed, and those given work"),
        ),
        (
            Service(header="authorization", secret="Token sesame", tenant="t"),
            {"auth": lambda _: {"Authorization": "Token sesame"}, "headers": {"X-Tenant": "t"}},
            ("observed", "needed, and those given work"),
        ),
        (
            Service(header="x-api-key"),
            {"token": "sesame"},
            ("observed", "the given ones are refused"),
        ),
        (Service(header="x-api-key"), {}, ("observed", "needed")),
        (
            Service(tenant="t"),
            {"token": "sesame", "headers": {"x-tenant": "t"}},
            ("observed", "none needed for reads"),
        ),
        (Service(), {"token": lambda: "sesame"}, ("observed", "none needed for reads")),
        (Service(listing=Listing(count=0)), {}, ("likely", "none needed for reads")),
        (Public(), {"token": "sesame"}, ("likely", "needed, and those given work")),
        (
            Failing(),
            {"token": "sesame"},
            ("not observed", "those given are accepted; whether they are needed is unknown"),
        ),
    ],
)
def test_credentials_are_needed_or_not(service, given, expected) -> None:
    found = examined(service, **given)["credentials"]
    assert (found.certainty, found.conclusion) == expected


class FreeText(Service):
    """Takes the whole `targeting` for words to search for, and ignores brackets."""

    def searched(self, listing, given, items):
        words = given.get("targeting")
        return [item for item in items if words is None or words in item["name"]]


class EveryWord(Service):
    """The same, by every word; but it understands brackets."""

    def searched(self, listing, given, items):
        words = given.get("targeting")
        if words is None:
            return super().searched(listing, given, items)
        return [item for item in items if item["name"].split()[1] in words] + items[:2]


class Reorders(Service):
    """Ignores the search, and orders its items in another way where there is one."""

    def searched(self, listing, given, items):
        return items[::-1] if "targeting" in given else items


class Alternates(Service):
    """Orders its items in another way later."""

    def searched(self, listing, given, items):
        found = super().searched(listing, given, items)
        return found[::-1] if len(self.requests) > 10 else found


class RefusesText(Service):
    """Refuses JSON."""

    def handle(self, request):
        response = super().handle(request)
        is_text = "targeting=" in str(request.url)
        return self.refusal(400, "targeting must be an object") if is_text else response


@each_case(
    ("service", "expected"),
    [
        (Service(), ("observed", "one JSON value")),
        (Service(listing=Listing(style="deep_object")), ("observed", "brackets")),
        (RefusesText(listing=Listing(style="deep_object")), ("observed", "brackets")),
        (
            Reorders(listing=Listing(size=50)),
            ("not observed", "unknown: none of the styles has an effect"),
        ),
        (
            Alternates(listing=Listing(size=50)),
            ("not observed", "unknown: a search changes from request to request"),
        ),
        (FreeText(), ("not observed", "unknown: none of the styles has an effect")),
        (
            EveryWord(listing=Listing(style="deep_object")),
            ("not observed", "unknown: more than one of the styles has an effect"),
        ),
        (
            Service(listing=Listing(count=1)),
            ("not observed", "unknown: the search has too few items to tell"),
        ),
        (Service(listing=Listing(place="body")), ("not observed", "the body is JSON")),
    ],
)
def test_style_of_objects_is_found(service, expected) -> None:
    found = examined(service)["objects"]
    assert (found.certainty, found.conclusion) == expected


def test_targeting_that_has_no_effect_is_a_problem() -> None:
    report = examined(FreeText(), targeting={"type": "X"})
    assert report["objects"].certainty == "not observed"
    assert report.problems == (
        "gamma.search_targeting: no style of the targeting has an effect; pass another one",
    )
    assert examined(Service(), targeting={"query": "Name 22"}).problems == ()


@each_case(
    ("headers", "expected"),
    [
        ({"x-request-id": None}, ("observed", ("x-request-id", "request-id"))),
        ({"x-correlation-id": None}, ("observed", ("x-correlation-id",))),
        ({"x-request-id": "0", "request-id": None}, ("observed", ("request-id",))),
        ({"x-amzn-requestid": None, "cf-ray": None}, ("observed", ("x-amzn-requestid", "cf-ray"))),
        ({"x-request-id": "always the same"}, ("likely", ("x-request-id", "request-id"))),
        ({"x-(request-id)": None}, ("likely", ("x-request-id", "request-id"))),
        ({}, ("likely", ("x-request-id", "request-id"))),
    ],
)
def test_header_with_a_new_value_each_time_is_the_request_id(headers, expected) -> None:
    class Numbered(Service):
        def page(self, listing, items, more):
            response = super().page(listing, items, more)
            number = f"r-{len(self.requests)}"
            response.headers.update({name: text or number for name, text in headers.items()})
            return response

    report = examined(Numbered())
    found = report["request id"].certainty, tuple(report.conventions().request_id_headers)
    assert found == expected
    names: dict = {"transport": httpx.MockTransport(Numbered().handle)}
    exec(report.code.partition("page =")[0], names)
    assert tuple(names["client"]._engine.options.conventions.request_id_headers) == expected[1]


def test_page_sizes_that_differ_are_only_likely() -> None:
    found = examined(Service(others={"gamma.list_ads": Listing(size=3)}))["page size"]
    assert (found.conclusion, found.certainty) == ("3 to 4 items", "likely")


@each_case(
    "value", ["\\ud800", "http://[", "?" + "a" * 70_000, "x" * 70_000, "a?b=" + "c" * 70_000]
)
def test_odd_continuations_do_no_harm(value) -> None:
    class Odd(Service):
        def page(self, listing, items, more):
            content = super().page(listing, items, more and "ODD").content
            return httpx.Response(200, content=content.replace(b"ODD", value.encode()))

    others = {"beta.list_campaigns": Listing()}
    report = examined(Odd(listing=Listing(count=1), others=others))
    assert report["continuation"].certainty == "not observed"
    assert report["read parameters"].certainty == "observed"
    assert report.problems


@each_case("nested", ['{"id": %s}', "%s", '{"x": %s, "id": "a"}'])
def test_deep_items_do_no_harm(nested) -> None:
    text = nested % ("[" * 1000 + "]" * 1000)
    body = f'{{"data": [{text}], "page": {{"next": {"[" * 900 + "]" * 900}}}}}'
    report = examined(
        Service(), transport=httpx.MockTransport(lambda _: httpx.Response(200, text=body))
    )
    assert report["continuation"].certainty == "not observed"


def test_many_accounts_that_are_refused_end_the_search() -> None:
    service = Service(listing=Listing(is_strict=True))
    report = examined(service, account_id=[f"other_{n}" for n in range(5)])
    assert (report.is_accepted, report.sent) == (False, 12)
    assert report.problems == ("no read was accepted; check the accounts",)
    with pytest.raises(KeyError):
        report["another point"]


@each_case(
    ("given", "line"),
    [
        ({"token": "sesame"}, 'token=os.environ["ADCLIENT_TOKEN"],'),
        ({"token": lambda: "sesame"}, "token=token,"),
        ({"auth": lambda request: {"X-Api-Key": "sesame"}}, "auth=auth,"),
        ({"headers": {"X-Tenant": "t 1"}}, 'headers={"x-tenant": "t 1"},'),
        ({"transport": httpx.MockTransport(Service().handle)}, "transport=transport,"),
        ({"http_client": httpx.Client()}, "http_client=http_client,"),
        ({"proxy": PROXY}, f'proxy="{PROXY}",'),
        ({"proxy": "http://me:sesame@127.0.0.1:1"}, "proxy=proxy,"),
        ({"verify": False}, "verify=False,"),
        ({"verify": CERTIFICATE}, f'verify="{CERTIFICATE}",'),
        ({"verify": ssl.create_default_context()}, "verify=verify,"),
    ],
)
def test_code_makes_the_client_that_was_examined(given, line, monkeypatch) -> None:
    report = examine(refusing_url(), account_id=ACCOUNT, **given)
    assert f",\n    {line}\n)" in report.code
    assert "sesame" not in report.details() + json.dumps(report.to_dict()) + repr(report)
    monkeypatch.setenv("ADCLIENT_TOKEN", "sesame")
    names = dict(given)
    exec(report.code.partition("page =")[0], names)
    names["client"].close()


def test_settings_that_are_only_likely_are_marked_in_the_code() -> None:
    report = examined(Service(listing=Listing(form="item number", name="last_id")))
    assert '        cursor_parameter="last_id",  # likely\n' in report.code


def test_functions_are_named_in_the_code() -> None:
    report = examined(Service(listing=Listing(form="href")))
    assert "from adclient.conventions import query_of_url\n" in report.code
    assert "        continuation=query_of_url,\n" in report.code
    told = report.to_dict()
    assert told["conventions"]["continuation"] == "query_of_url"
    assert json.dumps(told)


def test_progress_tells_each_request_and_wait() -> None:
    fake = FakeAdService(profile=Profile(requests_a_minute=5))
    lines: list[str] = []
    report = examine(
        fake.base_url,
        account_id="account_b204",
        transport=fake.transport,
        timeout=3600,
        progress=lines.append,
    )
    assert lines[0] == "beta.list_campaigns: the parameters in the query"
    waits = [line for line in lines if "waiting" in line]
    assert waits
    assert all(line.endswith(" s, as the service asked") for line in waits)
    assert report["limits"].conclusion == "429 when they are exceeded, with a Retry-After"


FIELDS = [
    {"spend": 1, "tags": ["a"], "class": 1, "x-y": 2, "deep": {"a": 1}, "note": None},
    {"spend": 1.5, "tags": [], "deep": {}, "big": "BIG", "mixed": "a", "note": None},
    {"spend": 2, "tags": [1], "deep": {}, "mixed": 1, "is_on": True, "_own": 1},
]


def test_class_for_additional_fields_reads_the_items() -> None:
    class Rich(Service):
        def items(self, read, account=ACCOUNT):
            plain = super().items(read, account)
            return [{**item, **more} for item, more in zip(plain, FIELDS, strict=False)]

        def page(self, listing, items, more):
            content = super().page(listing, items, more).content
            digits = b"12345678901234567890.5"
            return httpx.Response(200, content=content.replace(b'"BIG"', digits))

    service = Rich(listing=Listing(count=3))
    code = examined(service).classes["beta.list_campaigns"]
    names: dict = {}
    exec(code, names)
    with AdClient(URL, transport=httpx.MockTransport(service.handle)) as client:
        page = client.beta.list_campaigns(account_id=ACCOUNT).typed(names["MyCampaign"])
    first, second, third = page.data
    assert (first.spend, second.spend, third.is_on, first.is_on) == (1, 1.5, True, None)
    assert first.extra["class"] == 1
    assert second.big == Decimal("12345678901234567890.5")
    assert "these names: ['class', 'x-y', '_own']" in code
    assert "spend: int | float\n" in code
    assert "is_on: bool | None = None\n" in code


def test_ids_are_whole_numbers_in_classes_and_huge_totals_are_reported() -> None:
    item = {"id": "a", "name": "a", "status": "ENABLED", "ref": 23851234567890123, "self": "/a"}
    body = {"data": [item], "page": {"next": None, "total": 10**400}}
    transport = httpx.MockTransport(lambda _: httpx.Response(200, content=json.dumps(body)))
    report = examine("https://ads.example.com", account_id="a", transport=transport)
    lines = report.classes["beta.list_campaigns"].splitlines()
    assert "    ref: int" in lines
    assert not any("self:" in line for line in lines)
    assert any("`total` is 1000" in problem for problem in report.problems)
