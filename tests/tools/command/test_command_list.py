"""`adclient list`: what it requests, and what it prints where."""

import csv
import io
import json
import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from unicodedata import category, east_asian_width

import pytest
from cases import each_case
from clients import SECRET
from raw_server import RawServer, reply
from run_command import Ran, Stream, run_command

from adclient import AdClient, AsyncAdClient
from adclient._command import main
from adclient.testing import FakeAdService, Fault

ADS = ["list", "gamma.ads", "--account", "account_c3d8"]
CAMPAIGNS = ["list", "beta.campaigns", "--account", "account_b204"]
HOSTILE = "=1+1|'\u202e\x1b[31m\ud800" + "x" * 80


@pytest.fixture
def everything(fake) -> list[dict]:
    """What a listing of `ADS` prints."""
    ads = fake.client().gamma.list_ads(account_id="account_c3d8").collect()
    return [ad.to_dict() for ad in ads]


def test_filters_are_sent(fake) -> None:
    ran = run_command(*CAMPAIGNS, "--campaign", "campaign_57a7", "--date-range", "LAST_7_DAYS")
    assert [item["id"] for item in ran.rows] == ["campaign_57a7"]
    assert fake.requests[-1].query["date_range"] == "LAST_7_DAYS"
    search = ["list", "gamma.targeting", "--account", "account_c3d8"]
    assert run_command(*search, "--targeting", '{"query": "hik"}').code == 0
    assert fake.requests[-1].query["targeting"] == '{"query":"hik"}'


@each_case("limit", None, 20, 21, 126)
def test_listing_continues_where_a_limit_ended(limit, everything) -> None:
    ran = run_command(*ADS, *([] if limit is None else ["--limit", str(limit)]))
    assert (ran.code, ran.rows) == (0, everything[:limit])
    if limit in (None, len(everything)):
        assert ran.err == ""
        return
    assert ran.err.startswith("adclient: more items follow")
    assert ("repeats" in ran.err) is (limit == 21)
    if limit > 20:  # else the page to continue with is the first
        words = shlex.split(ran.err)
        cursor = words[words.index("--cursor") + 1].rstrip(",")
        repeated = int(words[-2]) if "repeats" in words else 0
        assert run_command(*ADS, "--cursor", cursor).rows == everything[limit - repeated :]


def test_error_on_a_later_page_keeps_what_was_read(fake, everything) -> None:
    fake.faults.add(Fault.status(503), call=3)
    ran = run_command(*ADS, "--retries", "0")
    assert (ran.code, ran.rows) == (1, everything[:40])
    note, error = ran.err.splitlines()
    assert error.startswith("adclient: gamma.list_ads: 503")
    assert run_command(*ADS, "--cursor", shlex.split(note)[-1]).rows == everything[40:]
    fake.faults.add(Fault.status(403), call=3)
    ran = run_command(*ADS, "--csv")  # there is no half of a table
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (1, "", 1)


# Secrets.


@each_case(
    "arguments",
    ["--token", SECRET],
    ["--token", SECRET, "--auth-scheme", "Bearer"],
    ["--token-env", "MY_TOKEN"],
    ["--token-file", "-"],
    ["--token-file", "token"],
)
def test_token_comes_from_where_it_is_safe(arguments, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "token").write_text(f"{SECRET}\r\n", "utf-8-sig")  # as on Windows
    monkeypatch.setenv("MY_TOKEN", SECRET)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(f"{SECRET}\n".encode())))
    fake = FakeAdService(token=SECRET)
    with fake.as_environment():
        monkeypatch.delenv("ADCLIENT_TOKEN")
        given = run_command(*CAMPAIGNS, "--limit", "1", *arguments)
        missing = run_command(*CAMPAIGNS, "--limit", "1")
    assert (given.code, missing.code) == (0, 1)
    assert [request.status for request in fake.requests] == [200, 401]
    assert SECRET not in f"{given} {missing}"


def test_token_file_that_cannot_be_read_is_named(fake, tmp_path) -> None:
    path = tmp_path / "token"
    ran = run_command(*ADS, "--token-file", str(path))
    assert (ran.code, ran.err.startswith(f"adclient: --token-file: {path}: No such")) == (1, True)
    path.write_text(SECRET, "utf-16")
    unreadable = f"adclient: --token-file: {path} is not UTF-8\n"
    assert run_command(*ADS, "--token-file", str(path)) == Ran(2, "", unreadable)


def test_secret_of_a_service_file_is_sent_to_no_other_address(tmp_path, monkeypatch) -> None:
    def write(name: str, url: str) -> str:
        key = f'[auth]\nscheme = ""\nheader = "x-key"\nenv = "{name}_KEY"\n'
        path = tmp_path / f"{name}.toml"
        path.write_text(f'format = 2\nurl = "{url}"\n{key}')
        monkeypatch.setenv(f"{name}_KEY", f"{SECRET}-{name}")
        return str(path)

    with listing_of() as server:
        monkeypatch.setenv("ADCLIENT_SERVICE", write("ITS", server.url))
        other = ["--service", write("OTHER", server.url)]
        for options in ([], ["--url", f"{server.url}/x"], other):
            assert run_command(*ADS, *options).code == 0
    by_environment, by_url, by_option = (request.decode().lower() for request in server.requests)
    assert f"x-key: {SECRET}-its\r\n" in by_environment
    assert by_url.startswith("get /x/")
    assert SECRET not in by_url
    assert f"x-key: {SECRET}-other\r\n" in by_option


NESTED = {"after": 7, "api_key": SECRET, "all": [f"/x?sig={SECRET}", {"jwt": SECRET}]}


@each_case(
    ("cursor", "shown", "hidden"),
    (f"?after=7&access_token={SECRET}&n=1", "'?after=7&n=1'", ["access_token"]),
    (NESTED, """'{"after":7,"all":["/x?",{}]}'""", []),
    (f"?next_token=7&API%2DKey={SECRET}", "'?next_token=7'", ["API"]),
)
def test_secret_in_a_continuation_is_not_shown(cursor, shown, hidden) -> None:
    with listing_of(item(), item(), next=cursor) as server:
        ran = run_command(*ADS, "--url", server.url, "--limit", "1")
        again = run_command(*ADS, "--url", server.url, "--limit", "2")
        page = AdClient(server.url).gamma.list_ads(account_id="a")
    assert ran.err == "adclient: more items follow\n"
    lacks = "which lacks a credential that the service put there"
    assert again.err == f"adclient: more items follow; continue with --cursor {shown}, {lacks}\n"
    listing = AsyncAdClient(server.url).gamma.list_ads(account_id="a", cursor=cursor)
    for shown in (page, listing, listing.pages()):
        assert not [word for word in (SECRET, *hidden) if word in repr(shown)]


def test_accounts_are_those_of_the_service_file(tmp_path) -> None:
    path = tmp_path / "service.toml"
    with listing_of(item()) as server:
        path.write_text(f'format = 2\nurl = "{server.url}"\naccounts = ["a", "b"]\n')
        given = ["list", "gamma.ads", "--service", str(path)]
        assert {row["account_id"] for row in run_command(*given).rows} == {"a", "b"}
        assert run_command(*given, "-a", "c").rows == [item()]
        (tmp_path / "none").write_text("# none")
        ran = run_command(*given, "--accounts-from", str(tmp_path / "none"))
        assert (ran.code, ran.out) == (2, "")


# What is printed.


@contextmanager
def listing_of(*items: dict, next: object = None) -> Iterator[RawServer]:
    """A service that has only one page, of these items."""
    body = json.dumps({"data": items, "page": {"next": next}}).encode()

    def serve(connection) -> None:
        while connection.read():
            connection.send(reply(200, body))

    with RawServer(serve) as server:
        yield server


def item(name: str = "n", **fields) -> dict:
    return {"id": "i", "name": name, "status": "s", **fields}


def test_csv_is_safe_in_a_spreadsheet() -> None:
    formulas = ["=1+1", " +1", "@x", "-2", "\tx", "\rx", "＝1"]
    inner = {"a;=1": "a;'=1", "a\n +1\t@x": "a\n' +1\t'@x", '"x"; =1': '"x";\' =1'}
    others = ['a,"b"\nc', "a;b", "1-2", ""]
    fields = {"=column": -5, "list": [";=1"], "exact": -0.10, "no": None, "yes": True}
    with listing_of(*map(item, (*formulas, *inner, *others)), item(**fields)) as server:
        ran = run_command(*ADS, "--url", server.url, "--csv")
    head, *rows = csv.reader(io.StringIO(ran.out, newline=""))
    assert head == ["id", "name", "status", "'=column", "list", "exact", "no", "yes"]
    safe = [*(f"'{text}" for text in formulas), *inner.values(), *others, "n"]
    assert [row[1] for row in rows] == safe
    assert rows[-1][3:] == ["-5", """[";'=1"]""", "-0.1", "", "true"]
    assert rows[0][3:] == [""] * 5


def test_csv_on_a_terminal_has_no_control_characters() -> None:
    with listing_of(item("a\x1b[31m\u202e\nb")) as server:
        ran = run_command(*ADS, "--url", server.url, "--csv", terminals=["out"])
    assert ran.out == 'id,name,status\ni,"a\\x1b[31m\\u202e\\nb",s\n'
    with listing_of({"id": "i"}) as server:  # of an analysis, which may lack the others
        ran = run_command("list", "alpha.objectives", "-a", "a", "--url", server.url, "--csv")
    assert ran.out == "id,name,status\ni,,\n"


def test_json_is_printable_and_exact() -> None:
    text = '{"data": [{"id": "i", "name": "\\ud800\\u202e\\u001b[31m\\n\\udb40\\udc41", '
    text += '"status": "s", "exact": 0.12345678901234567890}], "page": {"next": null}}'
    with RawServer(lambda c: c.read() and c.send(reply(200, text.encode()))) as server:
        (line,) = run_command(*ADS, "--url", server.url).out.splitlines()
    assert line.isprintable()
    assert json.loads(line)["name"] == "\ud800\u202e\x1b[31m\n\U000e0041"
    assert '"exact":0.12345678901234567890}' in line


def test_table_fits_the_width_and_hides_nothing_silently(monkeypatch) -> None:
    items = [item(HOSTILE, spend=1.5, note="n" * 30), item("自転車 é 🚲" * 9, spend=20, more=None)]
    for columns in (40, 5):
        monkeypatch.setenv("COLUMNS", str(columns))
        with listing_of(*items) as server:
            ran = run_command(*ADS, "--url", server.url, "--table")
        head, *rows = ran.out.splitlines()[:3]
        note = " ".join(ran.out.splitlines()[3:])
        hidden = [name for name in ("spend", "note", "more") if name not in head]
        assert note == f"(not shown: {', '.join(hidden)}; --columns chooses)"
        assert all(row.isprintable() for row in rows)
        assert max(map(width_of, (head, *rows))) <= max(columns, 7)
    monkeypatch.setenv("COLUMNS", "200")
    with listing_of(*items) as server:
        assert "not shown" not in run_command(*ADS, "--url", server.url, "--table").out
    with listing_of() as server:
        assert run_command(*ADS, "--url", server.url, "--table").out == "(nothing)\n"


def width_of(line: str) -> int:
    return sum(2 if east_asian_width(c) in "FW" else category(c) != "Mn" for c in line)


# On a terminal.


def test_terminal_gets_a_table_of_its_width_and_a_bar(fake, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("NO_COLOR", "1")
    ran = run_command(*ADS, terminals=["out", "err"])
    assert "gamma.list_ads: 126 items, 7 pages" in ran.err
    head, *rows = ran.out.splitlines()
    assert head.split() == ["id", "name", "status", "spend", "clicks"]
    assert rows[0].split()[-2:] == ["153.34", "173"]
    assert max(map(width_of, (head, *rows))) <= 60
    assert " ".join(rows[126:]).startswith("(not shown: impressions, ctr, ")


def test_bar_is_drawn_only_where_it_meets_no_output(fake) -> None:
    assert run_command(*ADS, "--json", terminals=["out", "err"]).err == ""
    assert run_command(*ADS, "--limit", "20", terminals=["err"]).err.count("gamma.list_ads") == 0
    reader, writer = os.pipe()
    errors = Stream()
    errors.is_terminal = True
    with open(reader) as read, open(writer, "w") as pipe:
        with redirect_stdout(pipe), redirect_stderr(errors):
            assert main([*CAMPAIGNS, "--limit", "30", "--columns", "id"]) == 0
        pipe.close()
        assert len(read.read().splitlines()) == 30
    assert "beta.list_campaigns" not in errors.getvalue()


# Columns.


def column(ran: Ran, name: str = "id") -> list[object]:
    assert (ran.code, ran.err) == (0, "")
    return [row[name] for row in ran.rows]


def test_columns_are_chosen_in_every_shape(fake, everything, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    chosen = ["--columns", "spend, name,clicks,ctr,format,conversions,serving,frequency"]
    head, first, *_ = run_command(*ADS, *chosen, "--table").out.splitlines()
    assert head.split() == chosen[1].replace(",", " ").split()
    assert first.split()[0] == "153.34"
    assert max(map(width_of, (head, first))) <= 80
    ran = run_command(*ADS, "--columns", "clicks,id")
    assert [[*row.items()] for row in ran.rows] == [
        [("clicks", ad["clicks"]), ("id", ad["id"])] for ad in everything
    ]
    assert run_command(*ADS, "--columns", "clicks,id", "--csv").out.startswith("clicks,id\n173,")
    for words in (["--columns", "id,spnd"], ["--sort", "-spnd"]):
        ran = run_command(*ADS, *words, "--table")
        assert (ran.code, ran.out) == (2, "")
        assert ran.err == "adclient: there is no column spnd: did you mean spend?\n"
    ran = run_command(*ADS, "--columns", "zzzz", "--table")
    assert ran.err.startswith("adclient: there is no column zzzz: there are id, name, status, ")


def test_items_are_sorted_before_they_are_limited(everything) -> None:
    by_spend = sorted(everything, key=lambda ad: (-ad["spend"], ad["name"]))
    ids = column(run_command(*ADS, "--sort", "-spend,name", "--limit", "3"))
    assert ids == [ad["id"] for ad in by_spend[:3]]
    both = [*CAMPAIGNS, "-a", "account_b7e0", "--sort", "-spend", "--limit", "5"]
    spent = column(run_command(*both), "spend")
    assert spent == sorted(spent, reverse=True)
    assert len(spent) == 5


def test_order_is_that_of_numbers_then_texts_then_nothing() -> None:
    values = ["b", "10", 9.5, None, "A", True, "NaN", [1]]
    with listing_of(*(item(str(value), x=value) for value in values), item("none")) as server:
        for sign, order in (
            ("", ["9.5", "10", "[1]", "A", "b", "NaN", "True", "None", "none"]),
            ("-", ["True", "NaN", "b", "A", "[1]", "10", "9.5", "None", "none"]),
        ):
            ran = run_command(*ADS, "--url", server.url, "--sort", f"{sign}x")
            assert column(ran, "name") == order
        assert run_command(*ADS, "--url", server.url, "--sort=x", "--limit=1").rows[0]["x"] == 9.5
    with listing_of() as server:
        assert run_command(*ADS, "--url", server.url, "--columns", "any").out == ""


def test_fields_of_objects_become_columns() -> None:
    nested = item(budget={"amount": 5, "of": {"day": True}}, empty={}, list=[{"a": 1}])
    with listing_of(nested) as server:
        flat = [*ADS, "--url", server.url, "--flat"]
        (row,) = run_command(*flat).rows
        names = "budget.amount,budget.of.day"
        chosen = run_command(*flat, "--columns", names, "--sort", "budget.amount", "--csv").out
    others = [("empty", {}), ("list", [{"a": 1}])]
    assert [*row.items()][3:] == [("budget.amount", 5), ("budget.of.day", True), *others]
    assert chosen == f"{names}\n5,true\n"
