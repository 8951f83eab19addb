"""The parameter that sets the size of a page: that the doctor finds it, and is never wrong."""

import re
from collections.abc import Mapping

import attrs
import httpx
import pytest
from cases import each_case
from doctor_services import (
    ACCOUNT,
    ENDS,
    FORMS,
    OTHER_SIZES,
    SIZES,
    Listing,
    Service,
    examined,
    read_by_client,
    served,
    true_ids,
)
from hypothesis import given, strategies as st

from adclient import Conventions
from adclient._command import main
from adclient._core.operations import READS
from adclient._service.reading import read_service
from adclient.doctor import Report

pytestmark = pytest.mark.usefixtures("doctor_retries_at_once")
POINT = "size parameter"


def taken_in_use(report: Report, path) -> Conventions:
    """The conventions of the file of a report without the # before what is not in use."""
    report.save(path, replace=True)
    assert read_service(path).conventions == report.conventions()
    path.write_text(re.sub("(?m)^# (?=\\[|page_size)", "", path.read_text("utf-8")), "utf-8")
    return read_service(path).conventions


SOME = ["limit", "pageSize", "count", "page[size]", "items_per_page"]


@each_case("place", ["query", "body"])
@each_case(("form", "name"), zip(FORMS, SOME * 3, strict=True))
def test_parameter_is_found(form, name, place, tmp_path) -> None:
    listing = Listing(name="page" if form == "page" else "after", form=form, place=place)
    listing = attrs.evolve(listing, size=25, count=60, sizes={name: "any"})
    service = Service(listing=listing)
    report = examined(service)
    assert report.problems == ()
    assert str(report[POINT]) == f"`{name}` sets the page size; 25 items without it"
    assert report[POINT].certainty == "observed"
    assert report.conventions().page_size is None
    assert "page_size" not in report.code
    conventions = taken_in_use(report, tmp_path / "service.toml")
    assert conventions == attrs.evolve(report.conventions(), page_size={name: 25})


WAYS = [("cursor", "text"), ("page", "page"), ("offset", "offset"), ("after", "url")]
WAYS += [("cursor", "entries"), ("marker", "href"), ("first", "text"), ("limit", "url")]
PARAMETERS = st.sampled_from(["limit", "per_page", "size", "first", "page[size]", "rows"])
KINDS = st.sampled_from([*["any"] * 12, *SIZES, *OTHER_SIZES])


@st.composite
def listings(draw) -> Listing:
    """A listing that is known to continue, with one or two parameters that take a number."""
    (name, form), size = draw(st.sampled_from(WAYS)), draw(st.sampled_from([3, 4, 6, 12, 25]))
    sizes = draw(
        st.dictionaries(PARAMETERS.filter(lambda each: each != name), KINDS, min_size=1, max_size=2)
    )
    return Listing(
        name=name,
        form=form,
        sizes=sizes,
        size=size,
        count=draw(st.sampled_from([size + 2, 2 * size + 1, 3 * size, size - 1])),
        place=draw(st.sampled_from(["query", "body"])),
        end=draw(st.sampled_from(ENDS)),
        is_strict=draw(st.booleans()),
    )


@given(
    service=st.builds(
        Service,
        listing=listings(),
        others=st.dictionaries(st.sampled_from([*READS]), listings(), max_size=2),
        account=st.sampled_from(["404", "empty", "same"]),
    )
)
def test_parameter_that_is_observed_loses_no_item(service, tmp_path_factory) -> None:
    report = examined(service)
    assert len(service.requests) == report.sent <= 100
    bare = {read: attrs.evolve(each, sizes={}) for read, each in service.others.items()}
    listing = attrs.evolve(service.listing, sizes={})
    plain = examined(Service(listing=listing, others=bare, account=service.account))
    assert (report.problems, report.conventions()) == (plain.problems, plain.conventions())
    if report[POINT].certainty != "observed" or report.problems:
        return
    conventions = taken_in_use(report, tmp_path_factory.getbasetemp() / "service.toml")
    assert conventions != report.conventions()
    for each in (conventions, with_less(conventions)):
        for read in READS:
            assert read_by_client(service, each, read) == true_ids(service, read), read


def with_less(conventions: Conventions) -> Conventions:
    """The same with pages that are shorter by one item."""

    def less(size: Mapping[str, int] | None) -> dict[str, int] | None:
        return size and {name: number - 1 for name, number in size.items()}

    reads = {
        read: {**each, "page_size": less(each["page_size"])} if "page_size" in each else each
        for read, each in conventions.reads.items()
    }
    return attrs.evolve(conventions, page_size=less(conventions.page_size), reads=reads)


@each_case(
    ("kind", "is_found"),
    [
        *((kind, True) for kind in ("any", "at most the usual", "at least 3")),
        # The number is that of a page only at times, or of something else.
        *((kind, False) for kind in SIZES.keys() - {"any", "at most the usual", "at least 3"}),
        *((kind, False) for kind in OTHER_SIZES),
    ],
)
def test_number_that_means_something_else_is_no_page_size(kind, is_found) -> None:
    listing = Listing(size=9, count=30, sizes={"per_page": kind})
    report = examined(Service(listing=listing))
    assert report.problems == ()
    assert (report[POINT].certainty == "observed") == is_found
    # Beside it, the right one is found.
    listing = attrs.evolve(listing, sizes={"per_page": kind, "limit": "any"})
    assert str(examined(Service(listing=listing))[POINT]).startswith("`limit` sets") or is_found


def test_usual_size_that_is_refused_is_not_suggested() -> None:
    listing = Listing(size=4, count=9, sizes={"per_page": "steps only"})
    assert examined(Service(listing=listing))[POINT].certainty == "not observed"


def test_parameter_is_found_where_a_listing_is_too_long_to_be_read() -> None:
    report = examined(Service(listing=Listing(size=6, count=900, sizes={"limit": "any"})))
    assert report[POINT].certainty == "observed"
    assert "not read to its end" in report.problems[0]


@each_case("hint", ["400", "page"])
def test_rare_name_that_a_strict_service_mentions_is_found(hint) -> None:
    class Mentioning(Service):
        def refusal(self, status, message):
            return super().refusal(status, f"{message}; see rows" if hint == "400" else message)

        def page(self, listing, items, more):
            response = super().page(listing, items, more)
            body = response.json()
            body["page"] |= {"rows": 5} if hint == "page" else {}
            return httpx.Response(200, json=body)

    listing = Listing(size=5, count=12, is_strict=True, sizes={"rows": "any"})
    assert str(examined(Mentioning(listing=listing))[POINT]).startswith("`rows` sets")


@each_case(
    ("other", "where"),
    [
        # Shorter pages, only one page, a parameter that is refused or ignored.
        (Listing(size=4, count=9, sizes={"limit": "any"}), ""),
        (Listing(size=6, count=5, is_strict=True), ""),
        (Listing(size=6, count=13, is_strict=True), " of beta.list_campaigns"),
        (Listing(size=6, count=13), " of beta.list_campaigns"),
        # A page cannot be shorter, or the parameter continues it.
        (Listing(size=1, count=3, sizes={"limit": "any"}), " of beta.list_campaigns"),
        (Listing(size=6, count=13, name="limit", hint="link"), " of beta.list_campaigns"),
    ],
)
def test_reads_that_differ_have_page_sizes_of_their_own(other, where, tmp_path) -> None:
    listing = Listing(size=6, count=13, sizes={"limit": "any"})
    service = Service(listing=listing, others={"alpha.explain_objectives": other})
    report = examined(service, most_requests=300)
    assert str(report[POINT]).startswith(f"`limit` sets the page size{where}")
    conventions = taken_in_use(report, tmp_path / "service.toml")
    own = {
        read: each["page_size"] for read, each in conventions.reads.items() if "page_size" in each
    }
    sizes = {read: size["limit"] for read, size in own.items()}
    of_other = {"alpha.explain_objectives": 4} if other.size == 4 else {}
    assert conventions.page_size is None
    assert sizes == dict.fromkeys(READS.keys() - {"alpha.explain_objectives"}, 6) | of_other
    for read in READS:
        assert read_by_client(service, conventions, read) == true_ids(service, read)


def test_listing_of_short_pages_shows_no_page_size() -> None:
    report = examined(Service(listing=Listing(size=2, count=5, sizes={"limit": "any"})))
    assert str(report[POINT]) == "unknown: no listing with three items on a page could be continued"
    report = examined(Service(listing=Listing(size=9, count=20)))
    assert str(report[POINT]) == "unknown: no name for it was found"


def test_requests_that_are_used_up_are_no_problem() -> None:
    long = Listing(size=6, count=13, sizes={"top": "any"})
    others = dict.fromkeys(READS.keys() - {"gamma.list_ads"}, attrs.evolve(long, count=5))
    service = Service(listing=long, others=others)
    needed = examined(service).sent
    for most in range(needed - 9, needed):
        report = examined(service, most_requests=most)
        assert report.problems == ()
        if report[POINT].certainty != "observed":
            trouble = f"{most} requests were sent; allow more: `--requests`"
            assert str(report[POINT]) == f"unknown: {trouble}"


def test_check_does_not_mind_the_page_size(tmp_path, capsys) -> None:
    file = tmp_path / "service.toml"
    listing = Listing(size=6, count=13, sizes={"limit": "any"})
    with served(Service(listing=listing)) as url:
        assert main(["doctor", url, "-a", ACCOUNT, "--save", str(file), "--quiet"]) == 0
        assert "# page_size = { limit = 6 }\n" in file.read_text()
        for text in (file.read_text(), file.read_text().replace("# page_size", "page_size")):
            file.write_text(text)
            capsys.readouterr()
            assert main(["doctor", "--check", str(file), "--quiet"]) == 0
            assert capsys.readouterr().out == "Changes\n  none\n"
    with served(Service(listing=attrs.evolve(listing, sizes={}))) as url:
        assert main(["doctor", url, "--check", str(file), "--quiet"]) == 0
