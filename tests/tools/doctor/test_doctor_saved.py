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


@pytest.fixture
def file(tmp_path):
    return tmp_path / "service.toml"


def saved(report, file) -> str:
    report.save(file, replace=True)
    return file.read_text()


@each_case(
    ("header", "value", "scheme"),
    [("authorization", "Token sesame", "Token"), ("authorization", "my secret words", "")],
)
def test_part_of_a_secret_is_not_taken_for_its_scheme(header, value, scheme, file) -> None:
    report = examined(Service(header=header, secret=value), auth=lambda _: {header: value})
    assert value not in saved(report, file)
    auth = AuthShape(scheme=scheme, header=header, env="ADCLIENT_TOKEN")
    assert read_service(file).auth == auth


def test_basic_password_that_is_repeated_is_hidden(file, monkeypatch, capsys) -> None:
    monkeypatch.setenv("ADCLIENT_TOKEN", "me:s3cret-word")
    coded = b64encode(b"me:s3cret-word").decode()
    service = Service(header="authorization", secret=f"Basic {coded}")
    service.change = lambda request, response: (
        response
        if response.status_code == 200
        else service.refusal(response.status_code, "no me:s3cret-word, s3cret-word")
    )
    with served(service) as url:
        arguments = ["doctor", url, "-a", ACCOUNT, "--auth-scheme", "Basic"]
        saving = ["--save", str(file), "--keep-texts"]
        for shape in (saving, ["--json"], ["--markdown"]):
            assert main([*arguments, *shape]) == 0
    told = capsys.readouterr()
    assert "no ***, ***" in told.out
    assert not [text for text in (*told, file.read_text()) if "s3cret" in text or coded in text]


# Errors.


def refusing(body: object, content_type: str = "application/json") -> Service:
    """A service that refuses an unknown account with this body."""
    content = body if isinstance(body, str) else json.dumps(body)
    refusal = {"text": content, "headers": {"content-type": content_type}}

    def change(request, response):
        status = response.status_code
        return response if status == 200 else httpx.Response(status, **refusal)

    return Service(change=change)


def test_data_of_an_error_is_not_saved(file) -> None:
    of = [{"id": "a"}, {"id": "b"}]
    before = {"code": 42, "status": 404, "message": "no", "account": 12345678, "at": 1.5}
    before |= {"ok": False, "account_77": 1, "of": of}
    told = saved(examined(refusing(before, "application/json; boundary=b7")), file)
    body = '{"code":"{code}","status":404,"message":"{message}","account":0,"at":0,"ok":false,'
    assert f'body = \'{body}"of":[{{"id":"…"}}]}}\'' in told
    assert "boundary" not in told
    after = {**before, "account": 1, "message": "not there", "account_78": 1, "of": [{"id": "c"}]}
    del after["account_77"]
    assert examined(refusing(after)).changes(file) == ()


def test_other_structure_of_an_error_is_a_change_and_other_texts_are_none(file) -> None:
    saved(examined(refusing({"message": "no", "of": "x"})), file)
    changes = examined(refusing({"message": "no", "of": 1, "more": ""})).changes(file)
    assert "errors/body.of: string -> integer" in changes
    assert "errors/body.more: nothing -> string" in changes
    changes = examined(refusing("no", "text/plain")).changes(file)
    assert "errors/body: object -> string" in changes
    assert "errors/content type: application/json -> text/plain" in changes
    service = refusing({"message": "no", "hint": "look"})
    assert "look" in saved(examined(service, keep_texts=True), file)
    assert examined(service).changes(file) == ()


def unless_delta(fault: httpx.Response):
    """A change by which one platform, and unknown accounts, fail."""

    def change(request, response):
        given = str(request.url)
        return fault if "delta" in given or "no-such-account" in given else response

    return change


@each_case(
    "service",
    [
        Service(change=unless_delta(httpx.Response(503))),
        # A quota is used up.
        Service(faults=lambda number: httpx.Response(403) if number > 6 else None),
    ],
)
def test_failure_is_no_change(service, file) -> None:
    saved(examined(Service()), file)
    report = examined(service)
    assert report.changes(file) == ()
    assert report.problems
    assert examined(Service(), most_requests=6).changes(file) == ()


# Items.


def test_long_numbers_do_not_make_a_long_file(file) -> None:
    def change(request, response):
        content = response.content.replace(b'"name"', b'"a": 1E+99999, "b": 1E-99999, "name"')
        return httpx.Response(response.status_code, content=content)

    report = examined(Service(change=change))
    told = saved(report, file)
    assert len(told) < 10_000
    assert 'a = { types = ["number"], decimals = 0 }' in told
    assert 'b = { types = ["number"], decimals = 40 }' in told


def with_items(*fields: dict) -> Service:
    """A service in whose items these are found, one after the other."""

    def turn(request, items, more):
        return [{**each, **fields[int(each["id"][-1]) % len(fields)]} for each in items], more

    others = {"beta.list_campaigns": Listing()}
    return Service(listing=Listing(count=0), others=others, turn=turn)


@each_case(
    ("before", "after", "expected"),
    [
        # The same structure with other data.
        ([{"a": "x"}, {"a": None}], [{"a": None}], ()),
        ([{"a": "x"}, {}], [{}], ()),
        ([{"a": 1.5}], [{"a": 1}], ()),
        # What was not allowed before.
        ([{"a": "x"}], [{"a": "x"}, {"a": None}], ("a: string -> string or null",)),
        ([{"a": "x"}], [{"a": "x"}, {}], ("a: string -> string or missing",)),
        ([{"a": "x"}], [{"a": 1}], ("a: string -> integer",)),
        ([{"a": "x"}], [{}], ("a: string -> nothing",)),
        ([{"a": {"b": 1, "c": 1}}], [{"a": {"b": 1}}], ("a.c: integer -> nothing",)),
    ],
)
def test_only_what_the_file_does_not_allow_is_a_change(before, after, expected, file) -> None:
    saved(examined(with_items(*before)), file)
    name = "beta.list_campaigns item/"
    changes = [each for each in examined(with_items(*after)).changes(file) if name in each]
    assert changes == [f"{name}{each}" for each in expected]


def test_names_of_the_service_do_not_reach_the_terminal_or_markdown(file) -> None:
    name = "x\x1b[31m\n|`<img>"
    text = "![x](http://evil.example) @team ``code`` | <b>"

    def change(request, response):
        if response.status_code != 200:
            return httpx.Response(response.status_code, json={"message": text})
        link = f"<{URL}/x?{quote(name)}=1>; rel=next"
        return httpx.Response(200, content=response.content, headers={"link": link})

    lines: list[str] = []
    saved(examined(Service()), file)
    report = examined(Service(listing=Listing(name=name), change=change), progress=lines.append)
    told = [str(report), report.markdown(), *report.changes(file)]
    assert "x [31m |`<img>" in str(report)
    assert not [each for each in told if not each.replace("\n", "").isprintable()]
    assert lines
    assert all(map(str.isprintable, lines))
    start = text.partition("|")[0]
    rows = [line for line in report.markdown().splitlines() if start in line]
    assert all("`" in line.partition(start)[0] for line in rows)
