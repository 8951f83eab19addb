"""`adclient doctor`: what it prints, its exit codes, and what it refuses."""

import json
import os
import signal
from contextlib import contextmanager
from pathlib import Path

import attrs
import httpx
import pytest
from cases import each_case
from doctor_services import ACCOUNT, Listing, Service, examined, served, true_ids
from raw_server import CERTIFICATE, LISTING, RawServer, refusing_url, reply
from secret_texts import locals_of

from adclient import AdClient, ConfigurationError
from adclient._command import main
from adclient._service.file import read_service
from adclient._service.model import AuthShape
from adclient.doctor import Interrupted, examine

BETA = ["--account", "account_b204"]
SECRET = "hunter2-s3cret"


@contextmanager
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

    # A shell without a terminal makes its background jobs ignore SIGINT.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with RawServer(serve) as server:
            yield server.url
    finally:
        signal.signal(signal.SIGINT, before)


@each_case("after", 0, 6)
def test_interrupt_prints_a_partial_report(after, capsys) -> None:
    with interrupting(after) as url:
        arguments = ["--account", ACCOUNT, "--token", SECRET, "--markdown"]
        assert main(["doctor", url, *arguments]) == 130
    told = capsys.readouterr().out
    assert ("200, 1 items" in told) is (after > 0)
    assert SECRET not in told
    reads, requests = ("1 read,", "1 request,") if after == 0 else ("7 reads,", "7 requests,")
    assert f": {reads} no write" in told
    assert f"The {requests} all of them reads" in told
    assert "ended early: interrupted, so this report is partial" in told
    assert "observed" in told


def test_interrupt_in_code_is_raised_with_a_partial_report() -> None:
    with interrupting(1) as url, pytest.raises(KeyboardInterrupt) as caught:
        examine(AdClient(url, token=SECRET), account_id=ACCOUNT)
    for error in (caught.value, caught.value.__cause__):
        assert SECRET not in " ".join(locals_of(error))
    assert isinstance(caught.value, Interrupted)
    assert caught.value.report.sent == 2
    assert caught.value.report["service"].conclusion == "reachable"


@each_case(("options", "header", "secret", "auth"),
    (["--auth-scheme", "Token", "--token-env", "MY_TOKEN"], "authorization", "Token sesame-1",
     AuthShape(scheme="Token", env="MY_TOKEN")),
    (["--token-header", "X-Key", "--token-file", "token"], "x-key", "sesame-1",
     AuthShape(scheme="", header="x-key", file="ads/../token")),
    ([], "authorization", "Bearer sesame-1", AuthShape(env="ADCLIENT_TOKEN")),
)  # fmt: skip
def test_saved_file_makes_a_client(
    options, header, secret, auth, tmp_path, monkeypatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MY_TOKEN" if auth.env == "MY_TOKEN" else "ADCLIENT_TOKEN", "sesame-1")
    Path("token").write_text("sesame-1\n")
    Path("ads").mkdir(exist_ok=True)
    Path("ads/service.toml").unlink(missing_ok=True)
    service = Service(
        listing=Listing(name="after", form="foreign"), header=header, secret=secret, tenant="t 1"
    )
    with served(service) as url:
        command = ["doctor", url, "-a", ACCOUNT, "--header", "X-Tenant: t 1", "--quiet"]
        command += [*options, "--save", "ads/service.toml"]
        assert main(command) == 0
        told = capsys.readouterr().out
        saved = Path("ads/service.toml").read_text()
        assert 'AdClient.from_service("ads/service.toml")' in told
        assert main(command) == 2
        assert "service.toml exists; --force replaces it" in capsys.readouterr().err
        if not options:  # the same service gives the same file
            assert main([*command, "--force"]) == 0
            assert Path("ads/service.toml").read_text() == saved
        with AdClient.from_service("ads/service.toml") as client:
            ids = [item.id for item in client.gamma.list_ads(account_id=ACCOUNT)]
        assert ids == true_ids(service, "gamma.list_ads")
        assert main(["doctor", "--check", "ads/service.toml", "--quiet"]) == 0
        # The secret of the options counts more than that of the file.
        monkeypatch.setenv("WRONG", "wrong")
        assert main(["doctor", "--check", "ads/service.toml", "--token-env", "WRONG"]) == 3
    assert "sesame-1" not in saved
    assert read_service("ads/service.toml").auth == auth
    assert '[headers]\nx-tenant = "t 1"\n' in saved


def test_secret_in_a_header_is_not_shown_and_its_variable_is_named(
    tmp_path, monkeypatch, capsys
) -> None:
    file = tmp_path / "service.toml"
    service = Service(header="x-api-key", secret=SECRET, tenant="t1")
    service.change = lambda request, response: (
        response if response.status_code == 200 else service.refusal(404, f"not {SECRET}")
    )
    headers = ["--header", f"X-Api-Key: {SECRET}", "--header", "X-Tenant: t1"]
    with served(service) as url:
        command = ["doctor", url, "-a", ACCOUNT, *headers]
        assert main([*command, "--markdown"]) == 0
        assert main([*command, "--save", str(file)]) == 0
        assert main(command) == 0
        told = capsys.readouterr()
        assert SECRET not in told.out + told.err + file.read_text()
        assert "not ***" in told.out
        known = read_service(file)
        auth = AuthShape(headers={"x-api-key": "X_API_KEY"})
        assert (known.auth, known.headers) == (auth, {"x-tenant": "t1"})
        check = ["doctor", "--check", str(file), "--quiet"]
        assert main(check) == 2
        assert f"{file}, auth.headers.x-api-key: X_API_KEY is not set" in capsys.readouterr().err
        assert main([*check, "--header", f"x-api-key:{SECRET}"]) == 0
        monkeypatch.setenv("X_API_KEY", SECRET)
        assert main(check) == 0
        with AdClient.from_service(file) as client:
            assert client.gamma.list_ads(account_id=ACCOUNT).collect()
            assert examine(client, account_id=ACCOUNT).service.auth == known.auth


def test_file_is_saved_only_if_a_read_was_accepted_and_without_texts(tmp_path, capsys) -> None:
    file = tmp_path / "service.toml"
    assert main(["doctor", refusing_url(), *BETA, "--save", str(file)]) == 3
    assert not file.exists()
    assert "AdClient(" not in capsys.readouterr().out
    with served(Service(listing=Listing(count=3))) as url:  # whose continuation is not known
        assert main(["doctor", url, "-a", ACCOUNT, "--save", str(file), "--quiet"]) == 4
        assert main(["doctor", "--check", str(file), "--quiet"]) == 0
    with pytest.raises(ConfigurationError, match=r"exists; pass replace=True"):
        examined(Service()).save(file)
    assert "Name 21" not in file.read_text()


def test_changes_since_a_file_are_printed(tmp_path, capsys) -> None:
    file = tmp_path / "service.toml"
    ads, quiet = Listing(name="after", end="missing"), Listing(count=0)
    service = Service(
        listing=Listing(name="after", extra={"meta": {"a": 1}}),
        others={"gamma.list_ads": ads, "alpha.explain_objectives": quiet},
        foreign=("delta",),
        headers={"x-correlation-id": "r{}"},
    )
    check = ["doctor", "--check", str(file), "--quiet"]
    with served(service) as url:
        assert main(["doctor", url, "-a", ACCOUNT, "--save", str(file), "--quiet"]) == 1
        capsys.readouterr()
        assert main([*check, "-a", "other"]) == 2
        complaint = f"adclient: --account: --check is for the accounts of {file}\n"
        assert capsys.readouterr().err == complaint
        assert main(["doctor", url, *check[1:]]) == 1
        assert capsys.readouterr().out.startswith("Changes\n  none\nProblems\n  delta.")
        # What cannot be observed has not changed; but a `next` that is missing now proves less.
        service.listing = attrs.evolve(service.listing, count=3)
        service.others = {**service.others, "gamma.list_ads": attrs.evolve(ads, count=3)}
        assert main(check) == 1
        capsys.readouterr()
        extra = {"meta": {"a": "b", "c": 1}}
        service.listing = Listing(form="href", size=3, extra=extra, more={"spend": 1})
        service.others, service.foreign, service.account = {}, ("alpha",), "same"
        service.headers = {"x-request-id": "r{}"}
        assert main(check) == 6
        changes, _, problems = capsys.readouterr().out.partition("\nProblems\n  ")
        assert main([*check, "--json"]) == 6
        report = json.loads(capsys.readouterr().out)
    assert problems
    assert changes == "\n  ".join(["Changes", *report["changes"]])
    for line in (
        "continuation: None -> query_of_url",
        "end_of_listing: missing -> null (gamma.list_ads)",
        "request_id_headers: ('x-correlation-id',) -> ('x-request-id', 'request-id')",
        "unknown_account/status: 404 -> 200",
        "alpha.explain_objectives is not accepted any more",
        "delta.infer_business_profile is accepted now",
        "item/spend: missing -> integer",
        "next/form: string -> object",
        "next/key: None -> href",
        "items on a page: 4 -> 3",
        "beside/meta.a: integer -> string",
        "beside/meta.c: missing -> integer",
    ):
        assert any(each.startswith(line) for each in report["changes"]), line


def test_check_reads_little_and_says_at_once_what_is_wrong(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setenv("ADCLIENT_TOKEN", "sesame-1")
    file = tmp_path / "service.toml"
    service = Service(header="authorization", secret="Bearer sesame-1", listing=Listing(name="k"))
    check = ["doctor", "--check", str(file), "--quiet"]
    with served(service) as url:
        assert main(["doctor", url, "-a", ACCOUNT, "--save", str(file), "--quiet"]) == 1
        service.listing = Listing(name="page_token")
        assert main(["doctor", url, "-a", ACCOUNT, "--save", str(file), "--quiet", "--force"]) == 0
        text = file.read_text()
        file.write_text(text.replace(f'["{ACCOUNT}"]', f'["{ACCOUNT}", "acc_2"]'))
        for change, code, most in ((Listing(name="page_token"), 0, 10), (Listing(), 6, 70)):
            service.listing, before = change, len(service.requests)
            assert main(check) == code
            assert len(service.requests) - before <= most
            file.write_text(text)
        by_hand = f'format = 2\nurl = "{url}"\naccounts = ["{ACCOUNT}"]\n'
        by_hand += '[auth]\nenv = "ADCLIENT_TOKEN"\n[conventions]\n'
        file.write_text(f'{by_hand}cursor_parameter = "page_token"\n')
        assert main(check) == 6
        changed = "cursor_parameter: page_token -> cursor\n"
        unknown = "the file has no listings, so only settings were compared; `--save` adds them\n"
        changes = capsys.readouterr().out.split("Changes\n  ")[-2:]
        assert changes == [changed, f"{changed}  {unknown}"]
        file.write_text(text)
        service.listing = Listing(name="page_token")
        service.change = lambda request, response: (
            httpx.Response(501) if response.is_success and "beta" in str(request.url) else response
        )
        assert main(check) == main(["doctor", url, "-a", ACCOUNT, "--quiet"]) == 1
        assert capsys.readouterr().out.startswith("Changes\n  none\nProblems\n  6 requests failed")
        before = len(service.requests)
        monkeypatch.setenv("ADCLIENT_TOKEN", "sesame-2")
        assert main(check) == 3
        assert len(service.requests) == before + 1
        told = capsys.readouterr().out
        assert told.startswith("Service\n  reachable, but refuses every read: 401 who are you?\n")
        assert "the given ones are refused" in told
        assert "Changes" not in told
    assert main(check) == 3
    assert capsys.readouterr().out.startswith("Service\n  does not respond: ")


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
