"""`adclient list`: what it requests, and what it prints where."""

import csv
import io
import json
import os
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from unicodedata import category, east_asian_width

import pyarrow.parquet
import pytest
from cases import each_case
from raw_server import RawServer, reply

from adclient._command import listing, main
from adclient._core.operations import OPERATIONS
from adclient.testing import FakeAdService, Fault

ADS = ["list", "gamma.ads", "--account", "account_c3d8"]
CAMPAIGNS = ["list", "beta.campaigns", "--account", "account_b204"]
ACCOUNTS = {"alpha": "a91f", "beta": "b204", "gamma": "c3d8", "delta": "d118"}
SECRET = "hunter2-s3cret"
HOSTILE = "=1+1|'\u202e\x1b[31m\ud800" + "x" * 80


@pytest.fixture
def fake() -> Iterator[FakeAdService]:
    with FakeAdService(page_size=20).as_environment() as service:
        yield service


def lines(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def everything(fake) -> list[dict]:
    """What a listing of `ADS` prints."""
    ads = fake.client().gamma.list_ads(account_id="account_c3d8").collect()
    return [ad.to_dict() for ad in ads]


@each_case("read", [operation for operation in OPERATIONS if not operation.is_write])
def test_each_read_has_two_names(read, fake, capsys) -> None:
    account = ["--account", f"account_{ACCOUNTS[read.namespace]}"]
    short = f"{read.namespace}.{read.name.split('_', 1)[1]}"
    assert main(["list", read.full_name, *account]) == 0
    by_method = capsys.readouterr().out
    assert main(["list", short, *account]) == 0
    assert capsys.readouterr().out == by_method
    assert lines(by_method)
    assert fake.requests[-1].path == read.path


def test_filters_are_sent(fake, capsys) -> None:
    assert main([*CAMPAIGNS, "--campaign", "campaign_57a7", "--date-range", "LAST_7_DAYS"]) == 0
    assert [item["id"] for item in lines(capsys.readouterr().out)] == ["campaign_57a7"]
    assert fake.requests[-1].query["date_range"] == "LAST_7_DAYS"
    search = ["list", "gamma.targeting", "--account", "account_c3d8"]
    assert main([*search, "--targeting", '{"query": "hik"}']) == 0
    assert fake.requests[-1].query["targeting"] == '{"query":"hik"}'
    videos = ["list", "beta.creative_fatigue", "--account", "account_b204"]
    assert main([*videos, "--creative", "creative_0"]) == 1
    assert fake.requests[-1].query["creative_id"] == "creative_0"


@pytest.mark.parametrize("limit", [None, 1, 20, 21, 126])
def test_listing_continues_where_a_limit_ended(limit, everything, capsys) -> None:
    assert main([*ADS, *([] if limit is None else ["--limit", str(limit)])]) == 0
    printed, told = capsys.readouterr()
    assert lines(printed) == everything[:limit]
    if limit in (None, len(everything)):
        assert told == ""
        return
    assert told.startswith("adclient: more items follow")
    assert ("repeats" in told) is (limit == 21)
    if limit > 20:  # else the page to continue with is the first
        words = shlex.split(told)
        cursor = words[words.index("--cursor") + 1].rstrip(",")
        repeated = int(words[-2]) if "repeats" in words else 0
        assert main([*ADS, "--cursor", cursor]) == 0
        assert lines(capsys.readouterr().out) == everything[limit - repeated :]


def test_error_on_a_later_page_keeps_what_was_read(fake, everything, tmp_path, capsys) -> None:
    fake.faults.add(Fault.status(403), call=3)
    assert main(ADS) == 1
    printed, told = capsys.readouterr()
    assert lines(printed) == everything[:40]
    note, error = told.splitlines()
    assert error.startswith("adclient: gamma.list_ads: 403")
    cursor = shlex.split(note)[-1]
    assert main([*ADS, "--cursor", cursor]) == 0
    assert lines(capsys.readouterr().out) == everything[40:]
    # There is no half of a table.
    path = tmp_path / "ads.parquet"
    for shape in (["--csv"], ["--table"], ["--parquet", str(path)]):
        fake.faults.add(Fault.status(403), call=3)
        assert main([*ADS, *shape]) == 1
        printed, told = capsys.readouterr()
        assert (printed, len(told.splitlines())) == ("", 1)
    assert not path.exists()


@each_case("cursor", ["abc", "1", "\u202e", "it's", "", 5, True, {"after": "x"}])
def test_any_cursor_can_be_passed_as_it_is_told(cursor) -> None:
    told = listing._how_to_continue(cursor)
    assert told.isprintable()
    again = listing._cursor(shlex.split(told)[-1])
    assert (type(again), again) == (type(cursor), cursor)


def test_interrupt_within_a_page_tells_where_to_repeat_it(everything, capsys, monkeypatch) -> None:
    pages = []

    def interrupt(rows, shape) -> None:
        pages.append(rows)
        is_second = len(pages) == 2
        print(*map(listing.output.json_line, rows[: 7 if is_second else None]), sep="\n")
        if is_second:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(listing.output, "write", interrupt)
        assert main(ADS) == 130
    printed, told = capsys.readouterr()
    assert lines(printed) == everything[:27]
    assert told.startswith("adclient: the listing is not complete; continue with --cursor ")
    assert main([*ADS, "--cursor", shlex.split(told)[-1]]) == 0
    assert lines(capsys.readouterr().out) == everything[20:]


@each_case(
    ("arguments", "complaint"),
    [
        (["list"], "the following arguments are required: READ"),
        (ADS[:2], "no account: pass --account ID or --accounts-from FILE"),
        ([*ADS, "-a", "b", "--limit", "1"], "--limit and --cursor are for one --account"),
        ([*ADS, "-a", "b", "--at-once", "0"], "at_once must be a whole number, 1 or more"),
        ([*ADS, "--class", "attrs:frozen"], "'attrs:frozen' is not an attrs class"),
        ([*ADS, "--class", "no_such:Ad"], "'no_such:Ad': ModuleNotFoundError: No module"),
        ([*ADS, "--class", "adclient:Ad"], "--class is for --parquet"),
        (ADS, "the address of the service is missing: --service, --url, ADCLIENT_"),
        (["list", "beta.pause_campaign", "-a", "a"], "invalid choice: 'beta.pause_campaign'"),
        ([*ADS, "--campaign", "c"], "adclient: gamma.ads takes no --campaign\n"),
        ([*ADS, "--limit", "0"], "limit must be a whole number, 1 or more"),
        ([*ADS, "--targeting", "[]"], "not a JSON object"),
        ([*ADS, "--targeting", "\udcff"], "not a JSON object"),
        ([*ADS, "--timeout", "0"], "adclient: timeout must be a finite number"),
        ([*ADS, "--token", SECRET, "--token-env", "X"], "not allowed with argument"),
        ([*ADS, "--token", f"{SECRET} x"], "adclient: token contains whitespace"),
        ([*ADS, "--token-env", "MISSING"], "adclient: --token-env: MISSING is not set"),
        ([*ADS, "--token", SECRET, "--token-header", "host"], "adclient: auth: host is set by"),
        ([*ADS, "--token-header", "x-key"], "adclient: --token-header: pass the token, or set"),
        ([*ADS, "--json", "--csv"], "not allowed with argument"),
    ],
)
def test_wrong_command_line_is_refused(arguments, complaint, capsys, monkeypatch) -> None:
    monkeypatch.setenv("ADCLIENT_BASE_URL", "" if "the address" in complaint else "http://x.test")
    try:
        code = main(arguments)
    except SystemExit as refused:
        code = refused.code
    assert code == 2
    printed, told = capsys.readouterr()
    assert complaint in told
    assert SECRET not in told
    assert printed == ""


@pytest.mark.parametrize("content", ["def x(:", "raise RuntimeError('x')", "raise SystemExit"])
def test_module_of_a_class_that_cannot_be_loaded_is_named(
    content, tmp_path, capsys, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken_models.py").write_text(content)
    with pytest.raises(SystemExit) as refused:
        main([*ADS, "--class", "broken_models:Ad"])
    assert refused.value.code == 2
    assert "'broken_models:Ad': " in capsys.readouterr().err


@each_case(
    ("arguments", "typed"),
    [
        (["--token", SECRET], ""),
        (["--token-env", "MY_TOKEN"], ""),
        (["--token-file", "-"], f"{SECRET}\n"),
        (["--token-file", "{file}"], ""),
    ],
)
def test_token_comes_from_where_it_is_safe(arguments, typed, tmp_path, monkeypatch, capsys) -> None:
    (tmp_path / "token").write_text(f"{SECRET}\r\n", "utf-8-sig")  # as on Windows
    monkeypatch.setenv("MY_TOKEN", SECRET)
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    fake = FakeAdService(token=SECRET)
    arguments = [word.format(file=tmp_path / "token") for word in arguments]
    with fake.as_environment():
        monkeypatch.delenv("ADCLIENT_TOKEN")
        assert main([*CAMPAIGNS, "--limit", "1", *arguments]) == 0
        assert main([*CAMPAIGNS, "--limit", "1"]) == 1
    assert [request.status for request in fake.requests] == [200, 401]
    assert SECRET not in "".join(capsys.readouterr())


def test_token_file_that_cannot_be_read_is_named(fake, tmp_path, capsys) -> None:
    path = tmp_path / "token"
    assert main([*ADS, "--token-file", str(path)]) == 1
    path.write_text(SECRET, "utf-16")
    assert main([*ADS, "--token-file", str(path)]) == 2
    missing, unreadable = capsys.readouterr().err.splitlines()
    assert str(path) in missing
    assert unreadable == f"adclient: --token-file: {path} is not UTF-8"


# What is printed.


@contextmanager
def listed(*items: dict) -> Iterator[list[str]]:
    """The command that lists these items, from a service that has only one page."""
    listing = {"data": items, "page": {"next": None}}

    def serve(connection) -> None:
        while connection.read():
            connection.send(reply(200, json.dumps(listing).encode()))

    with RawServer(serve) as server:
        yield [*ADS, "--url", server.url]


def item(name: str = "n", **fields) -> dict:
    return {"id": "i", "name": name, "status": "s", **fields}


def test_csv_is_safe_in_a_spreadsheet(capsys) -> None:
    formulas = ["=1+1", " +1", "@x", "-2", "\tx", "\rx", "＝1"]
    inner = {"a;=1": "a;'=1", "a\n +1\t@x": "a\n' +1\t'@x", '"x"; =1': '"x";\' =1'}
    others = ['a,"b"\nc', "a;b", "1-2", ""]
    fields = {"=column": -5, "list": [";=1"], "exact": -0.10, "no": None, "yes": True}
    items = [item(name) for name in (*formulas, *inner, *others)] + [item(**fields)]
    with listed(*items) as command:
        assert main([*command, "--csv"]) == 0
    printed = capsys.readouterr().out
    head, *rows = csv.reader(io.StringIO(printed, newline=""))
    assert head == ["id", "name", "status", "'=column", "list", "exact", "no", "yes"]
    safe = [*(f"'{text}" for text in formulas), *inner.values(), *others, "n"]
    assert [row[1] for row in rows] == safe
    assert rows[-1][3:] == ["-5", """[";'=1"]""", "-0.1", "", "true"]
    assert rows[0][3:] == [""] * 5


def test_csv_on_a_terminal_has_no_control_characters(monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    with listed(item("a\x1b[31m\u202e\nb")) as command:
        assert main([*command, "--csv"]) == 0
    assert capsys.readouterr().out == 'id,name,status\ni,"a\\x1b[31m\\u202e\\nb",s\n'


def test_json_is_printable_and_exact(capsys) -> None:
    text = '{"data": [{"id": "i", "name": "\\ud800\\u202e\\u001b[31m\\n\\udb40\\udc41", '
    text += '"status": "s", "exact": 0.12345678901234567890}], "page": {"next": null}}'
    with RawServer(lambda c: c.read() and c.send(reply(200, text.encode()))) as server:
        assert main([*ADS, "--url", server.url]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert line.isprintable()
    assert json.loads(line)["name"] == "\ud800\u202e\x1b[31m\n\U000e0041"
    assert '"exact":0.12345678901234567890}' in line


def test_parquet_keeps_types(fake, tmp_path, capsys) -> None:
    path = tmp_path / "ads.parquet"
    assert main([*ADS, "--parquet", str(path)]) == 0
    table = pyarrow.parquet.read_table(path)
    assert (table.num_rows, str(table.schema.field("spend").type)) == (126, "double")
    assert capsys.readouterr() == ("", "")
    assert main([*ADS, "--parquet", str(tmp_path / "no" / "ads.parquet")]) == 1
    assert capsys.readouterr().err.startswith("adclient: ")


def test_parquet_without_its_extra_reads_nothing(fake, monkeypatch, capsys) -> None:
    for name in ("pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, name, None)
    assert main([*ADS, "--parquet", "x"]) == 1
    assert capsys.readouterr().err.startswith(
        "adclient: this needs pyarrow: pip install 'adclient[arrow]'"
    )
    assert not fake.requests


def test_table_fits_the_width_and_hides_nothing_silently(capsys, monkeypatch) -> None:
    items = [item(HOSTILE, spend=1.5, note="n" * 30), item("自転車 é 🚲" * 9, spend=20, more=None)]
    with listed(*items) as command:
        for columns in (200, 40, 5):
            monkeypatch.setenv("COLUMNS", str(columns))
            assert main([*command, "--table"]) == 0
            head, *rows, note = capsys.readouterr().out.splitlines()
            if columns == 200:
                rows.append(note)
                assert head.split() == ["id", "name", "status", "spend", "note", "more"]
                assert rows[1].endswith("null")
            else:
                assert re.fullmatch(r"\(\d of 6 columns do not fit: .*\)", note)
            assert len(rows) == 2
            assert all(row.isprintable() for row in rows)
            for line in (head, *rows):
                assert width_of(line) <= max(columns, 7)
    with listed() as command:
        assert main([*command, "--table"]) == 0
    assert capsys.readouterr().out == "(nothing)\n"


def width_of(line: str) -> int:
    return sum(2 if east_asian_width(c) in "FW" else category(c) != "Mn" for c in line)


# On a terminal, and in a pipe.


def test_terminal_gets_a_table_of_its_width_and_a_bar(fake, capsys, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    for stream in (sys.stdout, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    assert main(ADS) == 0
    printed, told = capsys.readouterr()
    assert "gamma.list_ads: 126 items" in told
    *rows, note = printed.splitlines()
    assert len(rows) == 127
    assert max(map(width_of, rows)) <= 60
    assert note == "(10 of 13 columns do not fit: --json and --csv have them)"
    # There is no bar for one page, nor within lines that a terminal shows.
    for arguments in ([*CAMPAIGNS, "--campaign", "campaign_57a7"], [*ADS, "--json"]):
        assert main(arguments) == 0
        assert capsys.readouterr().err == ""


def test_bar_is_drawn_beside_a_pipe_and_is_no_reason_to_install_something(
    fake, capsys, monkeypatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert main(ADS) == 0
    printed, told = capsys.readouterr()
    assert "gamma.list_ads: 126 items" in told
    assert len(lines(printed)) == 126
    for name in ("tqdm", "tqdm.auto"):
        monkeypatch.setitem(sys.modules, name, None)
    assert main(ADS) == 0
    assert capsys.readouterr().err == ""


@each_case("arguments", [ADS, ["--help"], ["list", "--help"]])
def test_output_that_nobody_reads_is_141(arguments, fake, capsys) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w") as closed, redirect_stdout(closed):
        assert main(arguments) == 141
        print("again", file=closed, flush=True)
    assert capsys.readouterr().err == ""
