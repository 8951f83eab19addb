"""Plans that are made in Python: of changes, of a listing, or to revert another plan."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import attrs
import pytest
from cases import each_case
from clients import BASE_URL, Service, a_draft
from hypothesis import example, given, strategies as st
from plans import FIRST, SECOND, Team, budget, pause, plan_of, verdicts

from adclient import AdClient, ConfigurationError, Diff, Entry, Plan, SQLiteLedger
from adclient._command import main
from adclient.testing import FakeAdService, Fault

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


@given(
    title=st.none() | TEXTS,
    fields=st.dictionaries(TEXTS, VALUES, min_size=1, max_size=4),
    why=st.none() | TEXTS,
    expect=VALUES,
)
@example(title="'\"", fields={"": "\\", "a.b": '"""'}, why="\x7f\x00\u2028\r\n", expect="'''")
@example(title=None, fields={"call": 1e300, "#": -0.0}, why="\ufeff", expect=[[], {}, [{}]])
@example(title="", fields={"n": 10**40}, why="", expect="\x85\\u0041")
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


def test_dictionary_of_a_change_is_a_copy() -> None:
    given = {**BUDGET, "fields": {"end": [1]}, "expect": [1]}
    change = Plan.of("w47", [given]).changes[0]
    table = change.to_dict()
    table["fields"]["end"].append(2)
    table["expect"].append(2)
    assert change.to_dict() == given


def test_plan_of_a_listing_is_that_of_its_file(tmp_path) -> None:
    page = FakeAdService().client().beta.list_campaigns(account_id="account_b204")
    plan = Plan.of(
        "w47",
        (
            {
                "call": "beta.pause_campaign",
                "account_id": "account_b204",
                "campaign_id": campaign.id,
                "expect": campaign.status,
            }
            for campaign in page
            if campaign.id in (FIRST, SECOND)
        ),
    )
    enabled = 'expect = "ENABLED"'
    assert plan == plan_of(tmp_path, pause(FIRST, enabled), pause(SECOND, enabled))


@each_case(
    ("changes", "problem"),
    [
        ([], "expected a table"),
        ([5], "expected a table"),
        ([{"call": "beta.approve"}], "expected call to be one of"),
        (None, "expected changes to be a list, not NoneType"),
        ([THEMES, {**BUDGET, "daily_budgt": 5}], "did you mean daily_budget"),
        ([THEMES, THEMES], "this is the same as change 1"),
        ([{**BUDGET, "fields": {"a": "\ud800"}}], "surrogate"),
        ([{**BUDGET, "fields": {"a": {1}}}], "expected a JSON value, got set"),
    ],
)
def test_changes_that_cannot_be_meant_are_refused(changes, problem) -> None:
    with pytest.raises(ConfigurationError, match=f"^the plan(, change [12])?: .*{problem}"):
        Plan.of("w47", changes)


@each_case("change", [{**BUDGET, "fields": {"a": [None]}}, {**BUDGET, "expect": None}])
def test_null_can_be_staged_but_not_written(change, tmp_path) -> None:
    plan = Plan.of("w47", [THEMES, change])
    assert plan.check().exit_code == 0
    with pytest.raises(ConfigurationError, match=r"^change 2: TOML has no null$"):
        plan.write(tmp_path / "changes.toml")
    assert not (tmp_path / "changes.toml").exists()


def approve(fake: FakeAdService) -> None:
    for draft in fake.drafts:
        if draft.status == "pending_approval":
            fake.dashboard.approve(draft)


@pytest.fixture
def team(tmp_path) -> Team:
    return Team(tmp_path)


def staged(team: Team, plan: Plan):
    with team.fake.client(ledger=team.ledger) as client:
        return plan.stage(client)


def test_plan_reverts_what_another_one_has_changed(team) -> None:
    client = team.fake.client()
    renamed = {"fields": {"name": "Größer", "objective": "X"}}
    themes = {"targeting": {"include": {"and": []}}}
    plan = Plan.of("w47", [{**TARGETING, **themes}, {**BUDGET, "daily_budget": 120}])
    other = Plan.of("w48", [{**BUDGET, **renamed}])
    for each in (plan, other):
        staged(team, each)
        approve(team.fake)
    before = [draft.diff.before for draft in team.fake.drafts]
    for each in (plan, other):
        back = Plan.revert(each.id, team.ledger.entries())
        back.write(team.folder / "back.toml")
        assert back.notes == ()
        report = staged(team, Plan.read(team.folder / "back.toml"))
        assert set(verdicts(report)) == {"staged"}
        assert verdicts(staged(team, back)) == ["already staged"] * len(each.changes)
    assert [draft.diff.after for draft in team.fake.drafts[3:]] == [before[1], before[0], before[2]]
    assert back.id == "w48-revert"
    assert back.changes[0].why == f"reverts draft {team.fake.drafts[2].draft_id}"
    client.close()


def test_second_reverting_plan_is_another_one(team) -> None:
    for amount, new_id in [("120", "w47-revert"), ("140", "w47-revert-2"), ("160", "w47-revert-3")]:
        team.stage(budget(amount))
        approve(team.fake)
        back = Plan.revert("w47", team.ledger.entries())
        assert back.id == new_id
        assert verdicts(staged(team, back)) == ["staged"]
        approve(team.fake)


def test_change_that_never_went_live_is_stale(team) -> None:
    team.stage(budget("120"))
    assert verdicts(staged(team, Plan.revert("w47", team.ledger.entries()))) == ["stale"]


def entry(number: int = 1, **fields: object) -> Entry:
    arguments = {**CAMPAIGN, "daily_budget": 120}
    usual = {
        "entry_id": str(number),
        "change": f"w47:{number}",
        "state": "staged",
        "operation": "alpha.update_campaign_budget",
        "account_id": "account_a91f",
        "arguments": arguments,
        "draft_id": f"draft_{number}",
        "diff": Diff(field="daily_budget", before=100, after=120),
    }
    return Entry(**{**usual, **fields})


KEYWORDS = {"account_id": "a", "keywords": ["shoes"]}
AFTER = {"name": "x", "end": 5}
FIELDS = {**CAMPAIGN, "fields": AFTER}
ONE = Diff(field="paused", before=0, after=1)
MICROS = 1_000_000


@each_case(
    ("fields", "problem"),
    [
        ({"state": "admitted", "draft_id": None}, "perhaps a draft is not reverted: its outcome"),
        ({"state": "unknown"}, "draft draft_1 is not reverted: its outcome is unknown"),
        ({"over_limit": "much"}, "it was over a limit"),
        ({"diff": None}, "the ledger does not have its diff"),
        ({"operation": "beta.create_video_campaign"}, "what is created or removed"),
        ({"diff": Diff(field="daily_budget", before=None, after=1)}, "what is created or removed"),
        ({"diff": Diff(field="daily_budget", before=1, after=None)}, "what is created or removed"),
        (
            {"diff": Diff(field="budget", before=1, after=120)},
            "its diff shows budget, and its call has set daily_budget",
        ),
        (
            {"arguments": CAMPAIGN, "diff": Diff(field="c", before={"a": 1}, after={"a": 2})},
            "its diff shows a, and its call has set no value",
        ),
        (
            {"arguments": FIELDS, "diff": Diff(field="c", before={"name": 1}, after=AFTER)},
            "its diff shows name, and its call has set name, end",
        ),
        # Another value than the call has set, such as micros, or that of another object.
        (
            {"diff": Diff(field="daily_budget", before=100 * MICROS, after=120 * MICROS)},
            "its diff sets daily_budget to 120000000, and its call to 120",
        ),
        (
            {"arguments": {**CAMPAIGN, "fields": {"paused": True}}, "diff": ONE},
            "its diff sets paused to 1, and its call to true",
        ),
        # Half of a draft.
        (
            {"arguments": FIELDS, "diff": Diff(field="name", before="b", after="x")},
            "its diff shows name, and its call has set name, end",
        ),
        (
            {"diff": Diff(field="daily_budget", before="1", after=120)},
            "reverted: alpha.update_campaign_budget: daily_budget must",
        ),
        (
            {
                "arguments": FIELDS,
                "diff": Diff(field="c", before={"name": [None], "end": 1}, after=AFTER),
            },
            "TOML has no null",
        ),
        (
            {
                "operation": "delta.update_keyword",
                "arguments": KEYWORDS,
                "diff": Diff(field="keywords", before=[], after=["shoes"]),
            },
            "changes of keywords cannot be reverted",
        ),
    ],
)
def test_what_cannot_be_reverted_is_a_note_and_nothing_is_guessed(fields, problem) -> None:
    plan = Plan.revert("w47", [entry(2, state="refused"), entry(**fields)])
    assert plan.changes == ()
    [note] = plan.notes
    assert problem in note
    assert plan.to_toml() == f'# {note}\n\nid = "w47-revert"\n'


def test_last_of_several_drafts_of_a_value_is_reverted() -> None:
    later = Diff(field="campaign", before={"end": 1, "name": "a"}, after=AFTER)
    rename = {**CAMPAIGN, "fields": {"name": "a"}}
    rename = {"arguments": rename, "diff": Diff(field="name", before="b", after="a")}
    entries = [entry(1, **rename), entry(2), entry(3, arguments=FIELDS, diff=later)]
    plan = Plan.revert("w47", entries)
    assert [change.call.arguments.get("fields") for change in plan.changes] == [
        {"end": 1, "name": "a"},
        None,
    ]
    assert plan.changes[0].expect == AFTER
    [note] = plan.notes
    assert note.startswith("draft draft_1 is not reverted: a later draft of the plan changes")
    # The note is a comment, which nothing in it can end.
    hostile = attrs.evolve(entries[0], draft_id='x\n[[change]]\ncall = "beta')
    first, *_ = Plan.revert("w47", [hostile, *entries[1:]]).to_toml().splitlines()
    assert first.startswith('# draft x [[change]] call = "beta is not reverted')


def test_draft_of_an_unreadable_response_is_not_reverted(team) -> None:
    transport = Service(a_draft(diff=None)).transport
    with AdClient(BASE_URL, transport=transport, ledger=team.ledger) as client:
        plan_of(team.folder, pause()).stage(client)
    [note] = Plan.revert("w47", team.ledger.entries()).notes
    assert note.startswith("draft draft_7c2e is not reverted: its outcome is unknown")


@each_case(("plan_id", "problem"), [("w4", "no draft of a plan w4"), ("w" * 80, "at most 80")])
def test_plan_without_drafts_is_refused(plan_id, problem) -> None:
    entries = [entry(), entry(change="w" * 80 + ":1"), entry(change=None)]
    with pytest.raises(ConfigurationError, match=problem):
        Plan.revert(plan_id, entries)


def test_command_writes_the_plan_and_names_what_it_leaves_out(team, monkeypatch, capsys) -> None:
    monkeypatch.chdir(team.folder)
    revert = ["plan", "revert", "w47", "--ledger", "drafts.db"]
    assert main(revert) == 1  # there is no ledger
    team.stage(budget("120"))
    capsys.readouterr()
    assert main(revert) == 0
    printed, told = capsys.readouterr()
    assert (printed, told) == (Plan.revert("w47", team.ledger.entries()).to_toml(), "")
    team.fake.faults.add(Fault.dropped(taken=True))
    team.stage(budget("120"), pause())
    assert main([*revert, "-o", "back.toml"]) == 3
    printed, told = capsys.readouterr()
    assert printed == ""
    assert told.startswith("adclient: perhaps a draft is not reverted: its outcome is unknown")
    written = Path("back.toml").read_text("utf-8")
    assert written.startswith(f"# {told.removeprefix('adclient: ')}")
    assert main(["plan", "check", "back.toml", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["plan_id"] == "w47-revert"
    assert main([*revert, "-o", "back.toml"]) == 2
    assert capsys.readouterr().err == "adclient: back.toml exists already\n"
    assert Path("back.toml").read_text("utf-8") == written
    # A plan without changes is not written: it could not be read.
    team.stage(pause(SECOND), plan_id="w48")
    assert main(["plan", "revert", "w48", "--ledger", "drafts.db", "-o", "none.toml"]) == 3
    assert not Path("none.toml").exists()
    assert main(["plan", "revert", "w49", "--ledger", "drafts.db"]) == 2
    assert "no draft of a plan w49" in capsys.readouterr().err
    assert SQLiteLedger("drafts.db").exists()
