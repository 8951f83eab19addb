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


def test_draft_known_to_both_sides_is_accepted(books, draft) -> None:
    say(books, draft)
    books.balance([staged(draft)], keyed=True)
    assert books.broken == []


@pytest.mark.parametrize("named", [None, "own"])
def test_unknown_outcome_with_or_without_a_draft_is_accepted(books, draft, named) -> None:
    draft_id = draft.draft_id if named else None
    say(books, error=OutcomeUnknown("lost", draft_id=draft_id))
    say(books, error=OutcomeUnknown("lost"), caller=2)
    books.balance([staged(draft)], keyed=False)
    books.balance([], keyed=False)
    assert books.broken == []


def test_late_draft_of_a_cancelled_call_is_accepted(books, draft) -> None:
    with pytest.raises(KeyboardInterrupt):
        say(books, error=KeyboardInterrupt())
    books.balance([], keyed=False)
    books.balance([staged(draft)], keyed=False)
    assert books.broken == []


def test_unknown_outcome_with_a_key_is_reported(books, draft) -> None:
    say(books, error=OutcomeUnknown("lost"))
    say(books, error=OutcomeUnknown("lost"), caller=2)
    say(books, draft)
    books.balance([staged(draft)], keyed=True)
    assert books.broken == ["call 2 has a key, and no draft"]


def test_draft_unknown_to_its_caller_is_reported(books, draft) -> None:
    say(books, error=BadRequest("no"))
    books.balance([staged(draft)], keyed=False)
    assert "not known" in books.broken[0]


@pytest.mark.parametrize("balanced_between", [False, True])
def test_draft_staged_twice_is_reported(books, draft, balanced_between) -> None:
    say(books, draft)
    if balanced_between:
        books.balance([staged(draft)], keyed=False)
        books.balance([staged(draft)], keyed=False)
    else:
        books.balance([staged(draft), staged(draft)], keyed=False)
    assert "staged twice" in books.broken[0]


def test_draft_missing_at_the_server_is_reported(books, draft) -> None:
    say(books, draft)
    books.balance([], keyed=False)
    assert "the server does not" in books.broken[0]


def test_draft_that_differs_from_the_callers_is_reported(books, draft) -> None:
    say(books, draft)
    books.balance([staged(draft, diff={"field": "another"})], keyed=False)
    say(books, error=OutcomeUnknown("lost", draft_id="draft_of_another"))
    books.balance([staged(draft)], keyed=False)
    assert len(books.broken) == 2


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
