"""The recipes that need nothing but adclient; tests/acceptance/test_recipes.py has the others."""

from pathlib import Path

from pages import ROOT, run_page

from adclient.testing import FakeAdService

HERE = Path(__file__).relative_to(ROOT).as_posix()
RECIPES = ROOT / "docs" / "recipes"


def test_plan_is_staged_once_and_its_outcomes_are_read(tmp_path: Path) -> None:
    fake = FakeAdService()
    test = f"{HERE}::test_plan_is_staged_once_and_its_outcomes_are_read"
    run_page(RECIPES / "pause-what-lost-money.md", tmp_path, fake, runner=test)
    assert [(draft.draft_id, draft.status) for draft in fake.drafts] == [
        ("draft_35ea", "applied"),
        ("draft_d421", "pending_approval"),
    ]
    writes = [request for request in fake.requests if request.method != "GET"]
    assert len(writes) == 2
