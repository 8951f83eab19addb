"""What a notebook shows, in Chromium: accessible in light and dark pages, narrow and wide."""

import inspect
import runpy
from pathlib import Path

import attrs
import pytest
from chromium import emulated, violations

import adclient
from adclient import AdClient, AsyncAdClient, AsyncPage, Diff
from adclient._show.records import Shown
from adclient.ledger import SQLiteLedger
from adclient.plan import Plan
from adclient.policy import Policy
from adclient.testing import FakeAdService

PICTURES = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "make_notebook_pictures.py"))
LONG = "x" * 500
PLAN = f"""
id = "w47"
[[change]]
call = "beta.pause_campaign"
account_id = "account_b204"
campaign_id = "campaign_57a7"
why = "{LONG}"
"""


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> list[Shown]:
    """Values of each class that a notebook shows as HTML, and some with long texts."""
    folder = tmp_path_factory.mktemp("cards")
    (folder / "plan.toml").write_text(PLAN, "utf-8")
    plan, ledger = Plan.read(folder / "plan.toml"), SQLiteLedger(folder / "cards.db")
    policy = Policy(operations=["beta.*", "gamma.*", "delta.*"], drafts_per_day=20)
    with FakeAdService().client(policy=policy, ledger=ledger) as client:
        page = client.gamma.list_ads(account_id="account_c3d8")
        draft = client.delta.update_keyword(
            account_id="account_d118", keywords=["outdoor jacket"], fields={"action": "PAUSE"}
        )
        with pytest.raises(adclient.NotFound) as caught:
            client.beta.pause_campaign(account_id="account_b204", campaign_id=LONG)
        reports = [plan.check(policy), plan.stage(client)]
        profile = client.delta.infer_business_profile(account_id="account_d118").data[0]
    long = [{"name": LONG, "a": LONG}]
    return [
        *(page, page),  # as by two cells
        *(AsyncPage(data=page.data, next="c2"), AsyncPage(data=())),
        *(adclient.Items(page.data), page.data[0], profile),
        *(draft, draft.diff, Diff(field=LONG, before=long, after=[{"name": LONG, "a": 1}])),
        attrs.evolve(draft, draft_id=LONG, status=LONG, response=adclient.ResponseInfo()),
        *(caught.value, adclient.BadRequest(LONG, code=LONG, status=400)),
        *(policy, Policy(), *reports, ledger.entries(), *ledger.entries()),
        *(client, AsyncAdClient("https://ads.example.com")),
        AdClient(f"https://ads.example.com/{LONG}"),
    ]


def test_values_of_every_class_are_shown(shown) -> None:
    classes = filter(inspect.isclass, (getattr(adclient, name) for name in adclient.__all__))
    of_cards = {cls for cls in classes if "_show" in vars(cls)}
    assert of_cards - {cls for value in shown for cls in type(value).__mro__} == set()


@pytest.mark.parametrize(("width", "theme"), [(390, "dark"), (1280, "light")])
def test_cards_are_accessible_and_fit_their_window(chromium, tmp_path, shown, theme, width) -> None:
    ground, ink = PICTURES["THEMES"][theme]
    style = f"body {{ background: {ground}; color: {ink}; font: 13px system-ui }} {PICTURES['LAB']}"
    cards = "".join(f"<div>{value._repr_html_()}</div>" for value in shown)
    head = f"<html lang=en><meta charset=utf-8><title>Cards</title><style>{style}</style>"
    page = tmp_path / "page.html"
    page.write_text(f"<!doctype html>{head}<main><h1>Cards</h1>{cards}</main>", "utf-8")
    with emulated(chromium, width=width, scheme=theme):
        chromium.get(page.as_uri())
        assert chromium.execute_script("return document.documentElement.scrollWidth") <= width
        assert violations(chromium) == []
