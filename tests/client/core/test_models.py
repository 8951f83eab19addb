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
from hypothesis import given, strategies as st

import adclient
from adclient._core.jsontext import loads
from adclient.models import (
    Ad,
    BusinessProfile,
    Campaign,
    CreativeFatigue,
    Diff,
    Draft,
    Item,
    Objective,
    ResponseInfo,
    TargetingOption,
    WastedSpend,
)

KINDS = [Ad, BusinessProfile, Campaign, CreativeFatigue, Objective, TargetingOption, WastedSpend]
RESPONSE = ResponseInfo(
    status=201, headers={"x-request-id": "r"}, request_id="r", attempts=2, elapsed=0.5
)


def diff_of(before, after, **extra):
    return Diff(field="daily_budget", before=before, after=after, extra=extra)


def draft_of(before=100, after=120, **changes):
    values = {
        "draft_id": "draft_7c2e",
        "status": "pending_approval",
        "diff": diff_of(before, after),
        "requires": "human_two_step_approve",
    }
    return Draft(**{**values, **changes})


def item_of(cls, **changes):
    return cls(**{"id": "a", "name": "Spring", "status": "ENABLED", **changes})


EVERY = [draft_of(response=RESPONSE), diff_of([1, {"a": None}], "x", more=1), RESPONSE] + [
    item_of(cls, extra={"spend": Decimal("1.50"), "tags": ["x"]}) for cls in KINDS
]


class TestChange:
    @each_case(
        ("before", "after", "change", "percent"),
        [
            (100, 120, 20, 20.0),
            (100, 100, 0, 0.0),
            (-100, -50, 50, 50.0),
            (0, 5, 5, None),
            (0.1, 0.3, 0.2, 200.0),
            (1.1, 1.2, 0.1, 100 / 11),
            (19.99, 20, 0.01, 1 / 19.99),
            (Decimal("0.10"), Decimal("0.30"), Decimal("0.20"), 200.0),
            (Decimal("1.1"), 1.2, Decimal("0.1"), 100 / 11),
            (10**30, 10**30 + 1, 1, 1e-28),
            (9007199254740993, 0.5, Decimal("-9007199254740992.5"), -100.0),
            (0.1, 2**53 + 1, Decimal("9007199254740992.9"), 9.007199254740994e18),
            (-1e308, 1e308, Decimal("2E+308"), 200.0),
            (Decimal(10**30), Decimal("1" + "0" * 30 + ".5"), Decimal("0.5"), 5e-29),
        ],
    )
    def test_change_of_numbers_has_no_float_noise(self, before, after, change, percent):
        diff = diff_of(before, after)
        assert diff.change == change
        assert type(diff.change) is type(change)
        assert diff.percent == (None if percent is None else pytest.approx(percent))

    @each_case(
        ("before", "after"),
        [
            (None, 120),
            (100, None),
            ("100", "120"),
            (0, False),
            ([1], [2]),
            (float("nan"), 1),
            (1, float("inf")),
            (Decimal("Infinity"), 1),
        ],
    )
    def test_change_of_other_values_is_none(self, before, after):
        assert diff_of(before, after).change is None
        assert diff_of(before, after).percent is None

    @pytest.mark.parametrize("before", [1e300, Decimal("1e300"), 10**300])
    def test_change_that_is_not_exact_in_60_digits_is_none(self, before):
        assert diff_of(before, 0.5).change is None
        assert diff_of(before, 0.5).percent == -100

    @given(st.decimals(-(10**9), 10**9, places=2), st.decimals(-(10**9), 10**9, places=2))
    def test_change_of_decimals_is_exact(self, before, after):
        assert diff_of(before, after).change == after - before
        assert diff_of(float(before), float(after)).change == float(after - before)

    @each_case(
        ("before", "after"),
        [
            (Decimal("1e1000000"), Decimal(5)),
            (Decimal("1e999999999999"), Decimal("-1e999999999999")),
            (Decimal("1e-999999999999"), Decimal(1)),
            (Decimal("1e400"), 1.5),
            (-1e308, 1e308),
            (-(10**4300 - 1), 10**4300 - 1),
            (5e-324, 1e308),
        ],
    )
    def test_change_of_huge_numbers_is_quick_and_finite(self, before, after):
        diff = diff_of(before, after)
        assert diff.change is None or Decimal(diff.change).is_finite()
        assert diff.percent is None or math.isfinite(diff.percent)
        assert_one_line(repr(diff))
        assert len(diff._repr_html_()) < 2000

    def test_change_ignores_the_caller_s_decimal_context(self):
        diff = diff_of(Decimal("123.456"), Decimal("124.456"))
        expected = (diff.change, diff.percent, repr(diff), diff._repr_html_())
        traps = [decimal.Inexact, decimal.Rounded, decimal.FloatOperation]
        with decimal.localcontext(decimal.Context(prec=2, traps=traps)):
            assert (diff.change, diff.percent, repr(diff), diff._repr_html_()) == expected
        assert diff.change == Decimal("1.000")
        assert diff.percent == pytest.approx(100 / 123.456)


class TestValues:
    @each_case("value", EVERY)
    def test_values_are_frozen(self, value):
        name = attrs.fields(type(value))[0].name
        with pytest.raises(AttributeError):
            setattr(value, name, "x")
        with pytest.raises(AttributeError):
            value.something_else = "x"
        assert not hasattr(value, "__dict__")

    @each_case("value", EVERY)
    def test_values_have_a_hash_and_a_short_repr(self, value):
        assert len({value, copy.deepcopy(value)}) == 1
        assert_one_line(repr(value))
        assert repr(value).startswith(f"<{type(value).__name__} ")

    def test_response_is_not_in_equality_or_repr(self):
        assert repr(RESPONSE) == "<ResponseInfo 201, attempt 2, 0.500 s>"
        assert draft_of(response=RESPONSE) == draft_of()
        assert hash(draft_of(response=RESPONSE)) == hash(draft_of())
        assert repr(draft_of(response=RESPONSE)) == repr(draft_of())

    @pytest.mark.parametrize(
        "change", [{"draft_id": "x"}, {"status": "x"}, {"requires": "x"}, {"extra": {"a": 1}}]
    )
    def test_drafts_with_a_different_field_are_not_equal(self, change):
        assert draft_of(**change) != draft_of()

    def test_items_of_different_kinds_are_not_equal(self):
        assert item_of(Campaign) != item_of(Ad)
        assert len({item_of(cls) for cls in KINDS}) == len(KINDS)
        assert all(issubclass(cls, Item) for cls in KINDS)

    @each_case("cls", KINDS)
    def test_fields_without_default_are_required(self, cls):
        values = {"id": "a", "name": "b", "status": "c"}
        for missing in ("id", "name", "status") if cls in (Campaign, Ad) else ("id",):
            with pytest.raises(TypeError):
                cls(**{name: value for name, value in values.items() if name != missing})

    def test_constants_are_those_of_the_interface(self):
        assert DRAFT["status"] == adclient.PENDING_APPROVAL
        assert DRAFT["requires"] == adclient.HUMAN_TWO_STEP_APPROVE
        assert (adclient.ENABLED, adclient.LAST_30_DAYS) == ("ENABLED", "LAST_30_DAYS")


class TestToDict:
    def test_to_dict_is_json(self):
        assert json.loads(json.dumps(draft_of().to_dict())) == DRAFT

    def test_changed_to_dict_leaves_the_value_unchanged(self):
        extra = {"list": [{"a": 1}]}
        values = [draft_of(extra=extra), item_of(Ad, extra=extra), diff_of({"a": [1]}, 2, **extra)]
        for value in values:
            given = value.to_dict()
            given["list"][0]["a"] = 2
            given["list"].append(3)
            assert value.to_dict()["list"] == [{"a": 1}]
        before = values[-1].to_dict()["before"]
        before["a"].append(2)
        assert values[-1].before == {"a": [1]}

    def test_to_dict_omits_missing_fields(self):
        assert Objective(id="a").to_dict() == {"id": "a"}
        assert Objective(id="a", extra={"name": None}).to_dict() == {"id": "a", "name": None}


class TestExtraFields:
    def test_attribute_error_says_how_to_read_a_field_that_was_sent(self):
        campaign = item_of(Campaign, extra={"spend": 12.5})
        with pytest.raises(AttributeError, match=r"use extra.*, or page\.typed") as sent:
            campaign.spend  # noqa: B018  the access is what is tested
        assert (sent.value.name, sent.value.obj) == ("spend", campaign)
        with pytest.raises(AttributeError, match="and the service sent no such field"):
            campaign.spent  # noqa: B018
        for name in ("_spend", "__spend__"):
            with pytest.raises(AttributeError, match=f"no attribute '{name}'$"):
                getattr(campaign, name)

    def test_error_of_a_property_of_the_caller_is_raised_as_it_is(self):
        @attrs.frozen(kw_only=True)
        class Costed(Campaign):
            @property
            def cost(self):
                return self.costs

        with pytest.raises(AttributeError, match="Costed has no attribute 'costs'"):
            _ = Costed(id="c", name="n", status="s").cost


class TestRepr:
    def test_repr_of_a_draft_contains_staged_and_no_word_for_a_change(self):
        assert repr(draft_of()) == (
            "<Draft draft_7c2e, daily_budget: 100 → 120, staged, waiting for approval>"
        )
        for word in ("updated", "paused", "created", "applied"):
            assert word not in repr(draft_of())
            assert word not in draft_of()._repr_html_()

    def test_repr_of_a_draft_shows_an_unknown_status(self):
        draft = draft_of(status="auto_approved")
        assert "auto_approved" in repr(draft)
        assert "auto_approved" in draft._repr_html_()
        assert "waiting for approval" not in repr(draft)

    def test_repr_of_a_diff_shows_before_and_after(self):
        assert repr(diff_of(None, True)) == "<Diff daily_budget: null → true>"
        assert repr(diff_of([], {"a": 1})) == "<Diff daily_budget: [] → —, daily_budget.a: — → 1>"

    def test_repr_of_an_item_has_id_name_and_status(self):
        assert repr(item_of(Campaign)) == "<Campaign a, Spring, ENABLED>"
        assert repr(Objective(id="a")) == "<Objective a>"
        assert repr(Objective(id="a", status="ENABLED")) == "<Objective a, ENABLED>"
        assert (
            repr(item_of(Campaign, extra={"x": 1}))
            == "<Campaign a, Spring, ENABLED, 1 extra field>"
        )
        assert repr(Objective(id="a", extra={"name": None, "x": 1, "y": 2})) == (
            "<Objective a, 2 extra fields>"
        )

    @pytest.mark.parametrize(
        "value", ["x\n" * 10_000, ["x"] * 10_000, {str(i): i for i in range(10_000)}]
    )
    def test_repr_of_large_values_is_bounded(self, value):
        draft = draft_of(value, value, draft_id="d" * 10_000, status="s" * 10_000)
        assert_one_line(repr(draft))
        assert_one_line(repr(item_of(Ad, id="i" * 10_000, name="n" * 10_000, extra={"a": value})))

    @pytest.mark.parametrize("depth", [95])
    def test_deep_value_can_be_shown_and_returned(self, depth):
        body = json.dumps(DRAFT).replace("100", "[" * depth + "]" * depth).encode()
        draft = structure(loads(body), Draft)
        assert_one_line(repr(draft))
        assert draft._repr_html_()
        assert draft.to_dict()["diff"]["after"] == 120


class TestHTML:
    SCRIPT = "<script>alert('x')</script>&\""

    @each_case(
        "value",
        [
            draft_of(SCRIPT, {SCRIPT: [SCRIPT]}, draft_id=SCRIPT, status=SCRIPT, requires=SCRIPT),
            Diff(field=SCRIPT, before=SCRIPT, after=[SCRIPT]),
            item_of(Ad, id=SCRIPT, name=SCRIPT, status=SCRIPT, extra={SCRIPT: {SCRIPT: SCRIPT}}),
        ],
    )
    def test_html_is_escaped_and_fetches_nothing(self, value):
        html = value._repr_html_()
        assert "&lt;script&gt;" in html
        # The page sets the colours, so a card fits light and dark themes.
        for part in ("http", "src=", "href=", "url(", "<script", "<img", "color:", "background"):
            assert part not in html

    def test_html_of_a_draft_has_state_call_requirement_and_change(self):
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
        assert "operation" not in draft_of()._repr_html_()
        assert ">5</strong></td>" in draft_of(None, 5)._repr_html_()
        assert ">+5</span></td>" in draft_of(0, 5)._repr_html_()
        assert ">unchanged<" in draft_of(1, 1)._repr_html_()

    def test_html_is_bounded(self):
        html = item_of(Ad, extra={f"field {i}": "x" * 1000 for i in range(1000)})._repr_html_()
        assert len(html) < 10_000
        assert "more rows are not shown" in html
