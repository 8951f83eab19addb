"""Writes a service file."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

import attrs

from adclient._service.model import Row, Service
from adclient._service.reading import CONTINUATIONS, FORMAT
from adclient._values.json_values import is_object
from adclient._values.jsontext import dumps
from adclient._values.toml import key_text, value_text

_NAMES: dict[object, str] = {function: name for name, function in CONTINUATIONS.items()}
_ABOUT = """\
# What is known about this service; no secrets. You may edit it: a setting that `certainty` does not
# name counts as chosen by you.
"""
_DEPTHS = {"auth": 2, "conventions": 3, "listings": 3}  # of what has a header of its own
_WIDTH = 80
_NONE: Mapping[str, object] = {}


def text_of(service: Service, suggestions: Mapping[str, object] = _NONE) -> str:
    """The text of a service file; what has its default is left out, suggestions are comments."""
    values: dict[str, Any] = {"format": FORMAT}
    values |= attrs.asdict(service, filter=_is_written, value_serializer=_written)
    settings = values["conventions"]
    for name in service.certainty:  # also of what was observed to be the default
        if (value := getattr(service.conventions, name, None)) is not None:
            settings[name] = _written(service, None, value)
    known = {"", *_lines(values, ())}
    values["conventions"] = _merged(settings, suggestions)
    lines = [line if line in known else f"# {line}" for line in _lines(values, ())]
    return "\n".join([_ABOUT, *lines]) + "\n"


def _merged(settings: Mapping[Any, Any], suggestions: Mapping[Any, object]) -> dict[str, Any]:
    both: dict[str, Any] = {}
    for key, value in suggestions.items():
        both[key] = _merged(settings.get(key, {}), value) if is_object(value) else value
    return {**both, **{key: value for key, value in settings.items() if key not in both}}


def _is_written(attribute: Any, value: object) -> bool:
    factory = getattr(attribute.default, "factory", None)
    default = attribute.default if factory is None else factory()
    return bool(attribute.init and (value != default or attribute.name == "conventions"))


def _written(_: object, field: Any, value: object) -> object:
    """A value, or the name of a function or of None; the JSON text of a row."""
    if field is not None and field.name in ("rows", "pages"):
        rows = [dumps(row, "row", errors="backslashreplace") for row in cast("tuple[Row]", value)]
        # Quotes as escapes, which are only in texts, so that TOML needs none.
        return [row.replace("'", "\\u0027").replace("\x7f", "\\u007f") for row in rows]
    if value is None or callable(value):
        if value not in _NAMES:
            raise ValueError(
                f"a service file cannot name {value!r}, only {', '.join(CONTINUATIONS)}"
            )
        return _NAMES[value]
    return value


def _lines(table: dict[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    """A table: its own values, then the tables in it."""
    inner = {key: value for key, value in table.items() if _is_table(value, (*path, key))}
    own = [f"{key_text(key)} = {_text(table[key])}" for key in table if key not in inner]
    if path and (own or not (inner or path == ("conventions",))):
        yield ""
        yield f"[{'.'.join(map(key_text, path))}]"
    yield from own
    for key, value in inner.items():
        yield from _lines(value, (*path, key))


def _text(value: object) -> str:
    """A value as TOML; a long array has a line for each of its elements."""
    text = value_text(value)
    if len(text) <= _WIDTH or not isinstance(value, list | tuple):
        return text
    elements = cast("list[object]", value)
    return "\n".join(["[", *(f"  {value_text(each)}," for each in elements), "]"])


def _is_table(value: object, path: tuple[str, ...]) -> bool:
    is_short = path[-1] in ("next", "page_size", "statuses")
    return isinstance(value, dict) and len(path) <= _DEPTHS.get(path[0], 1) and not is_short
