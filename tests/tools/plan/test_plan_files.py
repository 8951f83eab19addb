"""Files of plans: what they hold, and what is wrong with them."""

import pytest
from cases import each_case
from plans import FIRST, SECOND, budget, pause, plan_of

from adclient import ConfigurationError, Plan, Policy

ONE = 'id = "a"\n[[change]]\n'
PAUSE = ONE + 'call = "beta.pause_campaign"\n'
IDS = 'account_id = "a"\ncampaign_id = "c"\n'
SETS = ONE + 'call = "beta.create_video_campaign"\naccount_id = "a"\n'

# A file, the place of its problem, and what the error says about it.
BAD = [
    ('title = "x"\n', "", "expected id to be letters, digits and ._/-, at most 80"),
    ("id = 5\n", "", "expected id to be"),
    ('id = "a:b"\n', "", "expected id to be"),
    (f'id = "{"a" * 81}"\n', "", "expected id to be"),
    ('id = "a"\ntitle = 5\n', "", "expected title to be a string"),
    ('id = "a"\ntilte = "x"\n', "", "tilte is not a key here: did you mean title?"),
    ('id = "a"\n', "", r"expected a table \[\[change\]\] for each change"),
    ('id = "a"\nchange = [5]\n', ", change 1", r"expected a table \[\[change\]\]"),
    ('id = "a"\n[change]\ncall = "x"\n', "", r"expected a table \[\[change\]\]"),
    (ONE, ", change 1", r"expected call to be one of alpha\.update_campaign_targeting, "),
    (ONE + 'call = "beta.list_campaigns"\n', ", change 1", "expected call to be one of"),
    (ONE + 'call = "beta.approve"\n', ", change 1", "expected call to be one of"),
    (PAUSE + 'account_id = "a"\n', ", change 1", "campaign_id must be a non-empty str, got None"),
    (PAUSE + IDS + 'campain_id = "a"\n', ", change 1", "did you mean campaign_id?"),
    (PAUSE + IDS + "daily_budget = 5\n", ", change 1", "daily_budget is not a key here"),
    (PAUSE + IDS + '"a\\n\\u202eb" = 5\n', ", change 1", r"a\\n\\u202eb is not a key here"),
    (
        PAUSE + 'account_id = ""\ncampaign_id = "c"\n',
        ", change 1",
        "account_id must be a non-empty str, got",
    ),
    (
        PAUSE + 'account_id = "a"\ncampaign_id = 5\n',
        ", change 1",
        "campaign_id must be a non-empty str, got",
    ),
    (PAUSE + IDS + "why = 5\n", ", change 1", "expected why to be a string"),
    (PAUSE + IDS + "expect = nan\n", ", change 1", "expect: expected a finite number, got NaN"),
    (
        PAUSE + IDS + "expect = 2026-11-23\n",
        ", change 1",
        "expect: expected a JSON value, got date",
    ),
    (SETS, ", change 1", "fields must be"),
    (SETS + 'fields = "x"\n', ", change 1", "fields must be a mapping, "),
    (SETS + "fields = { a = { b = inf } }\n", ", change 1", "fields.a.b: expected a finite number"),
    (
        SETS + "[change.fields]\na = 1\nb = 1979-05-27T07:32:00Z\n",
        ", change 1",
        "fields.b: expected a JSON",
    ),
    (f'id = "a"{budget("true")}', ", change 1", "daily_budget must be a finite number"),
    (f'id = "a"{pause()}{pause(SECOND)}{pause()}', ", change 3", "this is the same as change 1"),
]


@each_case(("text", "place", "problem"), BAD)
def test_file_that_cannot_be_meant_is_refused_with_the_change(
    tmp_path, text, place, problem
) -> None:
    path = tmp_path / "changes.toml"
    path.write_bytes(text.encode(errors="surrogateescape"))
    message = rf"changes\.toml{place}: .*{problem}"
    with pytest.raises(ConfigurationError, match=message) as bad:
        Plan.read(path)
    assert "\n" not in str(bad.value)


def test_file_is_read_as_editors_write_it(tmp_path) -> None:
    path = tmp_path / "changes.toml"
    text = f'id = "2026-w47/budgets"\ntitle = "Größer"\n{pause()}'.replace("\n", "\r\n")
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    plan = Plan.read(path)
    assert (plan.id, plan.title, len(plan.changes)) == ("2026-w47/budgets", "Größer", 1)
    assert repr(plan) == "<Plan 2026-w47/budgets, 1 changes>"


def test_key_of_a_change_is_that_of_earlier_versions(tmp_path) -> None:
    """Otherwise a plan that was staged by one would be staged again."""
    changes = plan_of(tmp_path, pause(), budget("120.5"), budget("0.12345678901234567890")).changes
    keys = [change.key for change in changes]
    assert keys[:2] == [
        "w47:37d8c76b819147031f6fd414155e8339",
        "w47:99156f193381bcc6bf1175e7286d26a1",
    ]
    assert keys[2] != keys[1]  # another change, as an edited one is
    assert changes[2].call.encoded["daily_budget"] == "0.12345678901234567890"


def test_change_is_the_same_wherever_and_however_it_is_written(tmp_path) -> None:
    create = '[[change]]\ncall = "beta.create_video_campaign"\naccount_id = "a"\n'
    one = create + "fields = { a = 1, b = { c = 2, d = 3 } }\n"
    other = create + 'why = "x"\nexpect = 5\n[change.fields]\nb.d = 3\nb.c = 2\na = 1\n'
    before = plan_of(tmp_path, one, pause()).changes
    after = plan_of(tmp_path, pause(), other).changes
    assert [change.key for change in after] == [change.key for change in reversed(before)]


def test_check_names_what_the_policy_refuses(tmp_path) -> None:
    plan = plan_of(tmp_path, pause(), budget("999", 'why = "Spring"'))
    report = plan.check(Policy(operations=["beta.*", "alpha.*"], money={"daily_budget": 150}))
    assert [change.verdict for change in report.changes] == ["allowed", "refused"]
    assert report.exit_code == 3
    assert str(report).splitlines() == [
        "Plan w47: 1 refused, 1 allowed",
        "  2  refused  alpha.update_campaign_budget · account_a91f campaign_4c10 · "
        "→ {daily_budget: 999} · daily_budget is 999, and money allows 0 to 150 · Spring",
        f"  1  allowed  beta.pause_campaign · account_b204 {FIRST}",
    ]
    assert plan.check().exit_code == 0
    with pytest.raises(ConfigurationError, match="policy must be a Policy"):
        plan.check({"accounts": []})
