"""What the doctor saves in a service file, and what it compares with one."""

import json
import re
from base64 import b64encode
from urllib.parse import quote

import httpx
import pytest
from cases import each_case
from doctor_services import ACCOUNT, URL, Listing, Service, examined, served

from adclient._command import main
from adclient._service.file import read_service
from adclient._service.model import AuthShape, Shape


@pytest.fixture
def file(tmp_path):
    return tmp_path / "service.toml"


def saved(report, file) -> str:
    report.save(file, replace=True)
    return file.read_text()


@each_case(
    ("header", "value", "scheme"),
    ("authorization", "Token sesame", "Token"),
    ("authorization", "my secret words", ""),
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
        saving = ["--save", str(file)]
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
    assert "errors/body.more: missing -> string" in changes
    changes = examined(refusing("no", "text/plain")).changes(file)
    assert "errors/body: object -> string" in changes
    assert "errors/content type: application/json -> text/plain" in changes


def unless_delta(fault: httpx.Response):
    """A change by which one platform, and unknown accounts, fail."""

    def change(request, response):
        given = str(request.url)
        return fault if "delta" in given or "no-such-account" in given else response

    return change


@each_case(
    "service",
    Service(change=unless_delta(httpx.Response(503))),
    # A quota is used up.
    Service(faults=lambda number: httpx.Response(403) if number > 6 else None),
)
def test_failure_is_no_change(service, file) -> None:
    saved(examined(Service()), file)
    report = examined(service)
    assert report.changes(file) == ()
    assert report.problems
    assert examined(Service(), most_requests=6).changes(file) == ()


# Items.


def with_items(*fields: dict) -> Service:
    """A service in whose items these are found, one after the other."""

    def turn(request, items, more):
        number = {each["id"]: int(each["id"].rpartition("_")[2]) - 21 for each in items}
        return [{**each, **fields[number[each["id"]] % len(fields)]} for each in items], more

    others = {"beta.list_campaigns": Listing(count=max(10, len(fields)), size=max(4, len(fields)))}
    return Service(listing=Listing(count=0), others=others, turn=turn)


ROWS = [
    {
        "id": f"acct-{n % 4}" if n else 7, "campaign_id": f"acct-{n % 4}", "adId": 1000 + n,
        "key": f"1b4e28ba-2fa1-41d2-883f-0016d3cca4{n:02}", "name": f"Jane {n % 3}",
        "owner": {"name": f"Jane {n % 3}", "email": "jane@corp.com"}, "sku": "X9",
        "kind": "SEARCH" if n % 2 else "DISPLAY_7D", "clicks": n, "impressions": 100 * n,
        "spend": 12.5 * n, "budget": f"{n}.50", "code": f"{n:05}", "never": "0000-00-00",
        "start": f"2026-03-{n % 28 + 1:02}", "end": f"2026-03-{n % 28 + 2:02}T10:00:00.000Z",
        "link": f"https://corp.com/{n}", "people": {"total": 1, f"user{n}": n},
        "mails": {"jane@corp.com": 1}, "by": {"jane": 1} if n % 2 else {"bob": 1},
        "rows": [{"text": f"Jane {n}", "n": [True, None]}] * (n % 3 * 9), "empty": "",
        "large": 10**50, "small": 1e-60, "digits": "9" * 50, "\u2028": 1, "!?": "Jane",
    } | ({"late": None if n == 38 else n - 40} if n > 36 else {})
    for n in range(40)
]  # fmt: skip


def test_rows_are_like_those_of_the_service_and_tell_nothing_of_it(file) -> None:
    text = saved(examined(with_items(*ROWS)), file)
    for private in ("acct", "Jane", "jane", "corp", "X9", "user3", "bob", "\u2028", "9" * 50):
        assert private not in text
    assert len(text) < 60_000
    listing = read_service(file).listings["beta.list_campaigns"]
    assert (listing.count, len(listing.rows)) == (40, 20)
    assert len({row["adId"] for row in listing.rows}) == 20
    # Equal values are equal again, sums and order stay, and only 0 is 0.
    first = next(row for row in listing.rows if row["clicks"] > 5)
    assert first["owner"]["name"] == first["name"] == f"Campaign {first['name'][-1]}"
    assert first["id"] == first["campaign_id"] == f"campaign_{first['id'][-1]}"
    assert first["owner"]["email"] == "Email 1"
    assert {row["kind"] for row in listing.rows} == {"SEARCH", "DISPLAY_7D"}
    assert first["sku"] == "SKU_1"
    for row in listing.rows:
        assert (row["clicks"] == 0) is (row["impressions"] == 0)
        if row["impressions"]:
            assert row["spend"] / row["impressions"] == pytest.approx(0.125, abs=0.01)
        assert row["end"] > row["start"]
        assert row["end"].endswith("T10:00:00.000Z")
        assert (len(row["code"]), len(row["budget"].rpartition(".")[2])) == (5, 2)
        assert (row["people"], row["mails"], row["by"]) == ({}, {}, {})
        assert len(row["rows"]) in (0, 9, 10)
        assert (row["empty"], row["large"], row["small"]) == ("", 0, 0.5)
    assert [first[name] for name in ("never", "!?")] == ["Never 1", "Text 1"]
    assert first["key"].startswith("00000000-0000-4000-8000-")
    assert re.fullmatch("https://link.example/[0-9]+", first["link"])
    # What only some rows show is shown, and the fields have the types of all.
    late = [row["late"] for row in listing.rows if "late" in row]
    assert None in late
    assert all(number < 0 for number in late if number is not None)
    assert listing.item["late"] == Shape(types=("integer", "null"), is_optional=True)
    assert listing.item["id"].types == ("integer", "string")
    assert saved(examined(with_items(*ROWS)), file) == text


def test_fields_of_pages_are_kept_without_texts(file) -> None:
    extra = {"meta": {"spend": 1000.5, "by": "Jane"}}
    saved(examined(Service(listing=Listing(total=1, extra=extra))), file)
    first, last = read_service(file).listings["gamma.list_ads"].pages
    assert 500 <= first["meta"]["spend"] < 900
    assert first["meta"]["by"] == "By 1"
    assert first["page"].keys() == last["page"].keys() != set()


def test_depth_and_number_of_fields_are_limited(file) -> None:
    deep: dict = {"leaf": 1}
    for _ in range(10):
        deep = {"in": [deep]}
    wide = {f"field_{n}": n for n in range(300)}
    saved(examined(with_items({"deep": deep, **wide})), file)
    listing = read_service(file).listings["beta.list_campaigns"]
    assert (len(listing.item), len(listing.rows[0])) == (200, 200)
    assert listing.rows[0]["deep"] == {"in": [{"in": [{"in": []}]}]}


@each_case(
    ("before", "after", "expected"),
    # The same structure with other data.
    ([{"a": "x"}, {"a": None}], [{"a": None}], ()),
    ([{"a": "x"}, {}], [{}], ()),
    ([{"a": 1.5}], [{"a": 1}], ()),
    # What was not allowed before.
    ([{"a": "x"}], [{"a": "x"}, {"a": None}], ("a: string -> string or null",)),
    ([{"a": "x"}], [{"a": "x"}, {}], ("a: string -> string or missing",)),
    ([{"a": "x"}], [{"a": 1}], ("a: string -> integer",)),
    ([{"a": "x"}], [{}], ("a: string -> missing",)),
    ([{"a": {"b": 1, "c": 1}}], [{"a": {"b": 1}}], ("a.c: integer -> missing",)),
)
def test_only_what_the_file_does_not_allow_is_a_change(before, after, expected, file) -> None:
    saved(examined(with_items(*before)), file)
    changes = [each for each in examined(with_items(*after)).changes(file) if "item/" in each]
    assert changes == [f"item/{each} (beta.list_campaigns)" for each in expected]


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
