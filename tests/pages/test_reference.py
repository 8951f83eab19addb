"""The reference of the site has every public name."""

import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module

from pages import ROOT

import adclient
from adclient import AdClientError

REFERENCE = "".join(path.read_text("utf-8") for path in (ROOT / "docs/reference").glob("*.md"))
DIRECTIVES = re.findall(r"^::: (\S+)$", REFERENCE, re.MULTILINE)

MODULES = ("conform", "doctor", "extend", "ledger", "mcp", "plan", "testing", "testing.server")


def subclasses(cls: type) -> Iterator[type]:
    for each in cls.__subclasses__():
        if each.__module__ == "adclient.errors":
            yield each
            yield from subclasses(each)


def test_reference_has_each_public_name_once() -> None:
    assert sorted(DIRECTIVES) == sorted(set(DIRECTIVES))
    shown = [pkgutil.resolve_name(path) for path in DIRECTIVES]
    missing = [
        f"{module.__name__}.{name}"
        for module in [adclient, *(import_module(f"adclient.{name}") for name in MODULES)]
        for name in module.__all__
        if not any(getattr(module, name) is value for value in shown)
    ]
    assert missing == []
    assert [cls for cls in subclasses(AdClientError) if cls not in shown] == []
