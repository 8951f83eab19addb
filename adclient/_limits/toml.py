"""TOML files that people write: their values, the line of each key, and errors that name it."""

import difflib
import os
import re
import tomllib
from collections.abc import Collection, Iterator
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any

import attrs

from adclient._core.redact import one_line
from adclient._display.notebook import short
from adclient._values.json_values import is_array, is_deeper, is_object
from adclient.errors import ConfigurationError

_LARGEST = 16 * 1024 * 1024  # ten thousand changes, and more
_DEEPEST = 100  # levels of tables and arrays, which reports write by recursion

# Whatever may contain a line break, a bracket or a dot that is none; then brackets and line breaks.
# What is not closed reaches to the end of its line or of the text: else it would be searched again
# from each of its characters.
_TOKENS = re.compile(
    r'"""(?:[^"\\]++|\\.|"{1,2}(?!"))*+(?:"{3,5}|\Z)|'
    r"'''(?:[^']++|'{1,2}(?!'))*+(?:'{3,5}|\Z)|"
    r""" "(?:[^"\\\n]++|\\[^\n])*+"? | '[^'\n]*+'? | \#[^\n]*+ | [\[\]{}\n]""".replace(" ", ""),
    re.DOTALL,
)
_NEITHER_DOTS_NOR_ENDS = re.compile(r"[^.=,\[\]{}\n]++")
_LONG_KEY = re.compile(rf"\.{{{_DEEPEST + 1}}}")


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
        text = f"{self.name}, line {self.line_of(*path)}: {problem}"
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
        """The line of the statement that defines each path; tomllib knows none."""
        lines: dict[tuple[object, ...], int] = {(): 1}
        lengths: dict[tuple[object, ...], int] = {}  # of arrays of tables, so far
        table: tuple[object, ...] = ()
        for line, statement in _statements(self.text):
            value: object = tomllib.loads(statement)
            if not statement.lstrip().startswith("["):
                path = table  # whatever is inside a value has the line of its key
                while is_object(value) and len(value) == 1:
                    [(key, value)] = value.items()
                    path += (key,)
                    lines.setdefault(path, line)
                continue
            table = ()
            while is_object(value) and value:
                [(key, value)] = value.items()
                table += (key,)
                lines.setdefault(table, line)
                if is_array(value):
                    lengths[table] = lengths.get(table, 0) + 1
                if table in lengths:  # a name in a header means the last table of an array
                    table += (lengths[table] - 1,)
                    lines.setdefault(table, line)
        return lines


def read(path: str | os.PathLike[str]) -> Document:
    """Read a file; a number with a fraction or an exponent is a `Decimal`.

    Raises:
        ConfigurationError: The file cannot be read, is not TOML, or has no keys.
    """
    name = one_line(str(path))

    def refused(problem: str) -> ConfigurationError:
        return ConfigurationError(f"{name}{problem}", argument="path")

    try:
        with Path(path).open("rb") as file:
            data = file.read(_LARGEST + 1).removeprefix(b"\xef\xbb\xbf")
    except (OSError, ValueError, TypeError) as error:
        problem = getattr(error, "strerror", None) or str(error)
        raise refused(f": the file cannot be read: {problem}") from None
    if len(data) > _LARGEST:
        raise refused(": the file is too large, expected at most 16 MiB")
    text = data.decode(errors="replace")
    broken = re.search("[\0\ufffd]", text)
    if broken:
        line = text.count("\n", 0, broken.start()) + 1
        raise refused(f", line {line}: expected UTF-8 text")
    if (long := _line_of_long_key(text)) is not None:
        raise refused(f", line {long}: expected a key with fewer dots")
    try:
        values = _loads(text)
    except tomllib.TOMLDecodeError as error:
        problem, _, place = str(error).rpartition(" (at ")
        number = re.match(r"line (\d+)", place)
        line = int(number[1]) if number else text.rstrip().count("\n") + 1
        is_duplicate = problem.startswith(("Cannot", "Duplicate"))
        expected = "expected each key and table once" if is_duplicate else f"not TOML: {problem}"
        raise refused(f", line {line}: {one_line(expected)}") from None
    except (ValueError, ArithmeticError, RecursionError):
        line = next((line for line, part in _statements(text) if not _is_readable(part)), 1)
        expected = "expected shorter numbers and less nesting"
        raise refused(f", line {line}: {expected}") from None
    if not values:
        raise refused(", line 1: expected keys and values, but the file has none")
    return Document(name, text, values)


def _loads(text: str) -> dict[str, Any]:
    values = tomllib.loads(text, parse_float=Decimal)
    if is_deeper(values, _DEEPEST):
        raise RecursionError
    return values


def _line_of_long_key(text: str) -> int | None:
    """The first line whose key has too many dots: tomllib would take seconds to read it."""
    plain = _TOKENS.sub(lambda token: token[0] if token[0] in "[]{}" else _breaks(token[0]), text)
    dots = _NEITHER_DOTS_NOR_ENDS.sub("", plain)
    long_key = _LONG_KEY.search(dots)
    return None if long_key is None else dots.count("\n", 0, long_key.start()) + 1


def _breaks(text: str) -> str:
    return "\n" * text.count("\n")


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
    yield line, text[start:]  # nothing, unless a bracket stays open


def _is_readable(statement: str) -> bool:
    """Check if a statement can be read by itself."""
    try:
        _loads(statement)
    except (ValueError, ArithmeticError, RecursionError):
        return False
    return True
