"""`adclient doctor`: what it prints, its exit codes, and what it refuses."""

import importlib
import json
import os
import re
import signal
import sys
import traceback
from pathlib import Path

import attrs
import pytest
from cases import each_case
from doctor_services import ACCOUNT, Listing, Service, examined, served, true_ids
from raw_server import CERTIFICATE, LISTING, RawServer, refusing_url, reply

from adclient import AdClient, ConfigurationError, __version__
from adclient._command import main
from adclient._service.reading import read_service
from adclient.doctor import Interrupted, examine
from adclient.testing import FakeAdService, Fault, Profile
from adclient.testing.server import serving

pytestmark = pytest.mark.usefixtures("doctor_retries_at_once")
BETA = ["--account", "account_b204"]
ALL = [
    *BETA,
    *("--account", "account_c3d8", "--account", "account_a91f", "--account", "account_d118"),
]
SECRET = "hunter2-s3cret"
# For a service on this machine, one screen of a terminal of 80 by 40.
COLUMNS, LINES = 100, 40


def test_report_fits_on_one_screen(capsys) -> None:
    fake = FakeAdService(page_size=5, token=SECRET)
    with serving(fake) as url:
        code = main(["doctor", url, *ALL, "--token", SECRET])
    printed = capsys.readouterr()
    told = printed.out
    assert code == 0
    assert len(told.splitlines()) <= LINES
    assert max(map(len, told.splitlines())) <= COLUMNS
    assert "  observed      continuation     `cursor` takes a string\n" in told
    assert 'token=os.environ["ADCLIENT_TOKEN"],' in told
    assert SECRET not in told
    assert {request.method for request in fake.requests} == {"GET"}
    assert len(fake.requests) <= 100
    progress = printed.err.splitlines()
    assert len(progress) == len(fake.requests)
    assert progress[0] == "adclient: beta.list_campaigns: the parameters in the query"


def test_details_and_json_say_more(capsys, monkeypatch) -> None:
    monkeypatch.setenv("MY_TOKEN", SECRET)
    fake = FakeAdService(token=SECRET, profile=Profile(key_header="X-Api-Key"))
    items = [{"id": "a", "name": "A", "status": "ENABLED"}, {"id": "b", "status": "ENABLED"}]
    page = Fault.response({"data": items, "page": {"next": None}})
    fake.faults.add(page, operation="gamma.list_ads", times=None)
    arguments = [*ALL, "--token-env", "MY_TOKEN", "--quiet"]
    arguments += ["--token-header", "X-Api-Key"]
    with serving(fake) as url:
        assert main(["doctor", url, *arguments, "--details"]) == 1
        details = capsys.readouterr().out
        assert main(["doctor", url, *arguments, "--json"]) == 1
        printed = capsys.readouterr()
    report = json.loads(printed.out)
    assert printed.err == ""
    assert "class MyCampaign(Campaign):" in details
    assert "GET /v1/beta-ads/list-beta-campaigns: without credentials: 401" in details
    assert report["format_version"] == "1.0"
    assert report["problems"] == [
        "gamma.list_ads: $.data[1].name: missing; "
        "ask the makers of the service (`--markdown` has the questions)"
    ]
    assert report["conventions"]["read_parameters"] == "query"
    keys = {"point", "read", "observed", "conclusion", "certainty", "settings", "suggestions"}
    assert keys == set(report["findings"][0])
    assert 'auth=lambda request: {"x-api-key": os.environ["MY_TOKEN"]},' in report["code"]
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
        assert main(["doctor", server.url, *BETA, "--dry-run", "--requests", "50"]) == 0
        assert server.connections == 0
    told = capsys.readouterr().out
    assert f"At most 50 requests would be sent to {server.url}" in told
    assert told.count("  GET /v1/") == 7
    assert "Nothing was sent." in told


@each_case(
    ("arguments", "complaint"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["doctor"], "URL is missing: pass it, or a file with --check"),
        (["doctor", "http://x"], "--account is missing: pass it, or a file with --check"),
        (["doctor", "http://x", *BETA, "--requests", "0"], "must be a whole number, 1 or more"),
        (["doctor", "http://x", *BETA, "--header", "X-Tenant"], "expected NAME:VALUE"),
        (["doctor", "http://x", *BETA, "--header", "Authorization:x"], "authorization is set by"),
        (["doctor", "http://x", *BETA, "--ca-file", "missing.pem"], "missing.pem"),
        (["doctor", "http://x", *BETA, "--save", "a", "--check", "b"], "not allowed with"),
        (["doctor", "http://x", *BETA, "--save", "no/such.toml"], "no is no folder"),
        (["doctor", "--check", "missing.toml"], "missing.toml"),
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


@each_case("shape", [[], ["--details"], ["--json"], ["--markdown"]])
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
    assert "ended early: interrupted, so this report is partial; run the doctor again" in told
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


@each_case(
    ("given", "header", "secret", "auth"),
    [
        (["--auth-scheme", "Token"], "authorization", "Token sesame-1", 'scheme = "Token"'),
        (["--token-header", "X-Key"], "x-key", "sesame-1", 'scheme = ""\nheader = "x-key"'),
        (
            ["--token-header", "X-Key", "--auth-scheme", "Key"],
            "x-key",
            "Key sesame-1",
            'scheme = "Key"\nheader = "x-key"',
        ),
        ([], "authorization", "Bearer sesame-1", ""),
    ],
)
@each_case(
    "source", [[], ["--token-env", "MY_TOKEN"], ["--token-file", "token"], ["--token", "sesame-1"]]
)
def test_saved_file_makes_a_client(
    given, header, secret, auth, source, tmp_path, monkeypatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MY_TOKEN" if "MY_TOKEN" in source else "ADCLIENT_TOKEN", "sesame-1")
    Path("token").write_text("sesame-1\n")
    Path("ads").mkdir(exist_ok=True)
    Path("ads/service.toml").unlink(missing_ok=True)
    service = Service(
        listing=Listing(name="after", form="foreign"), header=header, secret=secret, tenant="t 1"
    )
    with served(service) as url:
        options = [*given, *source, "--header", "X-Tenant: t 1", "--quiet"]
        assert main(["doctor", url, "-a", ACCOUNT, *options, "--save", "ads/service.toml"]) == 0
        told = capsys.readouterr().out
        saved = Path("ads/service.toml").read_text()
        assert 'AdClient.from_service("ads/service.toml")' in told
        assert main(["doctor", url, "-a", ACCOUNT, *options, "--save", "ads/service.toml"]) == 2
        assert "service.toml exists; --force replaces it" in capsys.readouterr().err
        assert (
            main(["doctor", url, "-a", ACCOUNT, *options, "--save", "ads/service.toml", "--force"])
            == 0
        )
        # The same service gives the same file.
        assert Path("ads/service.toml").read_text() == saved
        with AdClient.from_service("ads/service.toml") as client:
            ids = [item.id for item in client.gamma.list_ads(account_id=ACCOUNT)]
        assert ids == true_ids(service, "gamma.list_ads")
        assert main(["doctor", "--check", "ads/service.toml", "--quiet"]) == 0
    assert "sesame-1" not in saved
    assert auth in saved
    assert '[headers]\nx-tenant = "t 1"\n' in saved


def test_basic_credentials_are_user_and_password(tmp_path, monkeypatch, capsys) -> None:
    service = Service(header="authorization", secret="Basic bWU6c2VzYW1l")
    file = tmp_path / "service.toml"
    monkeypatch.setenv("ADCLIENT_TOKEN", "me:sesame")
    with served(service) as url:
        arguments = ["doctor", url, "-a", ACCOUNT, "--auth-scheme", "Basic", "--save", str(file)]
        assert main(arguments) == 0
        assert main([*arguments[:-2], "--quiet"]) == 0
        assert "    auth=auth,\n" in capsys.readouterr().out
        with AdClient.from_service(file) as client:
            assert client.beta.list_campaigns(account_id=ACCOUNT).data


def test_file_is_not_replaced_by_chance(tmp_path) -> None:
    file = tmp_path / "service.toml"
    file.write_text("mine")
    with pytest.raises(ConfigurationError, match=r"exists; pass replace=True"):
        examined(Service()).save(file)
    assert file.read_text() == "mine"


def test_nothing_is_saved_if_no_read_was_accepted(tmp_path) -> None:
    file = tmp_path / "service.toml"
    assert main(["doctor", refusing_url(), *BETA, "--save", str(file)]) == 3
    assert not file.exists()


def test_changes_since_a_file_are_printed(tmp_path, capsys) -> None:
    file = tmp_path / "service.toml"
    before = Service(
        listing=Listing(name="after", extra={"meta": {"a": 1}}),
        others={
            "gamma.list_ads": Listing(name="after", end="missing"),
            "alpha.explain_objectives": Listing(count=0),
        },
    )
    with served(before) as url:
        assert main(["doctor", url, "-a", ACCOUNT, "--save", str(file), "--quiet"]) == 0
        assert main(["doctor", url, "-a", ACCOUNT, "--check", str(file), "--quiet"]) == 0
        assert capsys.readouterr().out.endswith("\nChanges\n  none\n")
        before.listing = attrs.evolve(before.listing, count=3)
        ads = attrs.evolve(before.others["gamma.list_ads"], count=3)
        before.others = {**before.others, "gamma.list_ads": ads}
        # What cannot be observed has not changed; but a `next` that is missing now proves less.
        assert main(["doctor", "--check", str(file), "--quiet"]) == 1
        more = {"spend": 1}
        extra = {"meta": {"a": "b", "c": 1}}
        before.listing = Listing(form="href", size=3, extra=extra, more=more)
        before.others = {}
        assert main(["doctor", "--check", str(file), "--quiet"]) == 6
        told = capsys.readouterr().out
        assert main(["doctor", "--check", str(file), "--quiet", "--json"]) == 6
        report = json.loads(capsys.readouterr().out)
    changes = told.splitlines()
    assert changes[0] == "Changes"
    for line in (
        "continuation: None → query_of_url",
        "end_of_listing: missing → null (gamma.list_ads)",
        "beta.list_campaigns item/spend: nothing → integer",
        "beta.list_campaigns next/form: string → object",
        "beta.list_campaigns next/key: None → href",
        "beta.list_campaigns next/page size: 4 → 3",
        "beta.list_campaigns extra/meta.a: integer → string",
        "beta.list_campaigns extra/meta.c: nothing → integer",
    ):
        assert f"  {line}" in changes
        assert line in report["changes"]


def test_read_that_is_refused_now_is_a_change(tmp_path, capsys) -> None:
    file = tmp_path / "service.toml"
    service = Service(foreign=("alpha",), headers={"x-correlation-id": "r{}"})
    with served(service) as url:
        main(["doctor", url, "-a", ACCOUNT, "--save", str(file), "--quiet"])
        service.foreign, service.account = ("delta",), "same"
        service.headers = {"x-request-id": "r{}"}
        assert main(["doctor", "--check", str(file), "--quiet"]) == 6
    told = capsys.readouterr().out
    assert "  alpha.explain_objectives is accepted now\n" in told
    assert "  delta.infer_business_profile is not accepted any more\n" in told
    before = "  request_id_headers: ('x-correlation-id',) → "
    assert before + "('x-request-id', 'request-id')\n" in told
    assert "  unknown_account/status: 404 → 200\n" in told
    assert "\nProblems\n  " in told


def test_texts_are_kept_on_demand(tmp_path) -> None:
    file = tmp_path / "service.toml"
    with served(Service(listing=Listing(count=3))) as url:
        arguments = ["doctor", url, "-a", ACCOUNT, "--save", str(file), "--quiet", "--force"]
        assert main(arguments) == 0
        assert "Name 21" not in file.read_text()
        assert "no such account" not in file.read_text()
        assert main([*arguments, "--keep-texts"]) == 0
    assert "Name 21" in file.read_text()


def test_connection_is_that_of_the_options_or_the_file(tmp_path, monkeypatch) -> None:
    def serve(connection) -> None:
        connection.start_tls()
        while connection.read():
            connection.send(reply(200, json.dumps(LISTING).encode()))

    monkeypatch.chdir(tmp_path)
    file = tmp_path / "service.toml"
    with RawServer(serve) as server:
        url = server.url.replace("http:", "https:")
        certificates = ["--ca-file", str(CERTIFICATE)]
        main(["doctor", url, "-a", ACCOUNT, *certificates, "--save", "service.toml", "--quiet"])
        assert (tmp_path / read_service(file).ca_file).samefile(CERTIFICATE)
        assert main(["doctor", "--check", str(file), "--quiet"]) == 1
    proxy = refusing_url()
    arguments = ["doctor", "http://ads.example.com", "-a", ACCOUNT, "--proxy", proxy, "--quiet"]
    assert main(arguments) == 3


def test_markdown_has_questions_and_what_was_asked(capsys) -> None:
    with served(Service(listing=Listing(name="k7", count=9))) as url:
        assert main(["doctor", url, "-a", ACCOUNT, "--markdown", "--quiet"]) == 1
    told = capsys.readouterr().out
    assert f"# What adclient asked {url}, and what it received\n" in told
    assert "1. In which parameter, and in which form, is `page.next` sent back? (not obs" in told
    assert "Why? `beta.list_campaigns and 6 others: too few" in told
    assert "| continuation | `unknown: " in told
    assert (
        "\n1. `GET /v1/beta-ads/list-beta-campaigns: the parameters in the query: 200, 4 items`\n"
        in told
    )
