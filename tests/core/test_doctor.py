"""The decisions of the doctor, driven by responses in a list: no service, no clock."""

import json

import pytest

from adclient._core.response import Outcome, RawResponse
from adclient.doctor._examination import Examination
from adclient.doctor._findings import report_of
from adclient.doctor._probe import Observation, Probe

REFUSED = RawResponse(status=404, body=b'{"message": "no"}')


def page(*ids: str, following: object = None) -> RawResponse:
    items = [{"id": name, "name": name, "status": "ENABLED"} for name in ids]
    body = {"data": items, "page": {"next": following}}
    return RawResponse(status=200, body=json.dumps(body).encode())


def examined(*outcomes: Outcome) -> tuple[Examination, list[Probe]]:
    """What is asked for when these are the responses, until there is none left."""
    examination = Examination(base_url="https://ads.example.com", accounts=["a"])
    steps = examination.steps()
    asked, left = [next(steps)], list(outcomes)
    while left:
        observation = Observation(probe=asked[-1], outcome=left.pop(0))
        examination.requests += 1
        examination.observations.append(observation)
        try:
            asked.append(steps.send(observation))
        except StopIteration:
            break
    return examination, asked


def test_search_begins_in_the_query_and_goes_on_in_the_body() -> None:
    _, asked = examined(REFUSED, REFUSED, REFUSED)
    shown = [(p.operation.full_name, p.conventions.read_parameters) for p in asked]
    assert shown == [
        ("beta.list_campaigns", "query"),
        ("beta.list_campaigns", "body"),
        ("gamma.list_ads", "query"),
        ("gamma.list_ads", "body"),
    ]


def test_report_is_possible_at_any_point() -> None:
    listing = page("1", "2", following="x")
    outcomes = [listing, REFUSED, *[listing] * 6, page("2"), listing, listing, page("1", "2")]
    outcomes += [listing, listing, page("3"), page("3")]
    for count in range(len(outcomes) + 1):
        examination, _ = examined(*outcomes[:count])
        report = report_of(examination, {})
        assert len(report.findings) == 12
        assert report.is_accepted is (count > 0)
    assert (
        report_of(Examination(base_url="x", accounts=["a"]), {})["service"].certainty
        == "not observed"
    )


@pytest.mark.parametrize(
    ("following", "names"),
    [
        (4, ["offset", "start", "skip", "cursor", "page_token"]),
        (5, ["offset", "start", "skip", "cursor", "page_token"]),
        (2, ["page", "page_number", "pageNumber", "cursor", "page_token"]),
        (3, ["cursor", "page_token", "after", "next", "pageToken"]),
    ],
)
def test_number_is_first_tried_as_what_it_may_count(following, names) -> None:
    listing = page("1", "2", "3", "4", following=following)
    _, asked = examined(listing, REFUSED, *[listing] * 10, *[REFUSED] * 5)
    tried = [probe.conventions.cursor_parameter for probe in asked]
    assert tried[tried.index("adclient_doctor") + 1 :] == names
