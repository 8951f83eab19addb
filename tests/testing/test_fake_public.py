"""What `adclient.testing` names is public, whole and documented, and its examples run."""

import doctest
import inspect
import re

import pytest
from cases import each_case

from adclient import testing
from adclient.testing import FakeAdService, Fault

CLASSES = [getattr(testing, name) for name in testing.__all__]
METHODS = [
    method
    for cls in CLASSES
    for name, method in inspect.getmembers(cls, inspect.isroutine)
    if not name.startswith("_") and str(getattr(method, "__module__", "")).startswith("adclient")
]


def test_all_is_exact_and_sorted():
    public = {name for name, value in vars(testing).items() if inspect.isclass(value)}
    assert testing.__all__ == sorted(public)


@each_case("cls", CLASSES)
def test_a_public_class_has_a_docstring_of_its_own(cls):
    assert cls.__doc__
    assert not cls.__doc__.startswith(f"{cls.__name__}(")


@each_case("method", METHODS)
def test_a_public_method_has_a_whole_docstring(method):
    doc = inspect.getdoc(method)
    assert doc.splitlines()[0].endswith(".")
    parameters = [name for name in inspect.signature(method).parameters if name != "self"]
    if parameters and method.__name__ not in ("take", "corrupt", "advance", "now"):
        sections = re.findall(r"^(Args|Returns|Raises|Example):$", doc, re.MULTILINE)
        assert sections[0] == "Args"
        assert sections[-1] == "Example"
        listed = doc.split("Args:")[1].split("\n\n")[0]
        assert re.findall(r"^    (\w+): ", listed, re.MULTILINE) == parameters


def examples():
    finder, seen = doctest.DocTestFinder(exclude_empty=True), set()
    for documented in [*CLASSES, *METHODS]:
        for test in finder.find(documented, documented.__qualname__, globs={}):
            if test.examples and test.docstring not in seen and "_." not in test.name:
                yield pytest.param(test, id=test.name)
            seen.add(test.docstring)


@pytest.mark.parametrize("test", list(examples()))
def test_docstring_examples_run(test):
    report: list[str] = []
    runner = doctest.DocTestRunner()
    assert runner.run(test, out=report.append, clear_globs=False).failed == 0, "".join(report)


def test_docstring_examples_are_found():
    names = {parameter.id for parameter in examples()}
    assert {"FakeAdService", "FakeAdService.client", "Fault.slow", "Dashboard.arm"} <= names


def test_reprs_of_faults_clock_and_dashboard():
    fake = FakeAdService()
    fake.faults.add(Fault.refused())
    fake.clock.advance(90)
    assert repr(fake.faults) == "<Faults, 1 to come>"
    assert repr(fake.clock) == "<FakeClock 2026-03-02 09:01:30 UTC>"
    assert repr(fake.dashboard) == "<Dashboard, 0 waiting>"
