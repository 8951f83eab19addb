"""TOML files: the place of each error, and one sentence for whatever is wrong with a file."""

import pytest
from cases import each_case

from adclient import ConfigurationError
from adclient._values import toml


@each_case(
    ("path", "where"),
    [
        ((), ""),
        (("money", "bid"), ", money.bid"),
        (("change", 2), ", change 3"),
        (("listings", "gamma.list_ads", "item", "a b"), ', listings."gamma.list_ads".item."a b"'),
        (("x\n\u202ey",), ', "x\\n\\u202ey"'),
        (("y" * 999,), f", {'y' * 399}…"),
    ],
)
def test_error_names_the_place_in_the_file(path, where) -> None:
    error = toml.Document("file", {}).error("it is wrong", *path)
    assert str(error) == f"file{where}: it is wrong"
    assert error.argument == ".".join(map(str, path))


def test_file_is_read_as_editors_write_it(tmp_path) -> None:
    path = tmp_path / "file.toml"
    path.write_text('\ufeffa = 1.50\r\nb = "x"\r\n', "utf-8", newline="")
    assert repr(toml.read(path).values) == "{'a': Decimal('1.50'), 'b': 'x'}"


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
def test_unknown_key_is_refused_with_its_table_and_a_hint(key, hint) -> None:
    document = toml.Document("file", {"table": {"money": 1, key: 1}})
    with pytest.raises(ConfigurationError) as refused:
        document.check_keys(document.values["table"], ("accounts", "operations", "money"), "table")
    assert str(refused.value) == f"file, table: {hint}"
    assert refused.value.argument == f"table.{key}"
