"""The doctor and services that are broken: it finishes in time, and reports what it found."""

import json
import ssl
import time
from collections.abc import Callable
from urllib.parse import urlsplit

import httpx
import pytest
from cases import each_case
from doctor_services import (
    ACCOUNT,
    URL,
    Listing,
    Service,
    examined,
    read_by_client,
    true_ids,
)
from raw_server import CERTIFICATE, Connection, RawServer, reply

from adclient import ConfigurationError, InvalidRequest
from adclient._core.operations import OPERATIONS, READS
from adclient.doctor import Report, examine
from adclient.doctor._probe import Probe
from adclient.testing import FakeAdService, Fault

READ_PATHS = {operation.path for operation in OPERATIONS if not operation.is_write}
LISTING = b'{"data": [{"id": "a", "name": "A", "status": "B"}], "page": {"next": null}}'
pytestmark = pytest.mark.usefixtures("doctor_retries_at_once")
SECRET = "hunter2-s3cret"


def service_of(report: Report) -> str:
    return report["service"].conclusion


def reads_of(server: RawServer) -> list[str]:
    """The paths of the requests, each of which is a read of the service."""
    lines = [request.split(b"\r\n")[0].decode().split() for request in server.requests]
    assert {method for method, _, _ in lines} <= {"GET"}
    paths = [urlsplit(target).path for _, target, _ in lines]
    assert set(paths) <= READ_PATHS
    return paths


CHECK_URL = "check the address"
AGAIN = "run the doctor again later"


@each_case(
    ("answer", "expected", "step"),
    [
        (reply(200, b"<h1>Hi</h1>"), "not with the documented shape: (no JSON)", CHECK_URL),
        (reply(200, b""), "not with the documented shape: (empty)", CHECK_URL),
        (reply(200, b"[]"), "not with the documented shape: []", CHECK_URL),
        (reply(200, b"1"), "not with the documented shape: int", CHECK_URL),
        (reply(200, b'{"data": [], "page": 1}'), "shape: {data [], page}", CHECK_URL),
        (reply(429, b"slower"), "reachable, but fails: 429", AGAIN),
        (reply(500, b"oops"), "reachable, but fails: 500", AGAIN),
        (reply(404, b"<h1>Nothing</h1>"), "refuses every read: 404", "check the accounts"),
        (reply(403, b"{}"), "refuses every read: 403", "check the accounts"),
        (reply(401, b"{}"), "refuses every read: 401", "`--token-header` and `--auth-scheme`"),
        (reply(302, b"", "Location: https://u:p@elsewhere.example/a?t=1"), "to https", CHECK_URL),
        (reply(308, b"", "Location: /login"), "redirects to /login, which is never", CHECK_URL),
        (reply(307, b"", f"Location: /{'long' * 50}"), "redirects to /long", CHECK_URL),
        (reply(307, b""), "redirects, which is never followed", CHECK_URL),
        (reply(307, b"", "Location: http://["), "redirects, which is never followed", CHECK_URL),
        (reply(200, LISTING)[:-9] + b" " * 0, "breaks off or cannot be read", CHECK_URL),
        (reply(200, b"x", "Content-Encoding: gzip"), "breaks off or cannot be read", CHECK_URL),
        (b"nonsense\r\n\r\n", "does not respond", "`--proxy` and `--ca-file`"),
    ],
)
def test_service_that_serves_nothing_is_described(answer, expected, step) -> None:
    # Otherwise the next request may be sent over a connection that is being closed.
    closing = answer.replace(b"\r\n", b"\r\nConnection: close\r\n", 1)

    def serve(connection) -> None:
        if connection.read():
            connection.send(closing)

    with RawServer(serve) as server:
        report = examine(server.url, account_id=ACCOUNT)
        assert expected in service_of(report)
        assert "u:p" not in service_of(report)
        assert max(map(len, str(report).splitlines())) <= 100
        assert not report.is_accepted
        assert report.problems[-1].endswith(step)
        assert reads_of(server)
    assert report.code.startswith("from adclient import AdClient")
    assert "unknown" in report["read parameters"].conclusion


@each_case(
    ("verify", "conclusion"),
    [
        (CERTIFICATE, "reachable, its certificate is valid"),
        (ssl.create_default_context(cafile=CERTIFICATE), "reachable, its certificate is valid"),
        (False, "reachable"),
        (ssl._create_unverified_context(), "reachable"),
    ],
)
def test_certificate_is_valid_only_if_it_was_verified(verify, conclusion) -> None:
    def serve(connection) -> None:
        connection.start_tls()
        while connection.read():
            connection.send(reply(200, LISTING))

    with RawServer(serve) as server:
        url = server.url.replace("http:", "https:")
        report = examine(url, account_id=ACCOUNT, verify=verify)
    assert report["service"].conclusion == conclusion


def resets(connection: Connection) -> None:
    connection.reset()


def breaks_off(connection: Connection) -> None:
    connection.send(reply(200, LISTING)[:-9])


def repeats(start: bytes, part: bytes, pause: float = 0) -> Callable[[Connection], None]:
    """A response without an end."""

    def serve(connection: Connection) -> None:
        connection.send(start)
        while not connection.is_over:
            connection.send(part)
            connection.pause(pause)

    return serve


HEAD = b"HTTP/1.1 200 OK\r\n"
ENDLESS = {
    "body": repeats(HEAD + b"\r\n", b" " * 65536),
    "slow body": repeats(HEAD + b"\r\n{", b" ", pause=0.01),
    "headers": repeats(HEAD, b"x-1: a\r\n"),
    "error": repeats(b"HTTP/1.1 400 No\r\n\r\n", b" " * 65536),
}


@each_case("after", [0, 5])
@each_case("misbehave", [resets, breaks_off, *ENDLESS.values()])
def test_service_that_resets_or_never_ends_does_not_hang_it(misbehave, after) -> None:
    def serve(connection: Connection) -> None:
        while connection.read():
            if len(server.requests) > after:
                misbehave(connection)
                return
            connection.send(reply(200, LISTING))

    server, started = RawServer(serve), time.monotonic()
    with server:
        report = examine(server.url, account_id=ACCOUNT, timeout=0.6 if after else 0.2)
    assert time.monotonic() - started < 30  # a busy machine takes its time
    # The last request may be cut off by the time limit before the server has read it.
    assert len(reads_of(server)) in (report.sent, report.sent - 1)
    assert report.is_accepted is (after > 0)
    assert report.problems
    if report.is_accepted and misbehave is not ENDLESS["error"]:
        assert report.problems[0].startswith("ended early: ")
        assert report.sent <= after + 6  # two, each of them repeated twice


def test_service_that_falls_silent_keeps_what_was_found() -> None:
    fake = FakeAdService()
    fake.faults.add(Fault.no_response(), call=7, times=30)
    accounts = ["account_b204", "account_c3d8"]
    report = examine(fake.base_url, account_id=accounts, transport=fake.transport, timeout=9999)
    assert report["read parameters"].certainty == "observed"
    assert report.problems[0] == (
        "ended early: no whole response to 2 requests; "
        "run the doctor again when the service responds"
    )


def test_time_that_is_over_ends_the_examination() -> None:
    fake = FakeAdService()
    fake.faults.add(Fault.slow(7), times=30)
    report = examine(fake.base_url, account_id="account_b204", transport=fake.transport, timeout=20)
    assert report.problems[0] == "ended early: the time was over; allow more: `--timeout`"
    assert report.is_accepted


def test_wait_that_is_too_long_ends_the_examination() -> None:
    headers = {"retry-after": "3600"}
    report = examined(
        Service(faults=lambda n: httpx.Response(429, headers=headers) if n == 5 else None)
    )
    assert report.problems[0] == (
        "ended early: the service asks to wait 3600 s; "
        "run the doctor again later, or with a longer timeout"
    )
    assert report.sent == 5
    assert report["limits"].conclusion == "429 when they are exceeded, with a Retry-After"


STATUSES = (500, 502, 503, 429, 408)
RESET = httpx.ReadError("")


@each_case("number", range(1, 46))
def test_failure_that_passes_changes_nothing(number) -> None:
    fault = httpx.Response(STATUSES[number % 5]) if number % 6 else RESET
    listing = Listing(name="after", end="empty", style="deep_object", is_strict=True)
    service = Service(listing=listing, faults=lambda n: fault if n == number else None)
    report = examined(service, token="needless")
    calm = examined(Service(listing=listing), token="needless")
    assert report.problems == calm.problems == ()
    assert report.conventions() == calm.conventions()
    told = [(each.point, each.certainty) for each in report.findings if each.point != "limits"]
    assert told == [(e.point, e.certainty) for e in calm.findings if e.point != "limits"]


def test_step_after_a_text_of_the_service() -> None:
    fault = httpx.Response(403, json={"message": "used up; contact us"})
    report = examined(Service(faults=lambda n: fault if n > 16 else None))
    assert report.problems[0].endswith(": 403 used up; contact us; run the doctor again later")


def test_page_of_another_shape_says_more_than_a_refusal() -> None:
    class Other(Service):
        def page(self, listing, items, more):
            return httpx.Response(200, json={"results": []})

    report = examined(Other(listing=Listing(is_strict=True)))
    assert report["service"].conclusion.endswith("the documented shape: {results []}")
    assert report.problems == ("no read was accepted; check the address",)


@each_case("status", [425, 501, 520, 529])
def test_failure_that_a_client_does_not_repeat_is_a_problem(status) -> None:
    fault = httpx.Response(status)
    report = examined(Service(faults=lambda n: fault if n % 20 == 0 else None))
    assert "requests failed, such as" in report.problems[0]


def judge(service: Service, report: Report) -> None:
    """Nothing that is false counts as observed; without problems, a client reads everything."""
    name = service.listing.name
    service.faults = lambda n: None
    for read in () if report.problems else READS:
        assert read_by_client(service, report.conventions(), read) == true_ids(service, read)
    truth = {
        "read parameters": "in the query",
        "credentials": "none needed for reads",
        "continuation": f"`{name}` takes a string",
        "objects": "one JSON value",
    }
    for point, conclusion in truth.items():
        assert report[point].certainty != "observed" or report[point].conclusion == conclusion


@pytest.mark.parametrize("outcome", [503, 429, 404, 403, 302])  # together, they are slow
@each_case("number", range(1, 40))
@each_case("last", [3, 400])
def test_failure_that_stays_is_no_fact(number, last, outcome) -> None:
    """Three requests fail in a row, which is all attempts of one, or all from one on."""
    fault = httpx.Response(outcome, headers={"location": "/x"})
    # One that is refused is not repeated.
    first = number if outcome in (503, 429) or last > 3 else number + last - 1
    service = Service(
        listing=Listing(name="after"),
        faults=lambda n: fault if first <= n < number + last else None,
    )
    report = examined(service, token="needless")
    if report.sent >= number:
        judge(service, report)


def test_no_write_is_sent() -> None:
    with pytest.raises(ValueError, match="a write, which the doctor never sends"):
        Probe(purpose="", operation=OPERATIONS[0], account_id="a")


def test_hostile_continuations_are_not_followed() -> None:
    for form in ("foreign", "foreign token", "href"):
        service = Service(listing=Listing(form=form))
        assert examined(service).is_accepted
        assert {request.url.host for request in service.requests} == {"ads.example.com"}


def echo(request: httpx.Request) -> httpx.Response:
    """Repeat the credentials wherever a report could show them."""
    secret = request.headers.get("authorization", f"Bearer {SECRET}")
    word = secret.removeprefix("Bearer ")
    if "account_1" not in str(request.url):
        return httpx.Response(404, json={"message": secret, "code": word, "details": {word: 1}})
    item = {"id": "a", "name": word, "status": "b", word.replace("-", "_"): word, word: 1}
    is_next = f"{word}=x" in str(request.url)
    following = None if is_next else f"?{word}=x&api_key={word}"
    headers = {"x-request-id": word, "x-ratelimit": secret, f"x-{word}-request-id": word}
    item["id"] = "b" if is_next else "a"
    body = {"data": [item], "page": {"next": following, word: word}, word: {word: [word]}}
    return httpx.Response(200, json=body, headers=headers)


def by_secret_name(request: httpx.Request) -> httpx.Response:
    """Take the secret as the name of a parameter, which the page mentions."""
    name = f"{SECRET}_key"
    page = {"next": None if f"{name}=" in str(request.url) else "x", name: "x"}
    item = {"id": str(page["next"]), "name": "a", "status": "b"}
    return httpx.Response(200, json={"data": [item], "page": page})


def leaks_in_refusal(request: httpx.Request) -> httpx.Response:
    """Name the secret to those who do not know it."""
    if "authorization" not in request.headers:
        return httpx.Response(401, json={"message": SECRET, SECRET: SECRET})
    return httpx.Response(200, content=LISTING)


def test_no_secret_is_shown(tmp_path) -> None:
    for where in (
        echo,
        by_secret_name,
        leaks_in_refusal,
        lambda request: httpx.Response(302, headers={"location": f"https://x.example/{SECRET}"}),
        lambda request: httpx.Response(401, headers={"www-authenticate": f"Bearer {SECRET}"}),
        lambda request: httpx.Response(200, text=SECRET),
        lambda request: httpx.Response(200, json={SECRET: SECRET}),
    ):
        lines: list[str] = []
        report = examine(
            URL,
            account_id=ACCOUNT,
            transport=httpx.MockTransport(where),
            token=SECRET,
            keep_texts=True,
            progress=lines.append,
        )
        report.save(tmp_path / "service.toml", replace=True)
        told = [str(report), report.details(), json.dumps(report.to_dict()), repr(report)]
        told += [report.markdown(), *lines, (tmp_path / "service.toml").read_text()]
        assert not [text for text in told if SECRET in text]
        assert report.problems or where is echo
    hidden = examine(
        URL, account_id=ACCOUNT, transport=httpx.MockTransport(by_secret_name), token=SECRET
    )
    assert "a setting contains the secret, and is hidden; set it yourself" in hidden.problems


@each_case(
    ("arguments", "error"),
    [
        ({"account_id": ""}, InvalidRequest),
        ({"account_id": []}, InvalidRequest),
        ({"targeting": {"a": object()}}, InvalidRequest),
        ({"token": "two words"}, ConfigurationError),
        ({"timeout": 0}, ConfigurationError),
        ({"most_requests": 0}, ConfigurationError),
        ({"headers": {"authorization": "x"}}, ConfigurationError),
        ({"base_url": "ads.example.com"}, ConfigurationError),
    ],
)
def test_invalid_arguments_are_refused(arguments, error) -> None:
    service = Service()
    given = {"base_url": URL, "account_id": ACCOUNT, **arguments}
    with pytest.raises(error):
        examine(**given, transport=httpx.MockTransport(service.handle))
    assert service.requests == []


def test_error_of_the_callers_transport_is_raised() -> None:
    def fail(request):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        examine("https://a.example", account_id="a", transport=httpx.MockTransport(fail))
