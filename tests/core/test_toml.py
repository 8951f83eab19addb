"""TOML files: the line of each key, and one sentence for whatever is wrong with a file."""

import time
import tomllib
from decimal import Decimal

import pytest
from cases import each_case
from hypothesis import given
from hypothesis import strategies as st

from adclient import ConfigurationError
from adclient._limits import toml

EVERY_FORM = '''# c " [
title = "x" # '
a.b.c = 1
"q.k" = """
fake = 1
5" [no
""\\""" ""
"""
list = [
  1, # ]
  {z = "]", y.t = 3},
]
[money]
"daily budget" = 1.50
'literal' = \'\'\'
x = 2\'\'\'\'\'
[[change]]
call = "a"
[change.expect]
d = 1
[[change]]
call = "b"
  [[change.sub]]
  v = 1
[[change.sub]]
[change.sub.deep]
w = [[1], {}]'''

LINES = {
    (): 1,
    ("title",): 2,
    ("a",): 3,
    ("a", "b", "c"): 3,
    ("q.k",): 4,
    ("list",): 9,
    ("list", 1, "y", "t"): 9,
    ("money",): 13,
    ("money", "daily budget"): 14,
    ("money", "literal"): 15,
    ("change",): 17,
    ("change", 0): 17,
    ("change", 0, "call"): 18,
    ("change", 0, "expect", "d"): 20,
    ("change", 1): 21,
    ("change", 1, "call"): 22,
    ("change", 1, "sub", 0): 23,
    ("change", 1, "sub", 0, "v"): 24,
    ("change", 1, "sub", 1): 25,
    ("change", 1, "sub", 1, "deep", "w", 0, 0): 27,
    # What is missing is looked for where it should be.
    ("accounts",): 1,
    ("change", 1, "account_id"): 21,
    ("money", "bid", "amount"): 13,
}


@pytest.fixture
def written(tmp_path):
    """Return a function that writes a file."""

    def write(content):
        path = tmp_path / "file.toml"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_line_of_a_key_is_found_in_every_form(written, newline) -> None:
    document = toml.read(written(EVERY_FORM.replace("\n", newline)))
    assert {path: document.line_of(*path) for path in LINES} == LINES
    assert document.values == tomllib.loads(EVERY_FORM)


TEXTS = st.text(st.sampled_from("a=[]{}\"'#\\ \n.é"), max_size=8)


@given(st.dictionaries(TEXTS, st.lists(TEXTS, max_size=3), min_size=1, max_size=5), st.data())
def test_line_of_a_key_is_found_whatever_the_texts_contain(tables, data) -> None:
    lines, expected = [], {}
    quotes = st.sampled_from(['"{}"', '"""\n{}"""'])
    for place, (name, values) in enumerate(tables.items()):
        expected["t", place] = len("".join(lines).split("\n"))
        lines.append("[[t]]\n")
        expected["t", place, name] = len("".join(lines).split("\n"))
        texts = [data.draw(quotes).format(escaped(value)) for value in values]
        elements = ",\n # it's ]\n".join(texts)
        lines.append(f'"{escaped(name)}" = [{elements}]\n')
    text = "".join(lines)
    document = toml.Document("file", text, tomllib.loads(text))
    assert [table[name] for table, name in zip(document.values["t"], tables, strict=True)] == list(
        tables.values()
    )
    assert {path: document.line_of(*path) for path in expected} == expected


def escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def test_amounts_are_exact(written) -> None:
    document = toml.read(written("a = 0.1\nb = 1_000.50\nc = 1e-400\nd = 3"))
    assert document.values == {
        "a": Decimal("0.1"),
        "b": Decimal("1000.5"),
        "c": Decimal("1e-400"),
        "d": 3,
    }


def test_byte_order_mark_is_accepted(written) -> None:
    assert toml.read(written("\ufeffa = 1")).line_of("a") == 1


BROKEN = {
    b"": ", line 1: expected keys and values, but the file has none",
    b"# accounts\n\n": ", line 1: expected keys and values, but the file has none",
    b"a = 1\nb = 2\na = 3": ", line 3: expected each key and table once",
    b"[a]\nb = 1\n[a]\nc = 1": ", line 3: expected each key and table once",
    b"a = {b = 1, b = 2}": ", line 1: expected each key and table once",
    b"a = 1\nb = \n": ", line 2: not TOML: Invalid value",
    b"a = [\n1,\n": ", line 2: not TOML: Invalid value",
    b'a = """x\ny': ", line 2: not TOML: Unterminated string",
    b"a = 1\nb = 'x": ", line 2: not TOML: ",
    b"[money": ", line 1: not TOML: Expected ']' at the end of a table declaration",
    "a = 1".encode("utf-16"): ", line 1: expected UTF-8 text",
    "a = 1".encode("utf-16-le"): ", line 1: expected UTF-8 text",
    "a = 1\nb = 'ä'".encode("latin-1"): ", line 2: expected UTF-8 text",
    b"a = 1\nb = " + b"1" * 5000: ", line 2: expected shorter numbers and less nesting",
    b"a = 1\nb = 1e" + b"9" * 30: ", line 2: expected shorter numbers and less nesting",
    b"a = 1\nb = " + b"[" * 100_000: ", line 2: expected shorter numbers and less nesting",
    b"a = 1\nb = " + b"[" * 200 + b"]" * 200: ", line 2: expected shorter numbers and less nesting",
    b"[a]\n[b" + b".b" * 90 + b"]\n[b" + b".b" * 101: ", line 3: expected a key with fewer dots",
    b"a" * 50_000_000: ": the file is too large, expected at most 16 MiB",
}


def test_only_dots_of_keys_count(written) -> None:
    dots = "a." * 500
    text = f"""a = "{dots}" # {dots}\nb = '{dots}'\n'{dots}' = \"\"\"\n{dots}\n\"\"\"\n"""
    text += f"c = [{'0.5, ' * 500}]\nd = {{{', '.join(f'x{n}.y = 1' for n in range(200))}}}"
    assert len(toml.read(written(text)).values) == 5


# A key with so many dots took eight seconds, and a quotation mark that is not closed could take
# more.
@pytest.mark.no_cover
@pytest.mark.parametrize(
    "text",
    [
        "." * 20_000,
        "a." * 20_000 + "a = 1",
        '"a" . ' * 20_000 + "a = 1",
        "[[" + "a." * 20_000 + "a]]",
        'b = 1\n"""x\ny""" = {' + "'a'." * 20_000 + "a = 1}",
        '"' + '\\"' * 40_000,
        "''' ''" * 100_000,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_hostile_file_is_refused_at_once(written, text) -> None:
    path = written(text)
    began = time.process_time()
    with pytest.raises(ConfigurationError) as refused:
        toml.read(path)
    assert time.process_time() - began < 2
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize("content", BROKEN, ids=lambda content: repr(content[:20]))
def test_broken_file_is_refused_in_one_sentence(written, content) -> None:
    path = written(content)
    with pytest.raises(ConfigurationError) as refused:
        toml.read(path)
    assert str(refused.value).startswith(f"{path}{BROKEN[content]}")
    assert refused.value.argument == "path"
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 400


def test_missing_file_or_directory_is_refused(tmp_path) -> None:
    for path, problem in {
        tmp_path / "policy.toml": "No such file or directory",
        tmp_path: "Is a directory",
        "a\0b": "embedded null byte",
        3: "",  # each Python has its own words
    }.items():
        with pytest.raises(ConfigurationError, match=f": the file cannot be read: {problem}"):
            toml.read(path)


KEYS = ("accounts", "operations", "money")


@each_case(
    ("key", "hint"),
    [
        ("acounts", "acounts is not a key here: did you mean accounts?"),
        ("x", "x is not a key here: expected accounts, operations, money"),
        ("y" * 999, f"{'y' * 59}… is not a key here: expected accounts, operations, money"),
    ],
)
def test_unknown_key_is_refused_with_its_line_and_a_hint(key, hint) -> None:
    text = f"[table]\nmoney = 1\n{key} = 1\n"
    document = toml.Document("file", text, tomllib.loads(text))
    with pytest.raises(ConfigurationError) as refused:
        document.check_keys(document.values["table"], KEYS, "table")
    assert str(refused.value) == f"file, line 3: {hint}"
    assert refused.value.argument == f"table.{key}"


def test_known_keys_are_not_refused() -> None:
    toml.Document("file", "", {}).check_keys(["money", "accounts"], KEYS)
