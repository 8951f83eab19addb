"""Writes a service file."""

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from adclient._service.model import Service
from adclient._service.reading import CONTINUATIONS, FORMAT
from adclient._values.toml import key_text, value_text

_NAMES: dict[object, str] = {function: name for name, function in CONTINUATIONS.items()}
_ABOUT = """\
# What is known about this service; no secrets. You may edit it: a setting that `certainty` does not
# name counts as chosen by you.
"""
_DEPTHS = {"conventions": 3, "listings": 3}  # of what has a header of its own
_NONE: Mapping[str, object] = {}


def text_of(service: Service, suggestions: Mapping[str, object] = _NONE) -> str:
    """The text of a service file; what has its default is left out, suggestions are comments."""
    values = attrs.asdict(service, filter=_is_set, value_serializer=_written)
    settings = values.setdefault("conventions", {})
    for name in service.certainty:  # also of what was observed to be the default
        if (value := getattr(service.conventions, name, None)) is not None:
            settings[name] = _written(service, None, value)
    if not settings:
        del values["conventions"]
    lines = [_ABOUT, *_lines({"format": FORMAT, **values}, ())]
    at = len(lines)
    for line in _lines(dict(suggestions), ("conventions",)):
        if line.startswith("["):
            header = line if line in lines else f"# {line}"
            if header != line:
                lines += ["", header]
            at = lines.index(header) + 1
        elif line:
            lines.insert(at, f"# {line}")
            at += 1
    return "\n".join(lines) + "\n"


def _is_set(attribute: Any, value: object) -> bool:
    factory = getattr(attribute.default, "factory", None)
    default = attribute.default if factory is None else factory()
    return bool(attribute.init and value != default)


def _written(_: object, __: object, value: object) -> object:
    """A value, or the name of a function or of None."""
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
    own = [f"{key_text(key)} = {value_text(table[key])}" for key in table if key not in inner]
    if path and (own or not inner):
        yield ""
        yield f"[{'.'.join(map(key_text, path))}]"
    yield from own
    for key, value in inner.items():
        yield from _lines(value, (*path, key))


def _is_table(value: object, path: tuple[str, ...]) -> bool:
    is_short = path[-1] in ("next", "page_size", "statuses")
    return isinstance(value, dict) and len(path) <= _DEPTHS.get(path[0], 1) and not is_short
