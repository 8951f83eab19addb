"""Files of plans: what they hold, and what is wrong with them."""

import pytest
from cases import each_case
from plans import FIRST, SECOND, budget, pause, plan_of
from run_command import run_command

from adclient import ConfigurationError
from adclient.plan import Plan
from adclient.policy import Policy

ONE = 'id = "a"\n[[change]]\n'
BOTH = ONE + 'call = "beta.pause_campaign"\naccount_id = "a"\ncampaign_id = "c"\n'

# A file, the number of the change with its problem, and what the error says about it.
BAD = [
    ('title = "x"\n', 0, "expected id to be letters, digits and ._/-, at most 80"),
    ('id = "a:b"\n', 0, "expected id to be"),
    ('id = "a"\ntitle = 5\n', 0, "expected title to be a string"),
    ('id = "a"\ntilte = "x"\n', 0, "tilte is not a key here: did you mean title?"),
    ('id = "a"\nchange = [5]\n', 1, r"expected a table \[\[change\]\]"),
    ('id = "a"\n[change]\ncall = "x"\n', 0, r"expected a table \[\[change\]\]"),
    (ONE, 1, r"expected call to be one of alpha\.update_campaign_targeting, "),
    (BOTH.removesuffix('campaign_id = "c"\n'), 1, "campaign_id must be a non-empty str"),
    (BOTH + 'campain_id = "a"\n', 1, "did you mean campaign_id?"),
    (BOTH + '"a\\n\\u202eb" = 5\n', 1, r"a\\n\\u202eb is not a key here"),
    (BOTH + "why = 5\n", 1, "expected why to be a string"),
    (BOTH + "expect = nan\n", 1, "expect: expected a finite number, got NaN"),
    (f'id = "a"{pause()}{pause(SECOND)}{pause()}', 3, "this is the same as change 1"),
]


@each_case(("text", "number", "problem"), *BAD)
def test_file_that_is_wrong_is_refused_with_the_change(tmp_path, text, number, problem) -> None:
    path = tmp_path / "changes.toml"
    path.write_text(text)
    message = rf"changes\.toml(, line \d+)?{f', change {number}' if number else ''}: .*{problem}"
    with pytest.raises(ConfigurationError, match=message) as bad:
        Plan.read(path)
    assert "\n" not in str(bad.value)


IDS = {"account_id": "a", "campaign_id": "c"}
BUDGET = {"call": "alpha.update_campaign_budget", **IDS}
TARGETING = {"call": "alpha.update_campaign_targeting", **IDS, "targeting": {"geo": "DE"}}
KEYWORD = {"call": "delta.update_keyword", "account_id": "a"}
BIDS = [
    {**KEYWORD, "keywords": [*words], "fields": {"cpc_bid": bid, "match_type": kind, "ad_id": ad}}
    for words, bid, kind, ad in (("xy", 1, "E", 1), ("y", 2, "E", 1), ("y", 3, "B", 1), (*"y4E", 2))
]
NEW = {"call": "gamma.create_image_campaign", **IDS, "fields": {"name": "x"}}
NEW_AD = {"call": "gamma.create_dco_ad", "account_id": "a", "ad_id": "c", "fields": {"name": "x"}}
NO_ID = {"call": "alpha.update_creative", "account_id": "a"}


@each_case(
    ("one", "other", "problem"),
    ({**BUDGET, "daily_budget": 1}, {**BUDGET, "fields": {"daily_budget": 2}}, "daily_budget"),
    ({**BUDGET, "fields": {"a": {"b": 1}}}, {**BUDGET, "fields": {"a.b.c": 1}}, "a.b.c"),
    ({**BUDGET, "fields": {"a": {"b": 1}}}, {**BUDGET, "fields": {"a": {"c": 1}}}, None),
    (TARGETING, {**TARGETING, "targeting": {"age": 5}}, "targeting"),
    (TARGETING, {**BUDGET, "fields": {"targeting": {"age": 5}}}, "targeting.age"),
    (TARGETING, {**BUDGET, "campaign_id": "d", "fields": {"targeting": 1}}, None),
    *[(BIDS[0], BIDS[1], "cpc_bid"), *((BIDS[0], other, None) for other in BIDS[2:])],
    *[(new, {**new, "fields": {"name": "y"}}, None) for new in (NEW, NEW_AD)],
    ({**NO_ID, "creative_id": "c", "fields": {"a": 1}}, {**BUDGET, "fields": {"a": 2}}, None),
    ({**NO_ID, "fields": {"name": "x"}}, {**NO_ID, "fields": {"name": "y"}}, "name"),
)
def test_two_changes_that_set_one_value_are_refused(one, other, problem, tmp_path) -> None:
    if problem is None:
        assert Plan.of("w47", [one, other]).check().exit_code == 0
    else:
        text = f"change 2 of the plan sets {problem} to .*, and change 1 of the plan sets "
        with pytest.raises(ConfigurationError, match=f"^{text}"):
            Plan.of("w47", [one, other])
    paths = [str(tmp_path / name) for name in ("1.toml", "2.toml")]  # in several plans as well
    for path, change in zip(paths, (one, other), strict=True):
        Plan.of(path[-6:], [change]).write(path)
    ran = run_command("plan", "check", *paths)
    assert ran.code == (0 if problem is None else 2)
    assert (f"change 1 of {paths[1]} sets" in ran.err) is (problem is not None)


def test_key_of_a_change_is_that_of_earlier_versions(tmp_path) -> None:
    """Otherwise a plan that was staged by one would be staged again."""
    changes = plan_of(tmp_path, pause(), budget("120.5")).changes
    changes += plan_of(tmp_path, budget("0.12345678901234567890")).changes
    keys = [change.key for change in changes]
    assert keys[:2] == [
        "w47:37d8c76b819147031f6fd414155e8339",
        "w47:99156f193381bcc6bf1175e7286d26a1",
    ]
    assert keys[2] != keys[1]  # another change, as an edited one is
    assert changes[2].call.encoded["daily_budget"] == "0.12345678901234567890"


def test_check_names_what_the_policy_refuses(tmp_path) -> None:
    changes = pause(), budget("999", 'why = "Spring"')
    plan = plan_of(tmp_path, *changes, plan_id="2026-w47/budgets")
    assert repr(plan) == "<Plan 2026-w47/budgets, 2 changes>"
    report = plan.check(Policy(operations=["beta.*", "alpha.*"], money={"daily_budget": 150}))
    assert [change.verdict for change in report.changes] == ["allowed", "refused"]
    assert report.exit_code == 3
    assert repr(report) == "<PlanReport 2026-w47/budgets, 1 refused, 1 allowed>"
    assert str(report).splitlines() == [
        "Plan 2026-w47/budgets: 1 refused, 1 allowed",
        "  2  refused  alpha.update_campaign_budget · account_a91f, campaign_4c10 · "
        "daily_budget: 999 · daily_budget is 999, and money allows 0 to 150 · Spring",
        f"  1  allowed  beta.pause_campaign · account_b204, {FIRST}",
    ]
    assert plan.check().exit_code == 0
    with pytest.raises(ConfigurationError, match="policy must be a Policy"):
        plan.check({"accounts": []})
