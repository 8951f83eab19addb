"""TOML files: the line of each key, and one sentence for whatever is wrong with a file."""

import tomllib

import pytest
from cases import each_case

from adclient import ConfigurationError
from adclient._values import toml

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


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_line_of_a_key_is_found_in_every_form(tmp_path, newline) -> None:
    path = tmp_path / "file.toml"
    path.write_text("\ufeff" + EVERY_FORM, "utf-8", newline=newline)
    document = toml.read(path)
    assert {path: document.line_of(*path) for path in LINES} == LINES
    assert document.values == tomllib.loads(EVERY_FORM)


@each_case(
    ("content", "problem"),
    [
        (b"# accounts\n\n", "expected keys and values, but the file has none"),
        (b"a = 1\na = 3\n", "not TOML: Cannot overwrite a value (at line 2, column "),
        (b"a = 1\nb = \n", "not TOML: Invalid value (at line 2, column "),
        (b'a = """x\ny', "not TOML: Unterminated string"),
        ("a = 'ä'".encode("latin-1"), "the file cannot be read: 'utf-8' codec can't decode byte "),
        (b"a = " + b"1" * 5000, "the file cannot be read: Exceeds the limit"),
        (b"a = 1e" + b"9" * 30, "expected shorter numbers and less nesting"),
        (b"a = " + b"[" * 100_000, "expected shorter numbers and less nesting"),
        (None, "the file cannot be read: No such file or directory"),
    ],
)
def test_broken_file_is_refused_in_one_sentence(tmp_path, content, problem) -> None:
    path = tmp_path / "file.toml"
    path.unlink(missing_ok=True)
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigurationError) as refused:
        toml.read(path)
    assert str(refused.value).startswith(f"{path}: {problem}")
    assert refused.value.argument == "path"
    assert "\n" not in str(refused.value)


@each_case(
    ("key", "hint"),
    [
        ("acounts", "acounts is not a key here: did you mean accounts?"),
        ("y" * 999, f"{'y' * 59}… is not a key here: expected accounts, operations, money"),
    ],
)
def test_unknown_key_is_refused_with_its_line_and_a_hint(key, hint) -> None:
    text = f"[table]\nmoney = 1\n{key} = 1\n"
    document = toml.Document("file", text, tomllib.loads(text))
    with pytest.raises(ConfigurationError) as refused:
        document.check_keys(document.values["table"], ("accounts", "operations", "money"), "table")
    assert str(refused.value) == f"file, line 3: {hint}"
    assert refused.value.argument == f"table.{key}"
