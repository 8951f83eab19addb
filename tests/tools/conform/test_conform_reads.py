"""`adclient.conform`: each deviation of a read fails its checks, and what is open fails nothing."""

import attrs
import conform_services
from cases import each_case
from conform_services import ADS, account, edited, failed, put, replaced, seen, with_reads, without

from adclient.conform import conform
from adclient.survey.conform import MOST_PAGES, UNKNOWN_ACCOUNT

NAMES = {"status": "HTTP status", "distinct": "distinct ids", "next": "page.next"}
NAMES |= {"id": "data.id", "name": "data.name", "status_field": "data.status"}
NAMES |= {"date_range": "with date_range", "without": "without account_id"}


@each_case(
    ("change", "expected"),
    (replaced(ADS, 206, b'{"data": [], "page": {"next": null}}', old=200), "status date_range"),
    (replaced(ADS, 500), "status"),
    (replaced(ADS, 404), "status"),
    (replaced(ADS, 200, b"<html><title>Login</title></html>"), "body date_range without"),
    (edited(ADS, without("data")), "data date_range"),
    (edited(ADS, lambda body: body["data"].append("ad_9")), "data"),
    (edited(ADS, without("id", "data")), "id"),
    (edited(ADS, put("id", 7, "data"), call=1), "id"),
    (edited(ADS, without("name", "data")), "name"),
    (edited(ADS, put("status", True, "data")), "status_field"),
    (edited(ADS, lambda body: body["data"].append(body["data"][0])), "distinct"),
    (edited(ADS, without("page")), "page"),
    (edited(ADS, without("next", "page"), call=3), "next"),
    (edited(ADS, put("next", False, "page"), call=3), "next"),
)
def test_deviation_of_a_read_fails_its_checks(change, expected) -> None:
    report = with_reads(change, max_retries=0)
    assert failed(report) == {f"{ADS}: {NAMES.get(name, name)}" for name in expected.split()}
    assert report.exit_code == 1


@each_case(
    ("status", "body", "verdict"),
    (200, b'{"data": [], "page": {"next": null}}', "passed: 200"),
    (200, b"{}", "open: 200"),
)
def test_refusal_of_an_unknown_account_can_have_any_shape(status, body, verdict) -> None:
    def change(fake, request, response):
        is_unknown = UNKNOWN_ACCOUNT in request.url
        return attrs.evolve(response, status=status, body=body) if is_unknown else response

    report = with_reads(change, max_retries=0)
    assert (failed(report), report.exit_code) == (set(), 0)
    assert seen(report, f"{ADS}: unknown account_id") == verdict


def test_rows_of_one_id_are_open_if_they_differ() -> None:
    def daily(body: dict) -> None:
        body["data"] += [{**each, "day": "tue"} for each in body["data"]]

    report = with_reads(edited(ADS, daily))
    assert (failed(report), report.exit_code) == (set(), 0)
    assert seen(report, f"{ADS}: distinct ids") == "open: ad_1: 2 of 10 items"


def test_operations_that_deviate_alike_are_one_line() -> None:
    def change(fake, request, response):
        return attrs.evolve(response, body=response.body.replace(b'"name"', b'"title"'))

    told = str(with_reads(change))
    assert "beta.list_campaigns and 6 more · data.name: expected" in " ".join(told.split())
    assert told.count("data.name") == 1


def test_account_that_is_accepted_is_preferred() -> None:
    fake = conform_services.small_fake(accounts=[account(count=0)])
    report = conform(fake.client(), account_id=["account_0", conform_services.ACCOUNT])
    assert seen(report, "beta.list_campaigns: HTTP status") == "passed: 200"


# Continuations. The listing has three pages, and the third is the last.


def page_three_leads_back():
    bodies: list[dict] = []

    def edit(body: dict) -> None:
        bodies.append(body)
        if len(bodies) == 3:
            body["page"]["next"] = bodies[0]["page"]["next"]

    return edited(ADS, edit)


def page_two_again():
    """A change by which a page comes twice, each time with another continuation."""
    bodies: list[dict] = []

    def edit(body: dict) -> dict:
        bodies.append(body)
        return bodies[1] | {"page": body["page"]} if len(bodies) == 3 else body

    return edited(ADS, edit)


def ignored(fake, request, response):
    """A change by which a service does not look at the continuation."""
    first = attrs.evolve(request, url=request.url.partition("&cursor=")[0])
    return fake.handle(first) if conform_services.name_of(request) == ADS else response


HOW = "`adclient doctor` finds out how `page.next` is passed back"
FIRST_AGAIN = f"open: page 2: the first page again; {HOW}"
ELSEWHERE = "https://other.example/v1/ads?cursor=2"


@each_case(
    ("change", "verdict", "fails"),
    (page_three_leads_back(), "failed: page 3 leads back to an earlier page", "next"),
    (page_two_again(), "passed: null", "distinct"),
    (ignored, FIRST_AGAIN, ""),
    (
        edited(ADS, put("next", ELSEWHERE, "page")),
        "open: page 2: not sent: gamma.list_ads: the next 'https://other.example/v1/ads?…' "
        "points to another endpoint, so nothing was sent",
        "",
    ),
    (edited(ADS, put("next", {"after": 7}, "page"), call=1), "open: page 2: 400 ", ""),
)
def test_continuation_is_judged_as_far_as_the_interface_shows_it(change, verdict, fails) -> None:
    report = with_reads(change)
    assert failed(report) == {f"{ADS}: {NAMES[name]}" for name in fails.split()}
    assert seen(report, f"{ADS}: page.next").startswith(verdict)


def test_listing_that_is_very_long_is_not_read_to_its_end() -> None:
    report = with_reads(
        fake=conform_services.small_fake(accounts=[account(count=MOST_PAGES + 5)], page_size=1)
    )
    assert report.exit_code == 0
    assert seen(report, f"{ADS}: page.next") == "not run: not read to its end, but 100 pages"
    assert seen(report, f"{ADS}: data.id") == "passed: in all 100"
