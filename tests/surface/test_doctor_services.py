"""The doctor, and services that contradict every default, or that mislead it."""

import json
import ssl
from decimal import Decimal

import httpx
import pytest
from cases import each_case
from doctor_services import (
    ACCOUNT,
    Changeable,
    Deaf,
    DefaultAccount,
    EqualPages,
    Flickering,
    FreeText,
    FuzzyText,
    IgnoresSearch,
    Leaping,
    NoBodies,
    OneTime,
    RefusesText,
    Rotating,
    Seeded,
    Service,
    Shuffled,
    Standing,
    Uneven,
    Unsteady,
    certainty,
    examined,
)
from raw_server import CERTIFICATE, refusing_url

from adclient import AdClient, Conventions
from adclient.doctor import examine
from adclient.doctor._continuation import _NAMES as NAMES
from adclient.testing import FakeAdService, Profile

FORMS = ["text", "object", "entries", "page", "offset", "path", "url", "relative"]
FORMS += ["with a question mark", "of another account", "elsewhere"]
PROXY = "http://127.0.0.1:1"


def items_of(service: Service, conventions: Conventions, **options) -> list[str]:
    """The items of a whole listing, read under conventions."""
    transport = httpx.MockTransport(service.handle)
    url = "https://ads.example.com"
    with AdClient(url, transport=transport, conventions=conventions, **options) as client:
        return [item.id for item in client.beta.list_campaigns(account_id=ACCOUNT)]


@each_case("is_strict", [True, False])
@each_case("place", ["query", "body"])
@each_case("form", FORMS)
@each_case("name", ["cursor", "pageToken"])
def test_settings_that_were_found_read_the_whole_listing(is_strict, place, form, name) -> None:
    if place == "body" and form in ("path", "url", "relative") and is_strict:
        form = "text"  # the parameters would be in two places
    service = Service(is_strict=is_strict, place=place, form=form, name=name)
    if form in ("page", "offset"):
        service.name = form
    report = examined(service)
    assert certainty(report, "read parameters", "continuation") == {
        "read parameters": "observed",
        "continuation": "observed",
    }
    assert report.conventions().read_parameters == place
    assert len(service.requests) == report.sent <= 30
    assert items_of(service, report.conventions()) == [f"item_{n}" for n in range(10)]
    assert report.problems == ()
    kind = {"path": "followed", "url": "followed", "relative": "followed"}
    kind |= dict.fromkeys(FORMS[-2:], "sent back unchanged")
    assert report["next URLs"].conclusion == kind.get(form, "unknown: no `next` was a URL")


@each_case("name", NAMES)
def test_every_name_is_found_where_unknown_ones_are_ignored(name) -> None:
    report = examined(Service(name=name))
    assert report.conventions().cursor_parameter == name
    assert report["continuation"].certainty == "observed"
    assert report.sent <= 26  # half of the names is ruled out with each request


pytestmark = pytest.mark.usefixtures("doctor_retries_at_once")

NEVER = {"read parameters": "observed", "continuation": "not observed"}


@each_case(
    ("service", "expected"),
    [
        # It changes from request to request.
        (Shuffled(), {"continuation": "not observed", "objects": "not observed"}),
        (Shuffled(size=1, count=2), {"continuation": "not observed", "objects": "not observed"}),
        (Shuffled(unknown_account="same"), {"continuation": "not observed"}),
        (Seeded(), {"continuation": "not observed"}),
        (Unsteady(count=100), {"continuation": "not observed"}),
        (Changeable(), {"continuation": "not observed"}),
        (Flickering(unknown_account="same"), {"read parameters": "not observed"}),
        (Rotating(), {"continuation": "not observed", "objects": "not observed"}),
        # It does not look at the continuation, or that is not visible.
        (Deaf(), NEVER),
        (Deaf(form="url"), NEVER),
        (Deaf(is_strict=True), NEVER),
        (Deaf(form="entries"), NEVER),
        (EqualPages(), NEVER),
        (Service(form="yes or no"), NEVER),
        (Service(form="elsewhere", is_strict=True, name="unheard_of"), NEVER),
        (Service(name="unheard_of"), NEVER),
        (Service(form="entries", name="account_id"), NEVER),
        # There is nothing to continue.
        (Service(count=3), {"continuation": "not observed", "page size": "not observed"}),
        (Service(count=0), {"continuation": "not observed", "objects": "not observed"}),
        (Service(count=1), {"continuation": "not observed", "objects": "not observed"}),
        # It can be continued in two ways, neither of which counts as `next` does.
        (Leaping(count=100), {"continuation": "likely"}),
        # It does not move on.
        *((Standing(form=form), {"continuation": "likely"}) for form in ("text", "url", "entries")),
        # It cannot be repeated.
        (OneTime(), {"continuation": "likely"}),
        # It does not look at the parameters, or not at these.
        (Service(unknown_account="same"), {"read parameters": "not observed"}),
        (Service(unknown_account="same", is_strict=True), {"read parameters": "likely"}),
        (NoBodies(unknown_account="same"), {"read parameters": "likely"}),
        (Service(unknown_account="same", place="body"), {"read parameters": "likely"}),
        (Service(unknown_account="empty", count=0), {"read parameters": "not observed"}),
        (FreeText(), {"objects": "not observed"}),
        (FreeText(style="deep_object"), {"objects": "not observed"}),
        (FuzzyText(style="deep_object"), {"objects": "not observed"}),
        (IgnoresSearch(), {"objects": "not observed"}),
        (RefusesText(), {"objects": "not observed"}),
    ],
)
def test_nothing_is_observed_where_it_cannot_be_known(service, expected) -> None:
    report = examined(service)
    assert certainty(report, *expected) == expected
    assert len(service.requests) == report.sent <= 30


@each_case(
    "value",
    ["\\ud800", "http://[", "?" + "a" * 70_000, "x" * 70_000, "a?b=" + "c" * 70_000],
)
def test_odd_continuations_do_no_harm(value) -> None:
    class Odd(Deaf):
        def next(self, request, end):
            return "ODD"

        def page(self, request, items, following):
            content = super().page(request, items, following).content
            return httpx.Response(200, content=content.replace(b"ODD", value.encode()))

    report = examined(Odd())
    assert report["continuation"].certainty == "not observed"
    assert report["read parameters"].certainty == "observed"


@each_case("nested", ['{"id": %s}', "%s", '{"x": %s, "id": "a"}'])
def test_deep_items_do_no_harm(nested) -> None:
    text = nested % ("[" * 1000 + "]" * 1000)
    body = f'{{"data": [{text}], "page": {{"next": {"[" * 900 + "]" * 900}}}}}'
    report = examined(
        Service(), transport=httpx.MockTransport(lambda _: httpx.Response(200, text=body))
    )
    assert report["continuation"].certainty == "not observed"


def test_many_accounts_that_are_refused_end_the_search() -> None:
    service = Service()
    report = examined(service, account_id=[f"other_{n}" for n in range(5)])
    assert not report.is_accepted
    assert report.sent == 12
    with pytest.raises(KeyError):
        report["another point"]


def test_too_few_requests_are_reported() -> None:
    fake = FakeAdService(page_size=5, profile=Profile(requests_a_minute=1))
    account_ids = ["account_a91f", "account_b204", "account_c3d8", "account_d118"]
    report = examine(
        fake.base_url, account_id=account_ids, transport=fake.transport, timeout=10_000
    )
    assert report["continuation"].conclusion.startswith("unknown: too few requests")
    assert len(fake.requests) == report.sent <= 30


def test_object_that_needs_its_own_function_is_reported_with_advice() -> None:
    report = examined(Deaf(form="entries"))
    conclusion = report["continuation"].conclusion
    assert conclusion.endswith(" names, and entry by entry")
    assert conclusion.startswith("unknown: ignored under ")
    assert report.problems == (
        "beta.list_campaigns: no way to continue it was found; "
        "set `cursor_parameter` or `continuation`",
    )


def test_entries_of_an_object_become_parameters() -> None:
    service = Service(form="entries", name="from")
    report = examined(service)
    assert report["continuation"].settings == {"continuation": dict}
    told = report.to_dict()
    assert told["conventions"]["continuation"] == "dict"
    assert json.dumps(told)
    assert "        continuation=dict,\n" in report.code


def test_page_sizes_that_differ_are_only_likely() -> None:
    found = examined(Uneven())["page size"]
    assert (found.conclusion, found.certainty) == ("2 to 3 items", "likely")


def test_body_is_found_though_the_query_is_accepted() -> None:
    report = examined(DefaultAccount(place="body"))
    assert report["read parameters"].certainty == "observed"
    assert report.conventions().read_parameters == "body"


def test_account_is_told_apart_by_a_read_that_has_items() -> None:
    class EmptyCampaigns(Service):
        def items(self, request):
            is_empty = request.url.path.endswith("campaigns")
            return [] if is_empty else super().items(request)

    report = examined(EmptyCampaigns(unknown_account="empty"))
    assert report["read parameters"].certainty == "observed"


def test_credentials_are_needed_or_not() -> None:
    locked = Service(token_header="x-api-key")
    opened = examined(locked, auth=lambda request: {"X-Api-Key": "sesame"})
    assert opened["credentials"].conclusion == "needed, and those given work"
    assert opened["credentials"].certainty == "observed"
    refused = examined(Service(token_header="x-api-key"), token="sesame")
    assert "refused" in refused["credentials"].conclusion
    assert not refused.is_accepted
    assert refused.sent == 2
    for given in ({}, {"token": lambda: "sesame"}):
        assert examined(Service(), **given)["credentials"].conclusion == "none needed for reads"
        assert examined(Service(count=0), **given)["credentials"].certainty == "likely"


class Public(Service):
    """Without credentials, it has no items."""

    def items(self, request):
        return super().items(request) if "authorization" in request.headers else []


class Failing(Service):
    """Without credentials, it fails."""

    def handle(self, request):
        response = super().handle(request)
        return response if "authorization" in request.headers else httpx.Response(500)


@each_case(
    ("service", "certainty"),
    [(Public(), "likely"), (Failing(), "not observed"), (Shuffled(count=100), "not observed")],
)
def test_response_that_differs_without_credentials_is_no_proof(service, certainty) -> None:
    assert examined(service, token="sesame")["credentials"].certainty == certainty


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
        def page(self, request, items, following):
            response = super().page(request, items, following)
            number = f"r-{len(self.requests)}"
            response.headers.update({name: text or number for name, text in headers.items()})
            return response

    report = examined(Numbered())
    found = report["request id"].certainty, tuple(report.conventions().request_id_headers)
    assert found == expected
    names: dict = {"transport": httpx.MockTransport(Numbered().handle)}
    exec(report.code.partition("page =")[0], names)
    assert tuple(names["client"]._engine.options.conventions.request_id_headers) == expected[1]


def test_hint_of_the_service_is_tried_first() -> None:
    class Helpful(Service):
        def refusal(self, status, message):
            hint = f"{message}; known are account_id and scroll_id"
            return httpx.Response(status, json={"errors": [{"message": hint}]})

    report = examined(Helpful(name="scroll_id", is_strict=True))
    assert report.conventions().cursor_parameter == "scroll_id"
    assert "{errors [{message}]}" in report["errors"].observed


def test_settings_that_are_only_likely_are_marked_in_the_code() -> None:
    report = examined(RefusesText(), targeting={"query": "Name 3"})
    assert report["objects"].certainty == "likely"
    assert '        object_style="deep_object",  # likely\n' in report.code


@each_case(
    ("given", "line"),
    [
        ({"token": "sesame"}, 'token=os.environ["ADCLIENT_TOKEN"],'),
        ({"token": lambda: "sesame"}, "token=token,"),
        ({"auth": lambda request: {"X-Api-Key": "sesame"}}, "auth=auth,"),
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
    assert "sesame" not in report.details() + json.dumps(report.to_dict())
    monkeypatch.setenv("ADCLIENT_TOKEN", "sesame")
    names = dict(given)
    exec(report.code.partition("page =")[0], names)
    names["client"].close()


FIELDS = [
    {"spend": 1, "tags": ["a"], "class": 1, "x-y": 2, "deep": {"a": 1}, "note": None},
    {"spend": 1.5, "tags": [], "deep": {}, "big": "BIG", "mixed": "a", "note": None},
    {"spend": 2, "tags": [1], "deep": {}, "mixed": 1, "is_on": True, "_own": 1},
]


def test_class_for_additional_fields_reads_the_items() -> None:
    class Rich(Service):
        def items(self, request):
            plain = super().items(request)
            return [{**item, **more} for item, more in zip(plain, FIELDS, strict=False)]

        def page(self, request, items, following):
            content = super().page(request, items, following).content
            digits = b"12345678901234567890.5"
            return httpx.Response(200, content=content.replace(b'"BIG"', digits))

    service = Rich(count=3)
    code = examined(service).classes["beta.list_campaigns"]
    names: dict = {}
    exec(code, names)
    transport = httpx.MockTransport(service.handle)
    with AdClient("https://ads.example.com", transport=transport) as client:
        page = client.beta.list_campaigns(account_id=ACCOUNT).typed(names["MyCampaign"])
    first, second, third = page.data
    assert (first.spend, second.spend, third.is_on, first.is_on) == (1, 1.5, True, None)
    assert first.extra["class"] == 1
    assert second.big == Decimal("12345678901234567890.5")
    assert "these names: ['class', 'x-y', '_own']" in code
    assert "spend: int | float\n" in code
    assert "is_on: bool | None = None\n" in code
