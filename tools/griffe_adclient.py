"""What mkdocstrings needs to know of this package: see `zensical.toml`."""

import re
from functools import cache
from typing import Any

import attrs
import griffe

import adclient
from adclient import conform, doctor, ledger, plan, testing


@cache
def _paths() -> dict[str, str]:
    """The documented path of each public name."""
    paths = {name: f"adclient.{name}" for name in adclient.__all__}
    for module in (conform, doctor, ledger, plan, testing):
        for name in module.__all__:
            paths.setdefault(name, f"{module.__name__}.{name}")
    return paths


class AdclientExtension(griffe.Extension):
    """Adds the constructors of attrs classes, and links from docstrings to public names."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Adapt one docstring."""
        if obj.docstring is None:
            return
        # The plural is the section of doctests; anything else is prose in a box.
        text = re.sub(r"^Example:$", "Examples:", obj.docstring.value, flags=re.MULTILINE)
        obj.docstring.value = re.sub(r"(?<!\[)`(\w+)`(?!\])", self._linked, text)

    def _linked(self, match: re.Match[str]) -> str:
        path = _paths().get(match[1])
        return match[0] if path is None else f"[{match[0]}][{path}]"

    def on_class(self, *, cls: griffe.Class, **_: Any) -> None:
        """Add the constructor that attrs generates, with its defaults as they are."""
        if not any(str(each.value).startswith("attrs.") for each in cls.decorators):
            return
        parameters = [griffe.Parameter("self", kind=griffe.ParameterKind.positional_or_keyword)]
        for field in attrs.fields(griffe.dynamic_import(cls.canonical_path)):
            member = cls.members.get(field.name)
            if field.init and member is not None and not field.name.startswith("_"):
                parameters.append(
                    griffe.Parameter(
                        field.name,
                        annotation=getattr(member, "annotation", None),
                        kind=griffe.ParameterKind.keyword_only,
                        default=_default(field),
                    )
                )
        init = griffe.Function("__init__", parameters=griffe.Parameters(*parameters))
        cls.set_member("__init__", init)


def _default(field: "attrs.Attribute[Any]") -> str | None:
    if field.default is attrs.NOTHING:
        return None
    if isinstance(field.default, attrs.Factory):  # type: ignore[arg-type]
        return "..."
    if isinstance(field.default, frozenset):
        return f"{{{', '.join(map(repr, sorted(field.default)))}}}"
    return repr(field.default)
