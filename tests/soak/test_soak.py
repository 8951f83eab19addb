"""A short soak test, and tests that the reconciliation detects each kind of mismatch."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from soak import Held
from soak_books import Books

from adclient import BadRequest, OutcomeUnknown
from adclient.testing import FakeAdService

SOAK = Path(__file__).with_name("soak.py")
SHORT = ("--rounds", "2", "--workers", "10", "--timeout", "0.7")


HOW = {"plain": ("--calls", "90"), "keyed": ("--calls", "45", "--keyed")}


@pytest.fixture(scope="module")
def soaks() -> dict[str, subprocess.CompletedProcess[str]]:
    """Run both kinds concurrently."""

    def run(how) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(SOAK), *SHORT, *how]
        return subprocess.run(command, capture_output=True, check=False, encoding="utf-8")

    with ThreadPoolExecutor() as pool:
        return dict(zip(HOW, pool.map(run, HOW.values()), strict=True))


@pytest.mark.skipif(sys.platform != "linux", reason="the soak looks into /proc")
@pytest.mark.parametrize("how", HOW)
def test_short_soak_breaks_no_rule(soaks, how) -> None:
    done = soaks[how]
    assert done.returncode == 0, done.stdout + done.stderr
    assert "broken rules: 0" in done.stdout


@pytest.fixture
def books() -> Books:
    return Books()


@pytest.fixture
def draft():
    return FakeAdService().client().delta.remove_auto_search_themes(account_id="account_d118")


def staged(draft, *, caller=1, diff=None):
    return (caller, draft.draft_id, diff or draft.diff.to_dict())


def say(books, answer=None, error=None, *, caller=1) -> None:
    """Record a call that ends with a result or an error."""
    with books.write(caller) as said:
        if error is not None:
            raise error
        said.answer = answer


def test_books_that_agree_are_accepted(books, draft) -> None:
    say(books, draft)
    books.balance([staged(draft)], keyed=True)
    say(books, error=OutcomeUnknown("lost", draft_id=draft.draft_id))
    with pytest.raises(KeyboardInterrupt):
        say(books, error=KeyboardInterrupt(), caller=2)
    books.balance([staged(draft)], keyed=False)
    books.balance([staged(draft, caller=2)], keyed=False)  # it arrived late
    assert books.broken == []


LOST = OutcomeUnknown("lost", draft_id="draft_of_another")


@pytest.mark.parametrize(
    ("error", "times", "keyed", "broken"),
    [
        (LOST, 0, True, "has a key, and no draft"),
        (LOST, 1, False, "has draft_of_another, not"),
        (BadRequest("no"), 1, False, "not known"),
        (None, 2, False, "staged twice"),
        (None, 0, False, "the server does not"),
    ],
)
def test_books_that_differ_are_reported(books, draft, error, times, keyed, broken) -> None:
    say(books, draft, error)
    books.balance([staged(draft)] * times, keyed=keyed)
    assert broken in books.broken[0]


def test_draft_that_differs_is_reported(books, draft) -> None:
    say(books, draft)
    books.balance([staged(draft, diff={"field": "another"})], keyed=False)
    assert len(books.broken) == 1


def test_foreign_error_is_reported(books) -> None:
    say(books, error=RuntimeError("oops"))
    with books.read(2, ["a"]):
        raise RuntimeError("oops")
    assert ["oops" in rule for rule in books.broken] == [True, True]


def test_incomplete_listing_is_reported(books) -> None:
    with books.read(1, ["a", "b"]) as said:
        said.answer = ["a"]
    with books.read(2, ["a", "b"]):
        raise BadRequest("no")
    assert books.broken == ["call 1: the listing is not the whole one"]


def test_leaked_resources_are_reported() -> None:
    before = Held(descriptors=8, threads=1, objects=1000, memory=50.0)
    assert before.more_than(before) == []
    assert Held(9, 1, 1100, 60.0).more_than(before) == ["descriptors: 8 became 9"]
    assert len(Held(9, 2, 2000, 90.0).more_than(before)) == 4
