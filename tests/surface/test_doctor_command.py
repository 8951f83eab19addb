"""`adclient doctor`: what it prints, its exit codes, and what it refuses."""

import importlib
import json
import os
import re
import signal
import sys
import traceback
from pathlib import Path

import pytest
from cases import each_case
from doctor_services import ACCOUNT
from raw_server import LISTING, RawServer, refusing_url, reply

from adclient import __version__
from adclient._command import main
from adclient.doctor import Interrupted, examine
from adclient.testing import FakeAdService, Fault, Profile
from adclient.testing.server import serving

pytestmark = pytest.mark.usefixtures("doctor_retries_at_once")
BETA = ["--account", "account_b204"]
SECRET = "hunter2-s3cret"
# For a service on this machine, one screen of a terminal of 80 by 40.
COLUMNS, LINES = 100, 40


def test_report_fits_on_one_screen(capsys) -> None:
    fake = FakeAdService(page_size=5, token=SECRET)
    with serving(fake) as url:
        code = main(["doctor", url, *BETA, "--account", "account_c3d8", "--token", SECRET])
    told = capsys.readouterr().out
    assert code == 0
    assert len(told.splitlines()) <= LINES
    assert max(map(len, told.splitlines())) <= COLUMNS
    assert "  observed      continuation     `cursor` takes a string\n" in told
    assert 'token=os.environ["ADCLIENT_TOKEN"],' in told
    assert SECRET not in told
    assert {request.method for request in fake.requests} == {"GET"}
    assert len(fake.requests) <= 30


def test_details_and_json_say_more(capsys, monkeypatch) -> None:
    monkeypatch.setenv("MY_TOKEN", SECRET)
    fake = FakeAdService(token=SECRET, profile=Profile(key_header="X-Api-Key"))
    items = [{"id": "a", "name": "A", "status": "ENABLED"}, {"id": "b", "status": "ENABLED"}]
    page = Fault.response({"data": items, "page": {"next": None}})
    fake.faults.add(page, operation="gamma.list_ads", times=None)
    arguments = [*BETA, "--account", "account_c3d8", "--token-env", "MY_TOKEN"]
    arguments += ["--token-header", "X-Api-Key"]
    with serving(fake) as url:
        assert main(["doctor", url, *arguments, "--details"]) == 1
        details = capsys.readouterr().out
        assert main(["doctor", url, *arguments, "--json"]) == 1
        report = json.loads(capsys.readouterr().out)
    assert "class MyCampaign(Campaign):" in details
    assert "GET /v1/beta-ads/list-beta-campaigns: without credentials: 401" in details
    assert report["format_version"] == "1.0"
    assert report["problems"] == ["gamma.list_ads fails: $.data[1].name: missing"]
    assert report["conventions"]["read_parameters"] == "query"
    assert {"point", "observed", "conclusion", "certainty", "settings"} == set(
        report["findings"][0]
    )
    assert 'auth=lambda request: {"X-Api-Key": os.environ["MY_TOKEN"]},' in report["code"]
    assert SECRET not in details + json.dumps(report)


@each_case("arguments", [[], ["--token", SECRET]])
def test_exit_code_3_means_that_no_read_was_accepted(arguments, capsys) -> None:
    with serving(FakeAdService(token="other")) as url:
        assert main(["doctor", url, *BETA, *arguments]) == 3
    told = capsys.readouterr().out
    assert "AdClient(" not in told
    assert "401" in told
    assert main(["doctor", refusing_url(), *BETA, *arguments]) == 3
    assert "does not respond: " in capsys.readouterr().out


def test_dry_run_sends_nothing(capsys) -> None:
    with RawServer(lambda connection: None) as server:
        assert main(["doctor", server.url, *BETA, "--dry-run"]) == 0
        assert server.connections == 0
    told = capsys.readouterr().out
    assert f"At most 30 requests would be sent to {server.url}" in told
    assert told.count("  GET /v1/") == 7
    assert "Nothing was sent." in told


@each_case(
    ("arguments", "complaint"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["doctor"], "the following arguments are required: URL, --account/-a"),
        (["doctor", "ads.example.com", *BETA], "base_url must start with http:// or https://"),
        (["doctor", "ftp://x", *BETA, "--dry-run"], "base_url must start with http://"),
        (["doctor", "http://x", "--account", ""], "account_id must be a non-empty str"),
        (["doctor", "http://x", *BETA, "--timeout", "0"], "timeout must be a finite number"),
        (["doctor", "http://x", *BETA, "--timeout", "soon"], "invalid float value: 'soon'"),
        (["doctor", "http://x", *BETA, "--token", "a b"], "token contains whitespace"),
        (["doctor", "http://x", *BETA, "--token", "a", "--token-env", "B"], "not allowed with"),
        (["doctor", "http://x", *BETA, "--token-env", "NOT_SET"], "NOT_SET is not set"),
        (
            ["doctor", "http://x", *BETA, "--token-header", "X-Api-Key"],
            "pass the token, or set ADCLIENT_TOKEN",
        ),
        (["doctor", "http://x", *BETA, "--targeting", "[1]"], "not a JSON object"),
        (["doctor", "http://x", *BETA, "--targeting", "{"], "not a JSON object"),
        (["doctor", "http://x", *BETA, "--targeting", "\udcff"], "not a JSON object"),
        (["doctor", "http://x", *BETA, "--json", "--details"], "not allowed with"),
    ],
)
def test_wrong_command_line_is_refused(arguments, complaint, capsys) -> None:
    try:
        code = main(arguments)
    except SystemExit as refused:
        code = refused.code
    assert code == 2
    told = capsys.readouterr()
    assert complaint in told.err
    assert told.out == ""


def test_module_is_the_command(monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", ["adclient", "--version"])
    with pytest.raises(SystemExit) as caught:
        importlib.import_module("adclient.__main__")
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"adclient {__version__}\n"


def echoing(connection) -> None:
    """Repeat the token in the body, the headers and the continuation; refuse a second account."""
    while (request := connection.read()) is not None:
        found = re.search(rb"(?i)^(?:authorization: Bearer|x-key:) (.*)\r$", request, re.MULTILINE)
        secret = found[1] if found else SECRET.encode()
        body = b'{"data": [{"id": "%b", "name": "a", "status": "b", "x": {"%b": 1}}],'
        body = (body + b'"page": {"next": "?%b=%b"}}') % (secret, secret, secret, secret)
        headers = b"X-Request-Id: %b\r\nX-RateLimit-For: %b" % (secret, secret)
        if b"=account_1" in request:
            connection.send(reply(200, body, headers.decode()))
        elif b"no-such-account" in request:
            connection.send(reply(404, b'{"error": {"message": "%b", "%b": 1}}' % (secret, secret)))
        else:
            connection.send(reply(302, b"", f"Location: https://{SECRET}@x.example/{SECRET}"))


@each_case("shape", [[], ["--details"], ["--json"]])
@each_case(
    "how",
    [
        ["--token", SECRET],
        ["--token", SECRET, "--token-header", "X-Key"],
        ["--token-file", "token"],
    ],
)
def test_no_secret_is_printed(how, shape, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    Path("token").write_text(SECRET)
    with RawServer(echoing) as server:
        codes = [
            main(["doctor", server.url, "--account", account, *how, *shape])
            for account in (ACCOUNT, "account_2")
        ]
    told = capsys.readouterr()
    assert codes == [1, 3]
    assert "likely" in told.out
    assert "redirects to https://x.example/***" in told.out
    assert SECRET not in told.out + told.err


def interrupting(after: int):
    """A server that interrupts this process instead of a response, and repeats the secret."""
    item = {**LISTING["data"][0], "note": "", SECRET: ""}
    body = json.dumps({**LISTING, "data": [item]}).encode()

    def serve(connection) -> None:
        while connection.read():
            if len(server.requests) > after:
                os.kill(os.getpid(), signal.SIGINT)
                connection.stay_silent()
                return
            connection.send(reply(200, body))

    server = RawServer(serve)
    return server


@pytest.fixture
def _heeds_interrupts():
    """Handle SIGINT, which a shell without a terminal makes its background jobs ignore."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_heeds_interrupts")
@pytest.mark.parametrize("after", [0, 6])
def test_interrupt_prints_a_partial_report(after, capsys) -> None:
    with interrupting(after) as server:
        arguments = ["--account", ACCOUNT, "--token", SECRET, "--details"]
        assert main(["doctor", server.url, *arguments]) == 130
    told = capsys.readouterr().out
    assert ("class MyCampaign" in told) is (after > 0)
    assert SECRET not in told
    assert f"{after + 1} reads, no write" in told
    assert "interrupted: this report is partial" in told
    assert "observed" in told


@pytest.mark.usefixtures("_heeds_interrupts")
def test_interrupt_in_code_is_raised_with_a_partial_report() -> None:
    with interrupting(1) as server, pytest.raises(KeyboardInterrupt) as caught:
        examine(server.url, account_id=ACCOUNT, token=SECRET)
    for error in (caught.value, caught.value.__cause__):
        for frame, _ in list(traceback.walk_tb(error.__traceback__))[1:]:
            assert SECRET not in repr(frame.f_locals)
    assert isinstance(caught.value, Interrupted)
    assert caught.value.report.sent == 2
    assert caught.value.report["service"].conclusion == "reachable"
