"""What the doctor saves in a service file, and what it compares with one."""

import json
from base64 import b64encode
from urllib.parse import quote

import httpx
import pytest
from cases import each_case
from doctor_services import ACCOUNT, URL, Listing, Service, examined, served

from adclient._command import main
from adclient._service.model import AuthShape
from adclient._service.reading import read_service

pytestmark = pytest.mark.usefixtures("doctor_retries_at_once")


@each_case(
    ("header", "value", "expected"),
    [
        ("authorization", "Token sesame", AuthShape(scheme="Token", env="ADCLIENT_TOKEN")),
        ("authorization", "Key=SECRET, Sign=abc", AuthShape(scheme="", env="ADCLIENT_TOKEN")),
        ("authorization", "my secret words", AuthShape(scheme="", env="ADCLIENT_TOKEN")),
        ("x-key", "SECRET x", AuthShape(scheme="", header="x-key", env="ADCLIENT_TOKEN")),
    ],
)
def test_part_of_a_secret_is_not_taken_for_its_scheme(header, value, expected, tmp_path) -> None:
    report = examined(Service(header=header, secret=value), auth=lambda _: {header: value})
    report.save(tmp_path / "service.toml", replace=True)
    assert read_service(tmp_path / "service.toml").auth == expected


def test_signature_of_each_request_is_not_described() -> None:
    service = Service()
    sign = lambda _: {"authorization": f"HMAC {len(service.requests)}"}  # noqa: E731
    assert examined(service, auth=sign).service.auth is None


def test_token_with_a_blank_is_not_in_the_file(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("ADCLIENT_TOKEN", "sesame street")
    file = tmp_path / "service.toml"
    with served(Service(header="authorization", secret="sesame street")) as url:
        arguments = ["doctor", url, "-a", ACCOUNT, "--token-header", "Authorization", "--quiet"]
        assert main([*arguments, "--save", str(file)]) == 0
        assert main(["doctor", "--check", str(file), "--quiet"]) == 0
    assert "sesame" not in file.read_text()
    assert read_service(file).auth == AuthShape(scheme="", env="ADCLIENT_TOKEN")


def test_check_shows_the_credentials_of_the_file(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setenv("MY_TOKEN", "sesame")
    file = tmp_path / "service.toml"
    with served(Service(header="authorization", secret="Token sesame")) as url:
        given = ["--token-env", "MY_TOKEN", "--auth-scheme", "Token", "--quiet"]
        assert main(["doctor", url, "-a", ACCOUNT, *given, "--save", str(file)]) == 0
        capsys.readouterr()
        assert main(["doctor", "--check", str(file), "--json", "--quiet"]) == 0
        code = json.loads(capsys.readouterr().out)["code"]
        assert '"Token " + os.environ["MY_TOKEN"]' in code
        monkeypatch.setenv("OTHER", "sesame")
        other = ["--token-env", "OTHER", "--auth-scheme", "Token", "--json", "--quiet"]
        assert main(["doctor", "--check", str(file), *other]) == 0
    assert '"Token " + os.environ["OTHER"]' in json.loads(capsys.readouterr().out)["code"]


def test_basic_password_that_is_repeated_is_hidden(tmp_path, monkeypatch, capsys) -> None:
    class Echoing(Service):
        def refusal(self, status, message):
            return super().refusal(status, "no me:s3cret-word, s3cret-word")

    monkeypatch.setenv("ADCLIENT_TOKEN", "me:s3cret-word")
    coded = b64encode(b"me:s3cret-word").decode()
    file = tmp_path / "service.toml"
    with served(Echoing(header="authorization", secret=f"Basic {coded}")) as url:
        arguments = ["doctor", url, "-a", ACCOUNT, "--auth-scheme", "Basic"]
        saving = ["--save", str(file), "--keep-texts"]
        for shape in (saving, ["--details"], ["--json"], ["--markdown"]):
            assert main([*arguments, *shape]) == 0
    told = capsys.readouterr()
    assert "no ***, ***" in told.out
    assert not [text for text in (*told, file.read_text()) if "s3cret" in text or coded in text]


def refusing(body: object, content_type: str = "application/json") -> Service:
    """A service that refuses an unknown account with this body."""

    class Refusing(Service):
        def refusal(self, status, message):
            content = body if isinstance(body, str) else json.dumps(body)
            return httpx.Response(status, text=content, headers={"content-type": content_type})

    return Refusing()


def saved(report, file) -> str:
    report.save(file, replace=True)
    return file.read_text()


def test_data_of_an_error_is_not_saved(tmp_path) -> None:
    file = tmp_path / "service.toml"
    before = {
        "code": 42,
        "status": 404,
        "message": "no",
        "account": 12345678,
        "at": 1.5,
        "ok": False,
    }
    before |= {"account_77": 1, "of": [{"id": "a"}, {"id": "b"}]}
    told = saved(examined(refusing(before, "application/json; boundary=b7")), file)
    body = '{"code":"{code}","status":404,"message":"{message}","account":0,"at":0,"ok":false,'
    assert f'body = \'{body}"of":[{{"id":"…"}}]}}\'' in told
    assert "boundary" not in told
    after = {**before, "account": 1, "message": "not there", "account_78": 1, "of": [{"id": "c"}]}
    del after["account_77"]
    assert examined(refusing(after)).changes(file) == ()


def test_kept_texts_of_an_error_are_no_change(tmp_path) -> None:
    file = tmp_path / "service.toml"
    service = refusing({"message": "no", "hint": "look"})
    assert "look" in saved(examined(service, keep_texts=True), file)
    assert examined(service).changes(file) == ()


def test_other_structure_of_an_error_is_a_change(tmp_path) -> None:
    file = tmp_path / "service.toml"
    saved(examined(refusing({"message": "no", "of": "x"})), file)
    changes = examined(refusing({"message": "no", "of": 1, "more": ""})).changes(file)
    assert "errors/body.of: string → integer" in changes
    assert "errors/body.more: nothing → string" in changes
    changes = examined(refusing("no", "text/plain")).changes(file)
    assert "errors/body: object → string" in changes
    assert "errors/content type: application/json → text/plain" in changes


def test_long_numbers_do_not_make_a_long_file(tmp_path) -> None:
    class Long(Service):
        def page(self, listing, items, more):
            content = super().page(listing, items, more).content
            rows = content.replace(b'"ENABLED"', b'"ENABLED", "a": 1E+1000000, "b": 1E-1000000')
            return httpx.Response(200, content=rows.replace(b'"next"', b'"c": 123456, "next"'))

    told = saved(examined(Long()), tmp_path / "service.toml")
    assert len(told) < 10_000
    assert 'a = { types = ["number"], decimals = 0 }' in told
    assert 'b = { types = ["number"], decimals = 40 }' in told
    assert 'c = { types = ["integer"], minimum = 123456, maximum = 123456 }' in told


@each_case("fault", [httpx.Response(503), httpx.Response(429)])
def test_temporary_failure_is_no_change(fault, tmp_path) -> None:
    file = tmp_path / "service.toml"
    saved(examined(Service()), file)

    class Failing(Service):
        def handle(self, request):
            given = str(request.url)
            is_failing = "delta" in given or "no-such-account" in given
            return fault if is_failing else super().handle(request)

    report = examined(Failing())
    assert report.changes(file) == ()
    assert report.problems


def test_reads_that_were_not_sent_are_no_change(tmp_path) -> None:
    file = tmp_path / "service.toml"
    with served(Service()) as url:
        assert main(["doctor", url, "-a", ACCOUNT, "--save", str(file), "--quiet"]) == 0
        assert main(["doctor", "--check", str(file), "--requests", "6", "--quiet"]) == 1


def test_used_up_quota_is_no_change(tmp_path) -> None:
    file = tmp_path / "service.toml"
    saved(examined(Service()), file)
    service = Service(faults=lambda number: httpx.Response(403) if number > 6 else None)
    report = examined(service)
    assert report.changes(file) == ()
    assert report.problems


def with_items(*items: dict) -> Service:
    """A service in whose items these are found, one after the other."""

    class Various(Service):
        def items(self, read, account=ACCOUNT):
            known = super().items(read, account)
            return [{**each, **items[n % len(items)]} for n, each in enumerate(known)]

    return Various()


@each_case(
    ("before", "after", "expected"),
    [
        # The same structure with other data.
        ([{"a": "x"}, {"a": None}], [{"a": None}], ()),
        ([{"a": "x"}, {}], [{"a": "y"}], ()),
        ([{"a": "x"}, {}], [{}], ()),
        ([{"a": 1}], [{"a": 1.5}], ()),
        ([{"a": 1.5}], [{"a": 1}], ()),
        ([{"a": {"b": 1}}], [{"a": {}}], ()),
        ([{"a": {}}], [{"a": {"b": 1}}], ()),
        # What was not allowed before.
        ([{"a": "x"}], [{"a": "x"}, {"a": None}], ("a: string → string or null",)),
        ([{"a": "x"}], [{"a": "x"}, {}], ("a: string → string or missing",)),
        ([{"a": "x"}], [{"a": 1}], ("a: string → integer",)),
        ([{"a": "x"}], [{}], ("a: string → nothing",)),
        ([{}], [{"a": "x"}], ("a: nothing → string",)),
        ([{"a": {"b": 1, "c": 1}}], [{"a": {"b": 1}}], ("a.c: integer → nothing",)),
    ],
)
def test_only_what_the_file_does_not_allow_is_a_change(before, after, expected, tmp_path) -> None:
    file = tmp_path / "service.toml"
    saved(examined(with_items(*before)), file)
    name = "beta.list_campaigns item/"
    changes = [each for each in examined(with_items(*after)).changes(file) if name in each]
    assert changes == [f"{name}{each}" for each in expected]


def test_names_of_the_service_do_not_reach_the_terminal_or_markdown(tmp_path) -> None:
    name = "x\x1b[31m\n|`<img>"

    class Hostile(Service):
        def page(self, listing, items, more):
            response = super().page(listing, items, more)
            link = f"<{URL}/x?{quote(name)}=1>; rel=next"
            return httpx.Response(200, content=response.content, headers={"link": link})

        def refusal(self, status, message):
            text = "![x](http://evil.example) @team ``code`` | <b>"
            return httpx.Response(status, json={"message": text})

    lines: list[str] = []
    file = tmp_path / "service.toml"
    saved(examined(Service()), file)
    report = examined(Hostile(listing=Listing(name=name)), progress=lines.append)
    told = [str(report), report.details(), report.markdown(), *report.changes(file)]
    assert "x [31m |`<img>" in report.details()
    assert not [text for text in told if not text.replace("\n", "").isprintable()]
    assert lines
    assert all(map(str.isprintable, lines))
    (row,) = [line for line in report.markdown().splitlines() if line.startswith("| errors")]
    text = "![x](http://evil.example) @team ``code`` "
    assert f"{text}\\| <b> ``` |" in row
    numbered = [
        line for line in report.markdown().splitlines() if "no-such" in line or text in line
    ]
    assert all("`" in line.partition(text)[0] for line in numbered)


def test_unknown_account_without_items_is_status_200(tmp_path) -> None:
    file = tmp_path / "service.toml"
    told = saved(examined(Service()), file)
    file.write_text(told.replace("unknown_account = 404", "unknown_account = 200"))
    assert examined(Service(account="empty")).changes(file) == ()
    assert "unknown_account/status: 200 → 404" in examined(Service()).changes(file)
