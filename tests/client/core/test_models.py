"""Drafts, items and pages as values, and how they are shown."""

import copy
import decimal
import json
import math
import re
from decimal import Decimal

import attrs
import pytest
from cases import each_case
from core_helpers import DRAFT, assert_one_line, structure

from adclient import AsyncPage, Items, NotFound, Page, models
from adclient._values.jsontext import loads
from adclient.conform import ConformReport
from adclient.doctor import Report
from adclient.ledger import Entry
from adclient.models import Ad, Campaign, Diff, Draft, Item, Objective, ResponseInfo
from adclient.plan import PlannedChange, PlanReport

D = Decimal
KINDS = [Ad, Campaign, Objective, models.BusinessProfile, models.CreativeFatigue]
KINDS += [models.TargetingOption, models.WastedSpend]
RESPONSE = ResponseInfo(
    status=201, headers={"x-request-id": "r"}, request_id="r", attempts=2, elapsed=0.5
)


def diff_of(before, after, **extra):
    return Diff(field="daily_budget", before=before, after=after, extra=extra)


def draft_of(before=100, after=120, **changes):
    return Draft(**{**DRAFT, "diff": diff_of(before, after), **changes})


def item_of(cls, **changes):
    return cls(**{"id": "a", "name": "Spring", "status": "ENABLED", **changes})


# Changes of numbers.


@each_case(
    ("before", "after", "change", "percent"),
    *[(100, 120, 20, 20.0), (100, 100, 0, 0.0), (-100, -50, 50, 50.0), (0, 5, 5, None)],
    *[(0.1, 0.3, 0.2, 200.0), (1.1, 1.2, 0.1, 100 / 11), (19.99, 20, 0.01, 1 / 19.99)],
    *[(D("0.10"), D("0.30"), D("0.20"), 200.0), (D("1.1"), 1.2, D("0.1"), 100 / 11)],
    (10**30, 10**30 + 1, 1, 1e-28),
    (9007199254740993, 0.5, D("-9007199254740992.5"), -100.0),
    (-1e308, 1e308, D("2E+308"), 200.0),
    # No change that is exact in 60 digits.
    *[(before, 0.5, None, -100) for before in (1e300, D("1e300"), 10**300)],
    *[(None, 120, None, None), (100, None, None, None), ("100", "120", None, None)],
    *[(0, False, None, None), ([1], [2], None, None), (float("nan"), 1, None, None)],
    *[(1, float("inf"), None, None), (D("Infinity"), 1, None, None)],
)
def test_change_of_numbers_has_no_float_noise_and_else_is_none(before, after, change, percent):
    diff = diff_of(before, after)
    assert diff.change == change
    assert type(diff.change) is type(change)
    assert diff.percent == (None if percent is None else pytest.approx(percent))


@each_case(
    ("before", "after"),
    *[(D("1e1000000"), D(5)), (D("1e999999999999"), D("-1e999999999999"))],
    *[(D("1e-999999999999"), D(1)), (D("1e400"), 1.5), (-1e308, 1e308), (5e-324, 1e308)],
    (-(10**4300 - 1), 10**4300 - 1),
)
def test_change_of_huge_numbers_is_quick_and_finite(before, after):
    diff = diff_of(before, after)
    assert diff.change is None or D(diff.change).is_finite()
    assert diff.percent is None or math.isfinite(diff.percent)
    assert_one_line(repr(diff))
    assert len(diff._repr_html_()) < 2000


def test_change_ignores_the_caller_s_decimal_context():
    diff = diff_of(D("123.456"), D("124.456"))
    expected = (diff.change, diff.percent, repr(diff), diff._repr_html_())
    traps = [decimal.Inexact, decimal.Rounded, decimal.FloatOperation]
    with decimal.localcontext(decimal.Context(prec=2, traps=traps)):
        assert (diff.change, diff.percent, repr(diff), diff._repr_html_()) == expected
    assert diff.change == D("1.000")
    assert diff.percent == pytest.approx(100 / 123.456)


# Values.


def test_equality_is_that_of_the_fields_without_the_response():
    assert repr(RESPONSE) == "<ResponseInfo 201, attempt 2, 0.500 s>"
    same = draft_of(response=RESPONSE)
    assert (same, hash(same), repr(same)) == (draft_of(), hash(draft_of()), repr(draft_of()))
    for change in ({"draft_id": "x"}, {"status": "x"}, {"requires": "x"}, {"extra": {"a": 1}}):
        assert draft_of(**change) != draft_of()
    assert item_of(Campaign) != item_of(Ad)
    assert len({item_of(cls) for cls in KINDS}) == len(KINDS)
    assert all(issubclass(cls, Item) for cls in KINDS)


def test_to_dict_is_json_without_missing_fields_and_shares_nothing():
    assert json.loads(json.dumps(draft_of().to_dict())) == DRAFT
    assert Objective(id="a").to_dict() == {"id": "a"}
    assert Objective(id="a", extra={"name": None}).to_dict() == {"id": "a", "name": None}
    extra = {"list": [{"a": 1}]}
    values = [draft_of(extra=extra), item_of(Ad, extra=extra), diff_of({"a": [1]}, 2, **extra)]
    for value in values:
        given = value.to_dict()
        given["list"][0]["a"] = 2
        given["list"].append(3)
        assert value.to_dict()["list"] == [{"a": 1}]
    values[-1].to_dict()["before"]["a"].append(2)
    assert values[-1].before == {"a": [1]}
    page = Page(data=(item_of(Ad, extra=extra),), next={"after": 1}, extra={"page": {"x": [1]}})
    given, before = page.to_dict(), copy.deepcopy(page)
    given["page"]["next"]["after"] = 2
    given["page"]["x"].append(given["data"][0]["list"].pop())
    assert page == before


def test_to_json_keeps_all_digits():
    text = '{"id":"a","rate":0.014492753623188405797,"count":12345678901234567890123}'
    values = loads(text.encode())
    item = Objective(id=values.pop("id"), extra=values)
    page = Page(data=Items([item], account_id="b"), next=None)
    assert item.to_json() == text
    assert page.to_json() == f'{{"data":[{text}],"page":{{"next":null}}}}'
    assert page.data.to_json() == f'[{{"account_id":"b",{text[1:]}]'
    assert json.loads(draft_of().to_json()) == DRAFT
    reports = (Entry, PlannedChange, PlanReport, Report, ConformReport)
    assert {cls.to_json for cls in reports} == {Draft.to_json}
    with pytest.raises(ValueError, match=r"^Diff\.before: expected a finite number, got nan$"):
        diff_of(math.nan, 1).to_json()


# How they are shown.


def test_error_of_a_property_of_the_caller_is_raised_as_it_is():
    @attrs.frozen(kw_only=True)
    class Costed(Campaign):
        @property
        def cost(self):
            return self.costs

    with pytest.raises(AttributeError, match="Costed has no attribute 'costs'"):
        _ = Costed(id="c", name="n", status="s").cost


@each_case(
    ("value", "text"),
    (draft_of(), "<Draft draft_7c2e, daily_budget: 100 -> 120, staged, waiting for approval>"),
    (
        draft_of(extra={"warnings": ["x"], "cost": 1}, response=ResponseInfo(target_id="c_1")),
        "<Draft draft_7c2e of c_1, daily_budget: 100 -> 120, staged, waiting for approval; "
        "also sent: warnings, cost>",
    ),
    (diff_of([], {"a": 1}), "<Diff daily_budget: [] -> —, daily_budget.a: — -> 1>"),
    (Objective(id="a", status="ENABLED"), "<Objective a, ENABLED>"),
    (item_of(Campaign, extra={"x": 1}), "<Campaign a, Spring, ENABLED, 1 extra field>"),
)
def test_repr_names_what_a_value_is(value, text):
    assert repr(value) == text


def test_deep_value_can_be_shown_and_returned():
    body = json.dumps(DRAFT).replace("100", "[" * 95 + "]" * 95).encode()
    draft = structure(loads(body), Draft)
    assert_one_line(repr(draft))
    assert draft._repr_html_()
    assert draft.to_dict()["diff"]["after"] == 120


SCRIPT = "<script>alert('x')</script>&\""


@each_case(
    "value",
    draft_of(SCRIPT, {SCRIPT: [SCRIPT]}, draft_id=SCRIPT, status=SCRIPT, requires=SCRIPT),
    Diff(field=SCRIPT, before=SCRIPT, after=[SCRIPT]),
    item_of(Ad, id=SCRIPT, name=SCRIPT, status=SCRIPT, extra={SCRIPT: {SCRIPT: SCRIPT}}),
    Page(data=(item_of(Campaign, id=SCRIPT, name=SCRIPT, extra={SCRIPT: SCRIPT}),)),
)
def test_html_is_escaped_and_fetches_nothing(value):
    html = value._repr_html_()
    assert "&lt;script&gt;" in html
    # The page sets the colours, and changes only tint its ground, so a card fits all themes.
    for part in ("http", "src=", "href=", "url(", "<script", "<img", "color:", "background:#"):
        assert part not in html


def test_card_of_an_error_begins_with_its_sentence():
    sentence = f"beta.list_campaigns: 404 {'no such account, ' * 10}"
    text = re.sub("<.*?>", "", NotFound(f"{sentence}!", status=404)._repr_html_())
    assert text == f"{sentence}! NotFoundstatus404"


def test_html_of_a_draft_has_state_call_requirement_and_change():
    response = ResponseInfo(operation="a.b", account_id="account_1", target_id="campaign_1")
    html = draft_of(1, 2, response=response)._repr_html_()
    rows = re.findall(r"<tr><th.*?>(.*?)</th><td.*?>(.*?)</td></tr>", html)
    assert [(name, re.sub(r"<.*?>", "", value)) for name, value in rows] == [
        ("operation", "a.b"),
        ("account", "account_1"),
        ("target", "campaign_1"),
        ("requires", "human_two_step_approve"),
        ("daily_budget", "1 → 2 +1 (+100 %)"),
    ]
    assert "draft_7c2e" in html
    assert "staged, waiting for approval" in html
    unknown = draft_of(status="auto_approved")._repr_html_()
    assert "auto_approved" in unknown
    assert "waiting for approval" not in unknown
    assert "operation" not in unknown
    assert ">5</ins></td>" in draft_of(None, 5)._repr_html_()
    assert ">+5</span></td>" in draft_of(0, 5)._repr_html_()
    assert ">unchanged<" in draft_of(1, 1)._repr_html_()


# Pages.

FIRST = item_of(Campaign, id="c1", extra={"spend": 1.5, "geo": {"in": ["DE"]}})
SECOND = item_of(Campaign, id="c2", status="PAUSED")


def test_page_has_no_length_and_no_index_and_is_always_true():
    with pytest.raises(TypeError, match=r"len\(page\.data\).*len\(page\.collect\(\)\)"):
        len(Page(data=(FIRST,)))
    for page in (Page(data=(FIRST,)), AsyncPage(data=(FIRST,))):
        with pytest.raises(TypeError, match=r"page\.data\[0\]"):
            page[0]
    assert Page(data=())


def test_page_is_shown_by_its_items_and_its_continuation():
    assert repr(Page(data=())) == "<Page of 0 × item, the last page>"
    assert repr(Page(data=(FIRST,), next={"a": 1})) == "<Page of 1 × Campaign, next={a: 1}>"
    response = ResponseInfo(operation="beta.list_campaigns", account_id="account_1")
    html = Page(data=(FIRST, SECOND), next="c2", response=response)._repr_html_()
    for column in ("id", "name", "status", "spend", "geo"):
        assert html.count(f">{column}</th>") == 1
    for part in ("1 page, and more follow", " · beta.list_campaigns<", " · account_1<"):
        assert part in html
    assert "1 page, the last one" in Page(data=(FIRST,))._repr_html_()
