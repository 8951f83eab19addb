"""The additional fields of items, as attrs classes for `typed()`."""

import keyword
from collections.abc import Iterable, Mapping
from decimal import Decimal
from itertools import chain
from typing import get_args

from adclient._core.operations import READS
from adclient._core.redact import one_line
from adclient.models import JSON

_DOCUMENTED = ("id", "name", "status")
_TYPES: dict[type, str] = {
    bool: "bool",
    int: "int | float",  # the next item may have a fraction
    float: "int | float",
    Decimal: "Decimal",
    str: "str",
    list: "list[JSON]",
    dict: "dict[str, JSON]",
}
_CLASS = """\
# {read}: the additional fields of {count} items
{imports}


@attrs.frozen(kw_only=True)
class My{base}({base}):
{fields}"""


def classes_of(items: Mapping[str, Iterable[JSON]]) -> dict[str, str]:
    """For each read whose items have additional fields, the code of a class that has them."""
    classes = {read: _class_for(read, rows) for read, rows in items.items()}
    return {read: code for read, code in classes.items() if code is not None}


def _class_for(read: str, items: Iterable[JSON]) -> str | None:
    (base,) = get_args(READS[read].result)
    rows = [item for item in items if isinstance(item, dict)]
    names = [name for name in dict.fromkeys(chain(*rows)) if name not in _DOCUMENTED]
    usable = [name for name in names if _is_usable(name, base)]
    if not usable:
        return None
    fields = [f"    {name}: {_type_of(name, rows)}" for name in usable]
    others = [one_line(name, 40) for name in names if name not in usable]
    if others:
        fields.append(f"    # in `extra`, since no attribute can have these names: {others}")
    text = "\n".join(fields)
    imports = ["import attrs", ""]
    if "Decimal" in text:
        imports.insert(0, "from decimal import Decimal\n")
    imports.append(f"from adclient import {'JSON, ' * ('JSON' in text)}{base.__name__}")
    return _CLASS.format(
        read=read, count=len(rows), imports="\n".join(imports), base=base.__name__, fields=text
    )


def _is_usable(name: str, base: type) -> bool:
    is_name = name.isidentifier() and name.isascii() and not keyword.iskeyword(name)
    is_name = is_name and name != "self"
    return is_name and not name.startswith("_") and not hasattr(base, name)


def _type_of(name: str, rows: list[dict[str, JSON]]) -> str:
    """The type of a field in all items; `JSON` if they have nothing in common."""
    classes = {type(row[name]) for row in rows if name in row}
    is_missing = any(name not in row for row in rows)
    types = {_TYPES[cls] for cls in classes if cls is not type(None)}
    if classes == {int} and any(abs(int(str(row[name]))) > 2**53 for row in rows if name in row):
        types = {"int"}  # an id, which a float could not hold
    if len(types) != 1:
        return "JSON" + " = None" * is_missing
    may_be_null = is_missing or type(None) in classes
    return types.pop() + " | None" * may_be_null + " = None" * is_missing
