"""TOML files that people write: their values, the line of each key, errors that name it; texts."""

import difflib
import json
import os
import re
import tomllib
from collections import Counter
from collections.abc import Collection, Iterator
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any

import attrs

from adclient._display.notebook import NOTE, short
from adclient._values.json_values import is_array, is_object
from adclient.errors import ConfigurationError

_BARE = re.compile(r"[A-Za-z0-9_-]+")
# Texts and comments, which may contain a bracket or line break that is none; brackets; line breaks.
_TOKENS = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|'
    r"'''.*?'{3,5}|"
    r'"(?:\\.|[^"\\])*"|'
    r"'[^']*'|"
    r"#[^\n]*|[\[\]{}\n]",
    re.DOTALL,
)


@attrs.frozen(eq=False, repr=False)
class Document:
    """A TOML file; a path into its values has a step for each key and each index of an array."""

    name: str
    text: str
    values: dict[str, Any]

    def line_of(self, *path: str | int) -> int:
        """The line of a key, of the nearest table around one that is missing, or the first."""
        known: tuple[object, ...] = path
        while known not in self._lines:
            known = known[:-1]
        return self._lines[known]

    def error(self, problem: str, *path: str | int) -> ConfigurationError:
        """An error that names the file and the line of a key."""
        where = f"line {self.line_of(*path)}" if self.text else ".".join(map(str, path))
        text = f"{self.name}, {where}: {problem}"
        return ConfigurationError(text, argument=".".join(map(str, path)))

    def check_keys(self, table: Collection[str], known: Collection[str], *path: str | int) -> None:
        """Refuse a key of the table at `path` that is not one of the known ones."""
        for key in table:
            if key not in known:
                near = difflib.get_close_matches(short(key), known, 1)
                hint = f"did you mean {near[0]}?" if near else f"expected {', '.join(known)}"
                raise self.error(f"{short(key)} is not a key here: {hint}", *path, key)

    @cached_property
    def _lines(self) -> dict[tuple[object, ...], int]:
        """The line of the statement that first names each path: `tomllib` does not report it.

        So each statement is read alone, which gives the keys in it. A key within an array or a
        table of several keys has the line of its statement.
        """
        lines: dict[tuple[object, ...], int] = {(): 1}
        lengths = Counter[tuple[object, ...]]()  # of arrays of tables, so far
        table: tuple[object, ...] = ()
        for line, statement in _statements(self.text):
            value: object = tomllib.loads(statement)
            is_header = statement.lstrip().startswith("[")
            path = () if is_header else table
            while is_object(value) and len(value) == 1:
                [(key, value)] = value.items()
                path += (key,)
                lines.setdefault(path, line)
                if is_header and is_array(value):
                    lengths[path] += 1
                if is_header and path in lengths:  # the name means its last table
                    path += (lengths[path] - 1,)
                    lines.setdefault(path, line)
            if is_header:
                table = path
        return lines


def read(path: str | os.PathLike[str]) -> Document:
    """Read a file; a number with a fraction or an exponent is a `Decimal`.

    Raises:
        ConfigurationError: The file cannot be read, is not TOML, or has no keys.
    """
    name, problem = short(path, NOTE), "expected keys and values, but the file has none"
    try:
        text = Path(path).read_text("utf-8-sig")
        if values := tomllib.loads(text, parse_float=Decimal):
            return Document(name, text, values)
    except tomllib.TOMLDecodeError as error:
        problem = f"not TOML: {error}"  # which has the line
    except (ArithmeticError, RecursionError):
        problem = "expected shorter numbers and less nesting"
    except (OSError, ValueError, TypeError) as error:  # ValueError: such as what is not UTF-8
        problem = f"the file cannot be read: {getattr(error, 'strerror', None) or error}"
    raise ConfigurationError(f"{name}: {short(problem, NOTE)}", argument="path") from None


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Each line, or more if a value has several, with its number."""
    start, line, depth = 0, 1, 0
    text += "\n"
    for token in _TOKENS.finditer(text):
        depth += (token[0] in ("[", "{")) - (token[0] in ("]", "}"))
        if token[0] == "\n" and depth == 0:
            statement = text[start : token.end()]
            yield line, statement
            start, line = token.end(), line + statement.count("\n")


def key_text(key: str) -> str:
    """A key as TOML."""
    return key if _BARE.fullmatch(key) else value_text(key)


def value_text(value: object) -> str:
    """A value as TOML in one line.

    Raises:
        ValueError: It contains null, which TOML does not have.
    """
    if value is None:
        raise ValueError("TOML has no null")
    if is_object(value):
        pairs = [f"{key_text(str(key))} = {value_text(each)}" for key, each in value.items()]
        return f"{{ {', '.join(pairs)} }}"
    if is_array(value):
        return f"[{', '.join(map(value_text, value))}]"
    if isinstance(value, Decimal):
        return f"{value}" if {".", "E"} & {*f"{value}"} else f"{value}.0"
    if isinstance(value, str) and '"' in value and "'" not in value and value.isprintable():
        return f"'{value}'"  # a literal text needs no backslashes
    text = value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
