"""What keeps a client from reading a listing is a problem of the report, with a next step."""

from uuid import uuid4

import httpx
from cases import each_case
from doctor_services import OTHER_SIZES, SIZES, Listing, Service, examined

ASK = "; ask the makers of the service (`--markdown` has the questions)"
OFFSETS = {"form": "offset", "name": "offset", "count": 30}
HAS_MORE = {"meta": {"has_more": True}}


def only(count: int, account: str = "404", **others) -> Service:
    return Service(account=account, listing=Listing(count=count, **others))


def turned(turn, **others) -> Service:
    """A service whose pages are changed."""
    return Service(listing=Listing(**others), turn=turn)


def new_ids(request: httpx.Request, items: list, more: object) -> tuple[list, object]:
    return [{**each, "id": uuid4().hex} for each in items], None


def skipping(request: httpx.Request, items: list, more: object) -> tuple[list, object]:
    return items, 17 if more == 16 else more


def late(request: httpx.Request, items: list, more: object) -> tuple[list, object]:
    """The fourth page has the items of the first one."""
    is_late = items and items[0]["id"] == "item_33"
    return Service().items("beta.list_campaigns")[:4] if is_late else items, more


@each_case(
    ("service", "point", "problem"),
    # It does not look at the account, or at anything.
    (only(10, "same"), "read parameters", "makes no difference; pass an account that has"),
    (only(10, "same", is_strict=True), "", "makes no difference"),
    (Service(account="same", turn=new_ids), "read parameters", "makes no difference"),
    # Its order is random.
    (Service(is_random=True), "continuation", f"change from request to request{ASK}"),
    # It does not look at the continuation.
    (only(10, name="k7", size=9, form="last"), "continuation", "no way to continue"),
    # It may have no more, or not have understood.
    (only(5, form="yes"), "continuation", "no text, number or object; set `cursor_parameter`"),
    # It goes wrong later.
    (turned(late, count=30), "", f"page 4, to which the next 'at_12' leads: same items{ASK}"),
    (turned(skipping, **OFFSETS), "", f": its pages skip items, as the continuations show{ASK}"),
    # Items are missing.
    (only(10, total=12), "", "`page.total` is 12, and 10 items were read, so items may be missing"),
    (only(10, total=10**400), "", "`page.total` is 1000"),
    (
        Service(listing=Listing(total=12), others={"gamma.list_ads": Listing(count=12, size=12)}),
        "",
        "`page.total` is 12",
    ),
    (only(3, extra=HAS_MORE), "", "the last page has `meta.has_more`, so items may be missing"),
    (only(3, end="missing", extra={"next_cursor": "x"}), "", "`next_cursor`"),
    (only(3, end="missing"), "", "no listing with two pages ended as this page does; pass"),
)
def test_problem_is_reported_with_a_next_step(service, point, problem) -> None:
    report = examined(service, most_requests=300)
    (found,) = [each for each in report.problems if problem in each]
    assert "; " in found
    assert report.is_accepted
    if point:
        assert report[point].certainty == "not observed"


STATED = {"next_page": 2, "total": "10", "isLast": False, "truncated": True}


@each_case(
    ("extra", "headers"),
    *(({name: value}, {}) for name, value in STATED.items()),
    ({}, {"x-total-count": "10"}),
    ({}, {"x-next-cursor": "b"}),
    ({}, {"content-range": "items 0-3/10"}),
    ({}, {"link": "</x>; REL='next'"}),
)
def test_successor_that_is_named_in_other_words_is_a_problem(extra, headers) -> None:
    (problem,) = examined(Service(listing=Listing(count=4, extra=extra), headers=headers)).problems
    assert "so items may be missing; " in problem


QUIET = {"meta": {"retry_count": 0, "next_offset": 0, "tags": []}, "rate": {"remaining": 7}}
HEADERS = {"x-page": "1", "content-range": "items 0-2/*", "link": "</x>; rel=prev"}


@each_case(
    "service",
    *(only(30, size=9, name="marker", sizes={"limit": kind}) for kind in (*SIZES, *OTHER_SIZES)),
    only(10, total=10, extra={"pages": 3, "account_id": 8123, "discount": 15}),
    Service(others={"gamma.list_ads": Listing(extra={"paging": {"count": 4}}, count=1)}),
    Service(listing=Listing(count=3, extra=QUIET), headers=HEADERS),
    # Any parameter in the query is refused, so this says nothing of the account.
    only(0, place="body", is_strict=True),
)
def test_what_proves_no_loss_is_no_problem(service) -> None:
    assert examined(service).problems == ()


def test_continuation_that_stands_still_does_not_move_on() -> None:
    standing = turned(lambda r, items, more: (items, more and "at_4"), count=30)
    tried = examined(standing, most_requests=200)["continuation"].observed
    assert "`cursor`: does not move on" in tried


def test_limit_of_requests_is_kept() -> None:
    long = Listing(count=400)
    report = examined(Service(listing=long))
    assert report.sent <= 100
    (problem,) = report.problems
    assert problem.startswith("beta.list_campaigns and 6 others: not read to its end; allow more")
    short = examined(Service(listing=long, others={"gamma.list_ads": Listing()}))
    assert (short.problems, short.conventions().end_of_listing) == ((), "null")
    assert "; not to its end: beta.list_campaigns, gamma.search" in short["reads"].conclusion
    cut = examined(Service(listing=Listing(name="k7")), most_requests=20)
    assert "unknown: the examination ended within the search" in " ".join(str(cut).split())
    stopped = examined(Service(), most_requests=9)
    assert (stopped.sent, len(stopped.problems)) == (9, 2)
    assert stopped.problems[0] == "ended early: 9 requests were sent; allow more: `--requests`"


def test_read_that_has_another_shape_is_a_problem() -> None:
    other = {"results": [{"id": "a", "tags": []}], "paging": {"cursors": {"after": "b"}}}

    def turn(request, items, more):
        is_odd = "gamma-ads/list" in request.url.path and items
        return [{**items[0], "id": 7}] if is_odd else items, None if is_odd else more

    def change(request, response):
        return httpx.Response(200, json=other) if "alpha" in request.url.path else response

    report = examined(Service(turn=turn, change=change))
    assert [problem.partition(";")[0] for problem in report.problems] == [
        "gamma.list_ads: $.data[0].id: expected text, got a number",
        "alpha.explain_objectives: not accepted: 200, not the documented shape: "
        "{results [{id, tags []}], paging {cursors {after}}}",
    ]
    assert report["reads"].conclusion == "6 of 7 are accepted"


@each_case("value", "\\ud800", "http://[", "?" + "a" * 70_000, "a?b=" + "c" * 70_000)
def test_odd_continuation_is_a_problem(value) -> None:
    def change(request, response):
        content = response.content.replace(b"at_4", value.encode())
        return httpx.Response(response.status_code, content=content)

    others = {"beta.list_campaigns": Listing()}
    report = examined(Service(listing=Listing(count=1), others=others, change=change))
    assert report["continuation"].certainty == "not observed"
    assert report["read parameters"].certainty == "observed"
    assert report.problems
