"""Plans that are made in Python or read from files: of changes, or to revert another plan."""

from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory

import attrs
import pytest
from cases import each_case
from hypothesis import example, given, strategies as st
from plans import FIRST, SECOND, Team, budget, pause, plan_of, verdicts
from run_command import Ran, run_command

from adclient import ConfigurationError, Diff
from adclient.ledger import Entry
from adclient.plan import Plan
from adclient.policy import Policy
from adclient.testing import Fault

CAMPAIGN = {"account_id": "account_a91f", "campaign_id": "campaign_4c10"}
BUDGET = {"call": "alpha.update_campaign_budget", **CAMPAIGN}
TARGETING = {"call": "alpha.update_campaign_targeting", **CAMPAIGN}
THEMES = {"call": "delta.remove_auto_search_themes", "account_id": "account_d118"}

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
NUMBERS |= st.decimals(allow_nan=False, allow_infinity=False).filter(lambda n: abs(n) < 10**50)
VALUES = st.recursive(
    st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.dictionaries(TEXTS, VALUES, min_size=1, max_size=4)


@given(title=st.none() | TEXTS, fields=FIELDS, why=st.none() | TEXTS, expect=VALUES)
@example(title="'\"", fields={"": "\\", "a.b": '"""'}, why="\x7f\x00\u2028\r\n", expect="'''")
@example(title=None, fields={"call": 1e300, "#": -0.0}, why="\ufeff", expect=[[], {}, [{}]])
@example(title="", fields={"n": 10**40}, why="", expect="\x85\\u0041")
@example(title=None, fields={"n": 0}, why=None, expect=Decimal("1.0000000000000001"))
def test_plan_reads_back_as_it_was_written(title, fields, why, expect) -> None:
    change = {**BUDGET, "fields": fields, "why": why, "expect": expect}
    plan = Plan.of("w47", [change, THEMES], title=title)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "changes.toml"
        plan.write(path)
        read = Plan.read(path)
    assert read == plan
    assert [each.call.encoded for each in read.changes] == [c.call.encoded for c in plan.changes]
    assert repr(read.changes[0].expect) == repr(plan.changes[0].expect)
    assert Plan.of("w47", [each.to_dict() for each in read.changes], title=read.title) == plan


@each_case(
    ("changes", "problem"),
    (None, "expected changes to be a list, not NoneType"),
    ([THEMES, {**BUDGET, "daily_budgt": 5}], "did you mean daily_budget"),
    ([{**BUDGET, "fields": {"a": "\ud800"}}], "surrogate"),
    ([{**BUDGET, "fields": {"a": {1}}}], "expected a JSON value, got set"),
)
def test_changes_that_cannot_be_meant_are_refused(changes, problem) -> None:
    with pytest.raises(ConfigurationError, match=f"^the plan(, change [12])?: .*{problem}"):
        Plan.of("w47", changes)


@each_case("change", {**BUDGET, "fields": {"a": [None]}}, {**BUDGET, "expect": None})
def test_null_can_be_staged_but_not_written(change, tmp_path) -> None:
    plan = Plan.of("w47", [THEMES, change])
    assert plan.check().exit_code == 0
    with pytest.raises(ConfigurationError, match=r"^change 2: TOML has no null$"):
        plan.write(tmp_path / "changes.toml")
    assert not (tmp_path / "changes.toml").exists()


# Plans that revert another one.


@pytest.fixture
def team(tmp_path) -> Team:
    return Team(tmp_path)


def staged(team: Team, plan: Plan) -> list[str]:
    with team.fake.client(ledger=team.ledger) as client:
        return verdicts(plan.stage(client))


def approve(team: Team) -> None:
    for draft in team.fake.drafts:
        if draft.status == "pending_approval":
            team.fake.dashboard.approve(draft)


def test_plan_reverts_what_another_one_has_changed(team) -> None:
    renamed = {"fields": {"name": "Größer", "objective": "X"}}
    themes = {"targeting": {"include": {"and": []}}}
    plan = Plan.of("w47", [{**TARGETING, **themes}, {**BUDGET, "daily_budget": 120}])
    renamed["expect"] = {"rate": Decimal("1.0000000000000001")}
    other = Plan.of("w48", ({**BUDGET, **each} for each in [renamed]), title="T")
    other.write(team.folder / "other.toml")
    assert Plan.read(team.folder / "other.toml") == other
    assert other.title == "T"
    for each in (plan, other):
        staged(team, each)
        approve(team)
    before = [draft.diff.before for draft in team.fake.drafts]
    for each in (plan, other):
        back = Plan.revert(each.id, team.ledger.entries())
        back.write(team.folder / "back.toml")
        assert back.notes == ()
        assert set(staged(team, Plan.read(team.folder / "back.toml"))) == {"staged"}
        assert set(staged(team, back)) == {"already staged"}
    assert [draft.diff.after for draft in team.fake.drafts[3:]] == [before[1], before[0], before[2]]
    assert back.id == "w48-revert"
    assert back.changes[0].why == f"reverts draft {team.fake.drafts[2].draft_id}"


def test_second_reverting_plan_is_another_one(team) -> None:
    for amount, new_id in [("120", "w47-revert"), ("140", "w47-revert-2"), ("160", "w47-revert-3")]:
        team.stage(budget(amount))
        never_live = Plan.revert("w47", team.ledger.entries())
        assert never_live.id == new_id
        if new_id == "w47-revert-3":
            assert staged(team, never_live) == ["stale"]
            return
        approve(team)
        assert staged(team, Plan.revert("w47", team.ledger.entries())) == ["staged"]
        approve(team)


def entry(number: int = 1, **fields: object) -> Entry:
    usual = {"entry_id": str(number), "change": f"w47:{number}", "draft_id": f"draft_{number}"}
    usual |= {"operation": "alpha.update_campaign_budget", "account_id": "account_a91f"}
    usual |= {"arguments": {**CAMPAIGN, "daily_budget": 120}, "diff": diff(100, 120)}
    usual["state"] = "staged"
    return Entry(**{**usual, **fields})


def diff(before: object, after: object, field: str = "daily_budget") -> Diff:
    return Diff(field=field, before=before, after=after)


AFTER = {"name": "x", "end": 5}
BOTH = {**CAMPAIGN, "fields": AFTER}
KEYWORDS = {"operation": "delta.update_keyword"}
KEYWORDS |= {"arguments": {"account_id": "a", "keywords": ["shoes"]}}


@each_case(
    ("fields", "problem"),
    ({"state": "under way", "draft_id": None}, "perhaps a draft is not reverted: its outcome"),
    ({"state": "unknown"}, "draft draft_1 is not reverted: its outcome is unknown"),
    ({"diff": None}, "the ledger does not have its diff"),
    ({"over_limit": "much"}, "it was over a limit"),
    ({"operation": "beta.create_video_campaign"}, "what is created or removed"),
    ({"diff": diff(None, 1)}, "what is created or removed"),
    ({"diff": diff(1, None)}, "what is created or removed"),
    ({"diff": diff(1, 120, "budget")}, "its diff shows budget, and its call has set "),
    # Another value than the call has set, such as micros.
    ({"diff": diff(10**8, 120_000_000)}, "sets daily_budget to 120000000, and its call to 120"),
    # Half of a draft.
    ({"arguments": BOTH, "diff": diff("b", "x", "name")}, "and its call has set name, end"),
    ({"arguments": BOTH, "diff": diff({"name": [None], "end": 1}, AFTER, "c")}, "no null"),
    ({**KEYWORDS, "diff": diff([], ["shoes"], "keywords")}, "of keywords cannot be reverted"),
)
def test_what_cannot_be_reverted_is_a_note_and_nothing_is_guessed(fields, problem) -> None:
    plan = Plan.revert("w47", [entry(2, state="refused"), entry(**fields)])
    assert plan.changes == ()
    [note] = plan.notes
    assert problem in note
    assert plan.to_toml() == f'# {note}\n\nid = "w47-revert"\n'


def test_last_of_several_drafts_of_a_value_is_reverted() -> None:
    later = diff({"end": 1, "name": "a"}, AFTER, "campaign")
    rename = entry(1, arguments={**CAMPAIGN, "fields": {"name": "a"}}, diff=diff("b", "a", "name"))
    part = entry(1, arguments={**CAMPAIGN, "fields": {"end.x": 1}}, diff=diff(2, 1, "end.x"))
    others = [entry(2), entry(3, arguments=BOTH, diff=later)]
    named = {"account_id": "account_a91f", "creative_id": "campaign_4c10", "fields": {"name": "a"}}
    other = attrs.evolve(rename, operation="alpha.update_creative", arguments=named)
    no_id = attrs.evolve(other, arguments={"account_id": "a", "fields": {"name": "a"}})
    plan = Plan.revert("w47", [rename, part, *others, other, no_id, no_id])
    fields = [change.call.arguments.get("fields") for change in plan.changes]
    assert fields == [{"name": "b"}, {"name": "b"}, {"end": 1, "name": "a"}, None]
    assert plan.changes[2].expect == AFTER
    for note in plan.notes:
        assert note.startswith("draft draft_1 is not reverted: a later draft of the plan changes")
    # The note is a comment, which nothing in it can end.
    hostile = attrs.evolve(rename, draft_id="x\n[[change]]")
    first, *_ = Plan.revert("w47", [hostile, *others]).to_toml().splitlines()
    assert first.startswith("# draft x [[change]] is not reverted")


def test_command_writes_the_plan_and_names_what_it_leaves_out(team, monkeypatch) -> None:
    def revert(*words: str) -> Ran:
        return run_command("plan", "revert", *words, "--ledger", "drafts.db")

    monkeypatch.chdir(team.folder)
    assert revert("w47").code == 1  # there is no ledger
    team.stage(budget("120"))
    assert revert("w47") == Ran(0, Plan.revert("w47", team.ledger.entries()).to_toml(), "")
    team.fake.faults.add(Fault.dropped(taken=True))
    team.stage(budget("120"), pause())
    ran = revert("w47", "-o", "back.toml")
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.startswith("adclient: perhaps a draft is not reverted: its outcome is unknown")
    written = Path("back.toml").read_text("utf-8")
    assert written.startswith(f"# {ran.err.removeprefix('adclient: ')}")
    assert run_command("plan", "check", "back.toml", "--json").rows[0]["plan_id"] == "w47-revert"
    assert revert("w47", "-o", "back.toml") == Ran(2, "", "adclient: back.toml exists already\n")
    assert Path("back.toml").read_text("utf-8") == written
    # A plan without changes is not written: it could not be read.
    team.stage(pause(SECOND), plan_id="w48")
    assert revert("w48", "-o", "none.toml").code == 3
    assert revert("w4", "-o", "none.toml").code == 2  # it has no draft
    assert not Path("none.toml").exists()


# Files: what they hold, and what is wrong with them.

ONE = 'id = "a"\n[[change]]\n'
WHOLE = ONE + 'call = "beta.pause_campaign"\naccount_id = "a"\ncampaign_id = "c"\n'


# A file, the number of the change with its problem, and what the error says about it.
@each_case(
    ("text", "number", "problem"),
    ('title = "x"\n', 0, "expected id to be letters, digits and ._/-, at most 80"),
    ('id = "a:b"\n', 0, "expected id to be"),
    ('id = "a"\ntitle = 5\n', 0, "expected title to be a string"),
    ('id = "a"\ntilte = "x"\n', 0, "tilte is not a key here: did you mean title?"),
    ('id = "a"\nchange = [5]\n', 1, r"expected a table \[\[change\]\]"),
    ('id = "a"\n[change]\ncall = "x"\n', 0, r"expected a table \[\[change\]\]"),
    (ONE, 1, r"expected call to be one of alpha\.update_campaign_targeting, "),
    (WHOLE.removesuffix('campaign_id = "c"\n'), 1, "campaign_id must be a non-empty str"),
    (WHOLE + 'campain_id = "a"\n', 1, "did you mean campaign_id?"),
    (WHOLE + '"a\\n\\u202eb" = 5\n', 1, r"a\\n\\u202eb is not a key here"),
    (WHOLE + "why = 5\n", 1, "expected why to be a string"),
    (WHOLE + "expect = nan\n", 1, "expect: expected a finite number, got NaN"),
    (f'id = "a"{pause()}{pause(SECOND)}{pause()}', 3, "this is the same as change 1"),
)
def test_file_that_is_wrong_is_refused_with_the_change(tmp_path, text, number, problem) -> None:
    path = tmp_path / "changes.toml"
    path.write_text(text)
    message = rf"changes\.toml(, line \d+)?{f', change {number}' if number else ''}: .*{problem}"
    with pytest.raises(ConfigurationError, match=message) as bad:
        Plan.read(path)
    assert "\n" not in str(bad.value)


OF_DE = {**TARGETING, "targeting": {"geo": "DE"}}
KEYWORD = {"call": "delta.update_keyword", "account_id": "a"}
BIDS = [
    {**KEYWORD, "keywords": [*words], "fields": {"cpc_bid": bid, "match_type": kind, "ad_id": ad}}
    for words, bid, kind, ad in (("xy", 1, "E", 1), ("y", 2, "E", 1), ("y", 3, "B", 1), (*"y4E", 2))
]
NEW = {"call": "gamma.create_image_campaign", **CAMPAIGN, "fields": {"name": "x"}}
NEW_AD = {"call": "gamma.create_dco_ad", "account_id": "a", "ad_id": "c", "fields": {"name": "x"}}
NO_ID = {"call": "alpha.update_creative", "account_id": "account_a91f"}
OTHER = {**NO_ID, "creative_id": "campaign_4c10"}


@each_case(
    ("one", "other", "problem"),
    ({**BUDGET, "daily_budget": 1}, {**BUDGET, "fields": {"daily_budget": 2}}, "daily_budget"),
    ({**BUDGET, "fields": {"a": {"b": 1}}}, {**BUDGET, "fields": {"a.b.c": 1}}, "a.b.c"),
    ({**BUDGET, "fields": {"a": {"b": 1}}}, {**BUDGET, "fields": {"a": {"c": 1}}}, None),
    (OF_DE, {**OF_DE, "targeting": {"age": 5}}, "targeting"),
    (OF_DE, {**BUDGET, "fields": {"targeting": {"age": 5}}}, "targeting.age"),
    (OF_DE, {**BUDGET, "campaign_id": "d", "fields": {"targeting": 1}}, None),
    *[(BIDS[0], BIDS[1], "cpc_bid"), *((BIDS[0], other, None) for other in BIDS[2:])],
    *[(new, {**new, "fields": {"name": "y"}}, None) for new in (NEW, NEW_AD)],
    ({**OTHER, "fields": {"a": 1}}, {**BUDGET, "fields": {"a": 2}}, None),
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
