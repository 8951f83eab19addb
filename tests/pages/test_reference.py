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


def public_paths() -> set[str]:
    """Each public name once, by its shortest path."""
    paths = {f"adclient.{name}" for name in adclient.__all__}
    known = [pkgutil.resolve_name(path) for path in paths]
    for module in ("conform", "doctor", "ledger", "mcp", "plan", "testing", "testing.server"):
        for name in import_module(f"adclient.{module}").__all__:
            if not any(
                pkgutil.resolve_name(f"adclient.{module}.{name}") is value for value in known
            ):
                paths.add(f"adclient.{module}.{name}")
    return paths | {f"adclient.errors.{cls.__name__}" for cls in subclasses(AdClientError)} - {
        f"adclient.errors.{name}" for name in adclient.__all__
    }


def subclasses(cls: type) -> Iterator[type]:
    for each in cls.__subclasses__():
        if each.__module__ == "adclient.errors":
            yield each
            yield from subclasses(each)


def test_reference_has_each_public_name_once() -> None:
    assert sorted(DIRECTIVES) == sorted(set(DIRECTIVES))
    assert public_paths() - set(DIRECTIVES) == set()
