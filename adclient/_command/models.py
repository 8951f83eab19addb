"""`adclient models`: a Python module with a class for the items of each listing of a service."""

import argparse
import re
from collections.abc import Container
from keyword import iskeyword

from adclient._command import EXIT_CODES, Parser, connection
from adclient._service.file import read_service
from adclient._service.model import Shape, Shapes
from adclient.errors import ConfigurationError
from adclient.options import ENV_SERVICE

_HELP = f"""\
adclient models --service service.toml >ads_models.py
{connection.SERVICE}
It prints a module with one attrs class for each listing that the doctor has read, for `typed()` \
and for `adclient list --class`.
"""

_HEAD = '''\
"""The items of a service, as its service file describes them; written by `adclient models`."""

import attrs
'''
_SCALARS = {"boolean": "bool", "integer": "int", "number": "float", "string": "str", "null": "None"}
# Identifiers that keep their meaning in the body of a class, and in the code that attrs makes.
_PLAIN = re.compile(r"[a-z][A-Za-z0-9_]*")
_TAKEN = {"attrs", "bool", "dict", "float", "int", "list", "object", "self", "str"}


def add_arguments(parser: Parser) -> None:
    """Describe the command line."""
    parser.describe(_HELP, {code: EXIT_CODES[code] for code in (0, 2)})


def run(options: argparse.Namespace) -> int:
    """Print the module; the exit code."""
    path = connection.service_path(options)
    if path is None:
        raise ConfigurationError(f"--service is missing: pass it, or set {ENV_SERVICE}")
    made: dict[str, str] = {}
    for read, listing in read_service(path).listings.items():
        if listing.item:
            kind = read.partition("_")[2].removesuffix("s")  # such as `campaign`
            _add_class(kind.title().replace("_", ""), listing.item, made)
    if not made:
        raise ConfigurationError(f"{path}: it has the fields of no listing")
    print(*[_HEAD, *made.values()], sep="\n\n", end="")
    return 0


def _add_class(wanted: str, fields: Shapes, made: dict[str, str]) -> str:
    """Write a class after those of its fields; its name."""
    name = _unused(wanted, made)
    made[name] = ""  # taken; its text follows those of the classes in it
    lines = ["@attrs.frozen(kw_only=True)", f"class {name}:"]
    taken = set(_TAKEN)
    for field, shape in fields.items():
        if field.partition(".")[0] in fields.keys() - {field}:
            continue  # `typed` reads such a name as a path into the other field
        # The name itself where Python allows it, else one like it.
        words = re.sub(r"\W+", "_", field, flags=re.ASCII).strip("_").lower()
        likes = (field, words, f"field_{words}".rstrip("_"))
        attribute = _unused(next(each for each in likes if _PLAIN.fullmatch(each)), taken)
        taken.add(attribute)
        kind = _type(shape, f"{name}{attribute.title().replace('_', '')}", made)
        value = " = None" * shape.is_optional
        if attribute != field:  # which reaches the code only as a literal
            default = "default=None, " * shape.is_optional
            value = f' = attrs.field({default}metadata={{"name": {field!r}}})'
        lines.append(f"    {attribute}: {kind}{value}")
    del made[name]
    made[name] = "\n".join([*lines, ""])
    return name


def _unused(name: str, taken: Container[str]) -> str:
    """A name that is neither taken nor a word of Python."""
    while name in taken or iskeyword(name):
        name += "_"
    return name


def _type(shape: Shape, name: str, made: dict[str, str]) -> str:
    kinds: list[str] = []
    for kind in shape.types:
        if kind == "array":
            kinds.append(f"list[{_type(shape.items or Shape(), name, made)}]")
        elif kind != "object":
            kinds.append(_SCALARS[kind])
        elif shape.properties:
            kinds.append(_add_class(name, shape.properties, made))
        else:
            kinds.append("dict[str, object]")
    if shape.is_optional and "None" not in kinds:
        kinds.append("None")
    return "object" if kinds in ([], ["None"]) else " | ".join(kinds)
