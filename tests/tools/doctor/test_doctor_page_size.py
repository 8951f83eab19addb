"""The parameter that sets the size of a page: that the doctor finds it, and is never wrong."""

import attrs
import doctor_services
from cases import each_case
from doctor_services import OTHER_SIZES, SIZES, Listing, Service, examined, taken_in_use, true_ids

from adclient._core.operations import READS

POINT = "size parameter"

FOUND = ("any", "at most the usual", "at least 3")


@each_case(
    ("kind", "is_found"),
    *((kind, True) for kind in FOUND),
    # The number is that of a page only at times, or of something else.
    *((kind, False) for kind in (*SIZES, *OTHER_SIZES) if kind not in FOUND),
)
def test_number_that_means_something_else_is_no_page_size(kind, is_found) -> None:
    listing = Listing(size=9, count=30, sizes={"per_page": kind})
    report = examined(Service(listing=listing))
    assert report.problems == ()
    assert (report[POINT].certainty == "observed") == is_found
    if not is_found:  # beside it, the right one is
        listing = attrs.evolve(listing, sizes={"per_page": kind, "limit": "any"})
        assert str(examined(Service(listing=listing))[POINT]).startswith("`limit` sets")


@each_case(
    ("other", "where"),
    (Listing(size=2, count=5, sizes={"limit": "any"}), ""),
    (Listing(size=6, count=13, is_strict=True), " of beta.list_campaigns"),
    # A page cannot be shorter, or the parameter continues it.
    (Listing(size=1, count=3, sizes={"limit": "any"}), " of beta.list_campaigns"),
    (Listing(size=6, count=13, name="limit", hint="link"), " of beta.list_campaigns"),
)
def test_reads_that_differ_have_page_sizes_of_their_own(other, where, tmp_path) -> None:
    listing = Listing(size=6, count=13, sizes={"limit": "any"})
    service = Service(listing=listing, others={"alpha.explain_objectives": other})
    report = examined(service, most_requests=300)
    assert str(report[POINT]).startswith(f"`limit` sets the page size{where}")
    conventions = taken_in_use(report, tmp_path / "service.toml")
    own = {read: its["page_size"] for read, its in conventions.reads.items() if "page_size" in its}
    sizes = {read: size["limit"] for read, size in own.items()}
    of_other = {"alpha.explain_objectives": other.size} if other.size in (2, 4) else {}
    assert conventions.page_size is None
    assert sizes == dict.fromkeys(READS.keys() - {"alpha.explain_objectives"}, 6) | of_other
    for read in READS:
        assert doctor_services.read_by_client(service, conventions, read) == true_ids(service, read)
