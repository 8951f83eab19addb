"""The doctor and services that are broken: it finishes in time, and reports what it found."""

import json
from urllib.parse import urlsplit

import httpx
import pytest
from cases import each_case
from doctor_services import Listing, Service, check_that_a_client_reads_all, examined, examined_by
from raw_server import Connection, RawServer, reply

from adclient._core.operations import OPERATIONS, READS
from adclient.doctor import Report, examine
from adclient.survey.observation import Probe
from adclient.survey.session import Session
from adclient.testing import FakeAdService, Fault

READ_PATHS = {("GET", operation.path) for operation in READS.values()}
LISTING = b'{"data": [{"id": "a", "name": "A", "status": "B"}], "page": {"next": null}}'
SECRET = "hunter2-s3cret"


def service_of(report: Report) -> str:
    return report["service"].conclusion


CHECK_URL = "check the address"
AGAIN = "run the doctor again later"


@each_case(
    ("answer", "expected", "step"),
    (reply(200, b"<h1>Hi</h1>"), "not with the documented shape: (no JSON)", CHECK_URL),
    (reply(200, b'{"data": [], "page": 1}'), "shape: {data [], page}", CHECK_URL),
    (reply(429, b"slower"), "reachable, but fails: 429", AGAIN),
    (reply(500, b"oops"), "reachable, but fails: 500", AGAIN),
    (reply(401, b"{}"), "refuses every read: 401", "`--token-header` and `--auth-scheme`"),
    (reply(404, b"{}"), "refuses every read: 404", "check the accounts"),
    (reply(302, b"", "Location: https://u:p@elsewhere.example/a?t=1"), "to https", CHECK_URL),
    (reply(307, b"", "Location: http://["), "redirects, which is never followed", CHECK_URL),
    (reply(200, LISTING)[:-9], "does not respond to the end: 200", "and `--ca-file`"),
    (b"nonsense\r\n\r\n", "does not respond", "`--proxy` and `--ca-file`"),
)
def test_service_that_serves_nothing_is_described(answer, expected, step) -> None:
    # Otherwise the next request may be sent over a connection that is being closed.
    closing = answer.replace(b"\r\n", b"\r\nConnection: close\r\n", 1)

    def serve(connection) -> None:
        if connection.read():
            connection.send(closing)

    with RawServer(serve) as server:
        report = examined_by(None, server.url)
        assert expected in service_of(report)
        assert "u:p" not in service_of(report)
        assert max(map(len, str(report).splitlines())) <= 100
        assert not report.is_accepted
        assert report.problems[-1].endswith(step)
        for request in server.requests:
            method, target, _ = request.split(b"\r\n")[0].decode().split()
            assert (method, urlsplit(target).path) in READ_PATHS
    assert report.sent == len(server.requests) > 0
    assert report.code.startswith("from adclient import AdClient")
    assert "unknown" in report["read parameters"].conclusion


def test_response_without_an_end_is_cut_off_in_time() -> None:
    def serve(connection: Connection) -> None:
        connection.read()
        connection.send(b"HTTP/1.1 200 OK\r\n\r\n{")
        for _ in range(100):  # ten seconds, if it is not cut off
            connection.send(b" ")
            connection.pause(0 if connection.is_over else 0.1)

    with RawServer(serve) as server:
        report = examined_by(None, server.url, timeout=1)
    assert "no response in time" in report.requests[0]
    assert report.problems[0].startswith("no read was accepted; ")


RETRY_LATER = "run it again later, or with a longer timeout"
LIMITED = Fault.status(429, headers={"retry-after": "3600"})
SILENT = "no whole response to 2 requests in a row; run it again when the service responds"


@each_case(
    ("fault", "call", "timeout", "problem"),
    (Fault.no_response(), 7, 9999, SILENT),
    (Fault.slow(7), 3, 20, "the time was over; allow more: `--timeout`"),
    (LIMITED, 5, 120, f"the service asks to wait 3600 s; {RETRY_LATER}"),
)
def test_service_that_takes_too_long_ends_the_examination(fault, call, timeout, problem) -> None:
    fake = FakeAdService()
    fake.faults.add(fault, call=call, times=30)
    accounts = ["account_b204", "account_c3d8"]
    report = examine(fake.client(), account_id=accounts, timeout=timeout)
    assert report.problems[0] == f"ended early: {problem}"
    assert report.is_accepted
    assert report["read parameters"].certainty == "observed"
    limits = [each.conclusion for each in report.findings if each.point == "limits"]
    met = ["429 when they are exceeded, with a Retry-After of 3600"]
    assert limits == (met if fault is LIMITED else [])


def judge(service: Service, report: Report) -> None:
    """Nothing that is false counts as observed; without problems, a client reads everything."""
    name = service.listing.name
    service.faults = lambda n: None
    if not report.problems:
        check_that_a_client_reads_all(service, report)
    truth = {"read parameters": "in the query", "credentials": "none needed for reads"}
    truth |= {"continuation": f"`{name}` takes a string", "objects": "one JSON value"}
    for point, conclusion in truth.items():
        assert report[point].certainty != "observed" or report[point].conclusion == conclusion


OUTCOMES = [503, 429, 404, 403, 302]


@each_case("number", *range(1, 40))
def test_failure_that_stays_is_no_fact(number) -> None:
    """One request fails with all its attempts, or all do from one on."""
    is_end, outcome = number % 2 == 0, OUTCOMES[number % len(OUTCOMES)]
    fault = httpx.Response(outcome, headers={"location": "/x"})
    attempts = 3 if outcome in (503, 429) else 1
    last = number + (400 if is_end else attempts)
    service = Service(
        listing=Listing(name="after"), faults=lambda n: fault if number <= n < last else None
    )
    report = examined(service, token="needless")
    assert report.sent >= number
    judge(service, report)


def test_no_write_is_sent() -> None:
    client = FakeAdService().client()
    session = Session(client, 9, None, 9)
    with pytest.raises(ValueError, match="is a write, which is never sent"):
        session.ask(Probe(operation=OPERATIONS[0], arguments={"account_id": "a"}))


def test_error_of_the_callers_transport_is_raised() -> None:
    with pytest.raises(RuntimeError, match="mine"):
        examined(Service(faults=lambda number: RuntimeError("mine")))


def echo(request: httpx.Request) -> httpx.Response:
    """Repeat the credentials wherever a report could show them."""
    secret = request.headers.get("authorization", f"Bearer {SECRET}")
    word = secret.removeprefix("Bearer ")
    if "account_1" not in str(request.url):
        return httpx.Response(404, json={"message": secret, "code": word, "details": {word: 1}})
    is_next = f"{word}=x" in str(request.url)
    item = {"id": "ab"[is_next], "name": word, "status": "b", word: 1}
    item[word.replace("-", "_")] = word
    following = None if is_next else f"?{word}=x&api_key={word}"
    headers = {"x-request-id": word, "x-ratelimit": secret, f"x-{word}-request-id": word}
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
    hidden = "a setting contains the secret, and is hidden; set it yourself"
    for where in (
        echo,
        by_secret_name,
        leaks_in_refusal,
        lambda request: httpx.Response(302, headers={"location": f"https://x.example/{SECRET}"}),
        lambda request: httpx.Response(401, headers={"www-authenticate": f"Bearer {SECRET}"}),
        lambda request: httpx.Response(200, json={SECRET: SECRET}),
    ):
        lines: list[str] = []
        given = {"token": SECRET, "progress": lines.append}
        report = examined_by(httpx.MockTransport(where), **given)
        report.save(tmp_path / "service.toml", replace=True)
        told = [str(report), json.dumps(report.to_dict()), repr(report)]
        told += [report.markdown(), *lines, (tmp_path / "service.toml").read_text()]
        assert not [text for text in told if SECRET in text]
        assert report.problems or where is echo
        assert (hidden in report.problems) == (where is by_secret_name)
