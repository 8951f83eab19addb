"""The doctor and services that are broken: it finishes in time, and reports what it found."""

import json
import ssl
import time
from collections.abc import Callable
from urllib.parse import urlsplit

import httpx
import pytest
from cases import each_case
from doctor_services import ACCOUNT, Service, examined
from raw_server import CERTIFICATE, Connection, RawServer, reply

from adclient import ConfigurationError, InvalidRequest
from adclient._core.operations import OPERATIONS
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
    assert len(paths) <= 30
    return paths


@each_case(
    ("answer", "expected"),
    [
        (reply(200, b"<h1>Hi</h1>", "Content-Type: text/html"), "not with the documented shape"),
        (reply(200, b""), "not with the documented shape"),
        (reply(200, b"[]"), "not with the documented shape"),
        (reply(200, b'{"data": [], "page": 1}'), "not with the documented shape"),
        (reply(429, b"slower"), "reachable, but fails: 429"),
        (reply(500, b"oops"), "reachable, but fails: 500"),
        (reply(404, b"<h1>Nothing</h1>"), "refuses every read: 404"),
        (reply(403, b"{}"), "refuses every read: 403"),
        (reply(302, b"", "Location: https://u:p@elsewhere.example/a?t=1"), "redirects to https"),
        (reply(308, b"", "Location: /login"), "redirects to /login, which is never followed"),
        (reply(307, b"", f"Location: /{'long' * 50}"), "redirects to /long"),
        (reply(307, b""), "redirects, which is never followed"),
        (reply(307, b"", "Location: http://["), "redirects, which is never followed"),
        (reply(200, LISTING)[:-9] + b" " * 0, "breaks off or cannot be read"),
        (reply(200, b"x", "Content-Encoding: gzip"), "breaks off or cannot be read"),
        (b"nonsense\r\n\r\n", "does not respond"),
    ],
)
def test_service_that_serves_nothing_is_described(answer, expected) -> None:
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
    assert time.monotonic() - started < 5
    # The last request may be cut off by the time limit before the server has read it.
    assert len(reads_of(server)) in (report.sent, report.sent - 1)
    assert report.is_accepted is (after > 0)
    if report.is_accepted and misbehave is not ENDLESS["error"]:
        assert report.problems[0].startswith("ended early: ")
        assert report.sent <= after + 6  # three, each of them repeated


def test_service_that_falls_silent_keeps_what_was_found() -> None:
    fake = FakeAdService()
    fake.faults.add(Fault.no_response(), call=5, times=30)
    report = examine(fake.base_url, account_id="account_b204", transport=fake.transport)
    assert report["read parameters"].certainty == "observed"
    assert report.problems[0] == "ended early: no whole response to 3 requests"


def test_time_that_is_over_between_requests_ends_the_examination() -> None:
    fake = FakeAdService()
    fake.faults.add(Fault.slow(7), times=30)
    report = examine(fake.base_url, account_id="account_b204", transport=fake.transport, timeout=20)
    assert report.problems[0] == "ended early: the time was over"
    assert report.is_accepted
    assert report["reads"].conclusion == (
        "1 of 7 have the documented shape; 1 not accepted; 5 not sent"
    )


FAULTS = [Fault.dropped(taken=True), Fault.redirect("/x"), Fault.status(404), Fault.status(500)]


@each_case("number", range(1, 19))
def test_failure_of_any_one_request_leads_to_no_wrong_finding(number, pytestconfig) -> None:
    """Each request fails in one way; `nox -s long` tries all."""
    is_long = pytestconfig.getoption("seeds") > 1
    for fault in FAULTS if is_long else [FAULTS[number % len(FAULTS)]]:
        fake = FakeAdService(page_size=5)
        fake.faults.add(fault, call=number)
        report = examine(
            fake.base_url,
            account_id=["account_b204", "account_c3d8"],
            transport=fake.transport,
            token="needless",
        )
        found = report.conventions()
        assert found.cursor_parameter == "cursor"
        assert (found.read_parameters, found.object_style) == ("query", "json")
        credentials = report["credentials"]
        assert credentials.certainty != "observed" or credentials.conclusion.startswith("none")
        assert report.sent <= 30


def test_no_write_is_sent() -> None:
    with pytest.raises(ValueError, match="a write, which the doctor never sends"):
        Probe(purpose="", operation=OPERATIONS[0], account_id="a")


@each_case("status", [403, 404])
@each_case("number", range(1, 19))
@each_case("unknown_account", ["404", "same"])
def test_refusal_of_any_one_request_is_no_proof(status, number, unknown_account) -> None:
    class Moody(Service):
        def parameters(self, request):
            return None if len(self.requests) == number else super().parameters(request)

        def refusal(self, _, message):
            return super().refusal(status, message)

    service = Moody(unknown_account=unknown_account)
    report = examined(service, token="needless")
    expected = {"read parameters": "in the query", "credentials": "none needed for reads"}
    for point, conclusion in expected.items():
        assert report[point].certainty != "observed" or report[point].conclusion == conclusion
    assert len(service.requests) == report.sent <= 30


@each_case("status", [401, 403])
@each_case("accepted", range(1, 20))
def test_service_that_refuses_everything_from_some_request_on_proves_nothing(
    status, accepted
) -> None:
    class Exhausted(Service):
        def handle(self, request):
            response = super().handle(request)
            return response if len(self.requests) <= accepted else self.refusal(status, "quota")

    service = Exhausted(unknown_account="same")
    report = examined(service, token="needless")
    assert report["read parameters"].certainty != "observed"
    credentials = report["credentials"]
    assert credentials.certainty != "observed" or credentials.conclusion.startswith("none")
    assert len(service.requests) == report.sent <= 30


def test_hostile_continuations_are_not_followed() -> None:
    class Huge(Service):
        def next(self, request, end):
            return "x" * 70_000

    report = examined(Huge())
    assert report["continuation"].certainty == "not observed"
    elsewhere = Service(form="elsewhere")
    assert examined(elsewhere).is_accepted
    assert {request.url.host for request in elsewhere.requests} == {"ads.example.com"}


def echo(request: httpx.Request) -> httpx.Response:
    """Repeat the credentials wherever a report could show them."""
    secret = request.headers.get("authorization", f"Bearer {SECRET}")
    word = secret.removeprefix("Bearer ")
    if "account_1" not in str(request.url):
        return httpx.Response(404, json={"message": secret, "code": word, "details": {word: 1}})
    item = {"id": "a", "name": word, "status": "b", word.replace("-", "_"): word, word: 1}
    following = f"{request.url}&{word}={word}"
    headers = {"x-request-id": word, "x-ratelimit": secret, f"x-{word}-request-id": word}
    body = {"data": [item], "page": {"next": following, word: word}}
    return httpx.Response(200, json=body, headers=headers)


def test_no_secret_is_shown() -> None:
    for where in (
        echo,
        lambda request: httpx.Response(302, headers={"location": f"https://x.example/{SECRET}"}),
        lambda request: httpx.Response(401, headers={"www-authenticate": f"Bearer {SECRET}"}),
        lambda request: httpx.Response(200, text=SECRET),
    ):
        report = examine(
            "https://ads.example.com",
            account_id=ACCOUNT,
            transport=httpx.MockTransport(where),
            token=SECRET,
        )
        told = [str(report), report.details(), json.dumps(report.to_dict()), repr(report)]
        assert not [text for text in told if SECRET in text]
        assert report.sent >= 1


@each_case(
    ("arguments", "error"),
    [
        ({"account_id": ""}, InvalidRequest),
        ({"account_id": []}, InvalidRequest),
        ({"targeting": {"a": object()}}, InvalidRequest),
        ({"token": "two words"}, ConfigurationError),
        ({"timeout": 0}, ConfigurationError),
        ({"base_url": "ads.example.com"}, ConfigurationError),
    ],
)
def test_invalid_arguments_are_refused(arguments, error) -> None:
    service = Service()
    given = {"base_url": "https://ads.example.com", "account_id": ACCOUNT, **arguments}
    with pytest.raises(error):
        examine(**given, transport=httpx.MockTransport(service.handle))
    assert service.requests == []


def test_error_of_the_callers_transport_is_raised() -> None:
    def fail(request):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        examine("https://a.example", account_id="a", transport=httpx.MockTransport(fail))
