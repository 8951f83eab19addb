"""How listings of any shape continue and end, as far as the doctor can be certain of it."""

import doctor_services
from cases import each_case
from doctor_services import Listing, Service, check_that_a_client_reads_all, examined
from hypothesis import given, strategies as st

from adclient._core.operations import READS

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
    form=st.sampled_from(doctor_services.FORMS),
    end=st.sampled_from(doctor_services.ENDS),
    size=st.sampled_from([2, 3, 4, 5, 6, 12]),
    count=st.sampled_from([0, 1, 4, 5, 8, 10, 13, 25]),
    old=st.lists(st.sampled_from(OLD), max_size=2).map(dict),
    is_strict=st.booleans(),
    hint=st.sampled_from(["", "400", "link", "page"]),
    total=st.sampled_from([None, None, 8, 10, 13]),
    is_descending=st.booleans(),
    sizes=st.dictionaries(
        st.sampled_from(["limit", "per_page", "first", "page[size]"]),
        st.sampled_from([*["any"] * 9, *doctor_services.SIZES, *doctor_services.OTHER_SIZES]),
        max_size=2,
    ),
)
SERVICES = st.builds(
    Service,
    listing=LISTINGS,
    others=st.dictionaries(st.sampled_from(list(READS)), LISTINGS, max_size=2),
    account=st.sampled_from(["404", "404", "empty", "same"]),
    foreign=st.sampled_from([(), (), (), ("alpha",), ("beta", "delta")]),
)


@given(service=SERVICES)
def test_report_without_problems_is_never_wrong(service) -> None:
    report = examined(service)
    assert len(service.requests) == report.sent <= 100
    if report.is_accepted and not report.problems:
        check_that_a_client_reads_all(service, report)


def number_under(name: str, form: str = "item number", **options) -> Listing:
    return Listing(form=form, name=name, **options)


@each_case(
    ("listing", "name"),
    # An old offset skips: the continuation is the number of an item.
    (number_under("last_id", old={"offset": "offset"}, count=60), "last_id"),
    # A parameter for the last item skips one: the continuation is the next item.
    (Listing(form="following", name="start_key", old={"after": "last"}), "start_key"),
    (Listing(form="following", name="k7", old={"after": "last"}), None),
    (number_under("k7", "page", old={"offset": "offset"}), None),
    # An old name does not move on, or leads to nothing.
    (Listing(name="k7", old={"cursor": "ignored"}), None),
    # An old name goes round in circles, later.
    (number_under("last_id", old={"after": "circle"}, count=60), "last_id"),
    # An old offset takes the number of an item, and would lose items.
    (number_under("last_id", old={"after": "offset"}, count=60), "last_id"),
    (number_under("last_id", old={"after": "offset"}, count=200), None),
    # Pages overlap by one item.
    (Listing(name="k7", old={"cursor": "overlap"}), None),
    # Beside a token, too: it would lose the first item of each page, or is a page.
    (Listing(name="page_token", old={"cursor": "skip"}), "page_token"),
    (number_under("since_id", "fraction", old={"after": "skip"}), "since_id"),
    # One that loses nothing.
    (number_under("k7", "offset", old={"offset": "offset"}), "offset"),
    # Of two pages with two items, a number may be that of a page or of an item.
    (number_under("cursor", "page", size=2, count=4), None),
    (number_under("page", "page", size=2, count=4), "page"),
)
def test_old_parameter_that_loses_items_is_not_taken(listing, name) -> None:
    others = dict.fromkeys(("beta.list_campaigns", "gamma.list_ads"), listing)
    service = Service(listing=Listing(count=2), others=others)
    report = examined(service, most_requests=300)
    assert report.is_accepted
    assert (report.problems == ()) is (name is not None)
    if name is None:
        assert report["continuation"].certainty == "not observed"
    else:
        assert report.conventions().cursor_parameter == name
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
