"""TOML files that people write: their values, errors that name a place in them, and texts."""

import difflib
import json
import os
import re
import tomllib
from bisect import bisect_left
from collections.abc import Collection
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import attrs

from adclient._values.json_values import is_array, is_object
from adclient._values.text import NOTE, short
from adclient.errors import ConfigurationError

_BARE = re.compile(r"[A-Za-z0-9_-]+")


@attrs.frozen(eq=False, repr=False)
class Document:
    """A TOML file; a path into its values has a step for each key and each index of an array."""

    name: str
    values: dict[str, Any]
    text: str = ""

    def error(self, problem: str, *path: str | int, key: str | None = None) -> ConfigurationError:
        """An error that names the file, the line and a place in it, such as `money.bid`.

        The problem itself names the key there, if it is about one.
        """
        shown = (f" {step + 1}" if isinstance(step, int) else f".{key_text(step)}" for step in path)
        where = short("".join(shown).removeprefix("."), NOTE)
        steps = path if key is None else (*path, key)
        lines = self.text.split("\n")

        def depth(end: int) -> int:
            """How many steps the shortest valid part of the file with so many lines has."""
            while True:
                with suppress(tomllib.TOMLDecodeError):  # within an array of several lines
                    values: Any = tomllib.loads("\n".join(lines[:end]))
                    break
                end += 1
            for found, step in enumerate(steps):
                try:
                    values = values[step]
                except (LookupError, TypeError):
                    return found
            return len(steps)

        # Where the value begins, or the last table on the way to it; 0 for none.
        deepest = depth(len(lines))
        line = bisect_left(range(len(lines)), deepest, key=depth) if deepest else 0
        parts = [self.name, *[f"line {line}"] * (line > 0), *[where] * bool(path)]
        return ConfigurationError(
            f"{', '.join(parts)}: {problem}", argument=".".join(map(str, steps))
        )

    def check_keys(self, table: Collection[str], known: Collection[str], *path: str | int) -> None:
        """Refuse a key of the table at `path` that is not one of the known ones."""
        for key in table:
            if key not in known:
                near = difflib.get_close_matches(short(key), known, 1)
                hint = f"did you mean {near[0]}?" if near else f"expected {', '.join(known)}"
                raise self.error(f"{short(key)} is not a key here: {hint}", *path, key=key)


def read(path: str | os.PathLike[str]) -> Document:
    """Read a file; a number with a fraction or an exponent is a `Decimal`.

    Raises:
        ConfigurationError: The file cannot be read, is not TOML, or has no keys.
    """
    name, problem = short(path, NOTE), "expected keys and values, but the file has none"
    try:
        text = Path(path).read_text("utf-8-sig")
        if values := tomllib.loads(text, parse_float=Decimal):
            return Document(name, values, text)
    except tomllib.TOMLDecodeError as error:
        problem = f"not TOML: {error}"  # which has the line
    except (ArithmeticError, RecursionError):
        problem = "expected shorter numbers and less nesting"
    except (OSError, ValueError, TypeError) as error:  # ValueError: such as what is not UTF-8
        problem = f"the file cannot be read: {getattr(error, 'strerror', None) or error}"
    raise ConfigurationError(f"{name}: {short(problem, NOTE)}", argument="path") from None


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
        return str(value)
    if isinstance(value, str) and '"' in value and "'" not in value and value.isprintable():
        return f"'{value}'"  # a literal text needs no backslashes
    text = value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
