"""Reports on plans: as text, as Markdown for a pull request, as JSON, and in a notebook."""

import json
import re
from decimal import Decimal

import attrs
from cases import each_case
from clients import BASE_URL, Service, a_draft
from hypothesis import given, settings, strategies as st
from markdown_it import MarkdownIt
from plans import FIRST, Team, budget, pause, plan_of

from adclient import AdClient, Diff, Plan, PlanReport, Policy
from adclient._display.notebook import short
from adclient.plan import ChangeReport, MoneySum
from adclient.plan.money import sums_of
from adclient.plan.report import markdown_of

HOSTILE = [
    "a | b | c",
    "`code` ``more`` ```",
    "ends in a backslash \\",
    "\\| \\` \\\\|",
    "<!-- --> </code></td></table><script>alert(1)</script>",
    "@everyone #1 GH-1 octo/repo@0123456789abcdef0123456789abcdef01234567",
    "www.example.com https://example.com <https://example.com> a@example.com",
    "![x](https://example.com/x.png) [staged](https://example.com) [x]: y",
    "\u3164\u115f\u2800",
    "line\nline\r\n\r\n# heading\n| 1 | **staged** |\u2028\u2029\x85\x0b\x0c",
    "\u202eegats\u202c \u2066x\u2069 \u200b\ufeff\x00\x1b[31m",
    "**staged** __x__ ~~x~~ $x$ :tada: &#124; &lt;b&gt; {{ x }}",
    " ",
    "",
]
MARKDOWN = MarkdownIt("gfm-like", {"linkify": False})


def reported(text: str) -> PlanReport:
    """A report in which whoever writes plans, or runs a service, has put a text everywhere."""
    change = ChangeReport(
        number=1,
        operation="beta.pause_campaign",
        account_id=f"a{text}",
        target_id=f"c{text}",
        arguments={f"k{text}": text},
        why=text,
        verdict="refused",
        reason=text,
    )
    diff = Diff(field=f"f{text}", before=text, after=f"{text}!")
    draft = attrs.evolve(change, number=2, verdict="staged", draft_id=f"d{text}", diff=diff)
    return PlanReport(
        plan_id="w47",
        title=text,
        changes=(change, draft),
        notes=(text,),
        ledger_head="f00d",
        ledger_problem=f"p{text}",
    )


def shown(markdown: str) -> tuple[list[str], list[list[str]]]:
    """The text of a document outside of code, and the cells of its table with code as `…`."""
    outside, rows = [], []
    for token in MARKDOWN.parse(markdown):
        if token.type == "tr_open":
            rows.append([])
        for part in token.children or ():
            assert part.type in ("text", "code_inline", "strong_open", "strong_close"), part
            if part.type == "text" and (text := part.content.strip(" :|`\\")):
                outside.append(text)
        if token.type == "inline" and token.level == 4:
            rows[-1].append("".join(part.content for part in token.children))
        assert token.type != "html_block"
    return outside, rows


HEADINGS = ["#", "verdict", "missing", "call", "account and target", "before → after"]
HEADINGS += ["draft", "reason", "why"]


def check_that_nothing_is_forged(text: str) -> None:
    report = reported(text)
    outside, rows = shown(report.markdown())
    assert outside == [
        "Plan",
        "1 refused, 1 staged.",
        *HEADINGS,
        *("1", "refused", "see the reason"),
        *("2", "staged", "approve in dashboard"),
        "nothing is changed until a human approves a draft, in two steps",
    ]
    assert rows[0] == HEADINGS
    assert [len(row) for row in rows] == [9, 9, 9]
    assert rows[1][3] == "beta.pause_campaign"
    for line in (*report.markdown().splitlines(), *str(report).splitlines()):
        assert short(line, 1000) == line  # which escapes what is invisible
    assert len(str(report).splitlines()) == 1 + len(report.changes) + 3
    assert "<script" not in report._repr_html_()


@given(st.text(alphabet="|`\\<>&@#*_[]()!:. \n\u202e-=a1", max_size=30))
@settings(max_examples=10)
def test_no_text_can_forge_a_report(text) -> None:
    check_that_nothing_is_forged(text)


@each_case("text", HOSTILE)
def test_hostile_text_cannot_forge_a_report(text) -> None:
    check_that_nothing_is_forged(text)


def test_code_in_a_cell_is_what_was_written() -> None:
    _, rows = shown(reported("a|b `c` \\ <d> @e").markdown())
    assert rows[1][7] == "a|b `c` \\ <d> @e"


def test_most_severe_verdicts_come_first_with_what_is_missing() -> None:
    verdicts = ["staged", "unknown", "not staged", "over limit", "already staged", "stale"]
    verdicts += ["refused", "allowed"]
    report = PlanReport(
        plan_id="w47",
        changes=tuple(
            ChangeReport(
                number=number, operation="a.b", account_id="a", verdict=verdict, draft_id="d"
            )
            for number, verdict in enumerate(verdicts, 1)
        ),
    )
    _, [_, *rows] = shown(report.markdown())
    assert [row[:3] for row in rows] == [
        ["2", "unknown", "settle in ledger"],
        ["4", "over limit", "reject in dashboard"],
        ["6", "stale", "reject in dashboard"],
        ["7", "refused", "see the reason"],
        ["3", "not staged", "see the reason"],
        ["1", "staged", "approve in dashboard"],
        ["5", "already staged", "see the dashboard"],
        ["8", "allowed", "stage the plan"],
    ]
    alone = (attrs.evolve(report, changes=(change,)) for change in report.changes)
    codes = [each.exit_code for each in alone]
    assert codes == [0, 5, 1, 4, 0, 4, 3, 0]
    assert {len(change.missing.split()) for change in report.changes} == {3}


def test_comment_fits_github_and_says_what_it_leaves_out() -> None:
    one = reported("|" * 200)
    changes = tuple(attrs.evolve(one.changes[number % 2], number=number) for number in range(500))
    report = attrs.evolve(one, changes=changes, notes=("x" * 200,) * 100)
    markdown = report.markdown()
    _, [_, *rows] = shown(markdown)
    left = f"\n{500 - len(rows)} of 500 rows are left out; the report as JSON has all.\n"
    assert left in markdown
    # Another row would not have fitted.
    longest = max(map(len, markdown.splitlines()))
    assert 65_536 - 100 - longest < len(markdown) <= 65_536
    assert "80 more notes are not shown" in markdown
    assert len(report.to_dict()["changes"]) == 500


def test_report_is_json_with_a_version(tmp_path) -> None:
    team = Team(tmp_path)
    changes = budget("120.5", 'why = "Spring"'), pause("campaign_0")
    report = team.stage(*changes, title='title = "T"')
    told = json.loads(json.dumps(report.to_dict()))
    staged, failed = told.pop("changes")
    assert told == {
        "format_version": "1.0",
        "plan_id": "w47",
        "title": "T",
        "exit_code": 1,
        "money": [],
        "notes": [],
        "ledger_head": team.ledger.verify(),
    }
    assert staged == {
        "number": 1,
        "operation": "alpha.update_campaign_budget",
        "account_id": "account_a91f",
        "target_id": "campaign_4c10",
        "arguments": {
            "account_id": "account_a91f",
            "campaign_id": "campaign_4c10",
            "daily_budget": 120.5,
        },
        "why": "Spring",
        "verdict": "staged",
        "missing": "approve in dashboard",
        "draft_id": team.fake.drafts[0].draft_id,
        "diff": {"field": "daily_budget", "before": 100, "after": 120.5},
    }
    assert failed["verdict"] == "not staged"
    assert failed["reason"].startswith("404 campaign_not_found")


def test_several_plans_are_one_comment_with_the_most_severe_verdicts_first() -> None:
    first = reported("x")
    second = attrs.evolve(first, plan_id="w48|", ledger_head="beef", notes=(), ledger_problem=None)
    unknown = attrs.evolve(first.changes[0], number=3, verdict="unknown")
    second = attrs.evolve(second, changes=(*second.changes, unknown))
    markdown = markdown_of([first, second])
    outside, [headings, *rows] = shown(markdown)
    assert outside[:2] == ["2 plans", "1 unknown, 2 refused, 2 staged."]
    assert headings == HEADINGS
    assert [row[:2] for row in rows] == [
        ["w48| 3", "unknown"],
        ["w47 1", "refused"],
        ["w48| 1", "refused"],
        ["w47 2", "staged"],
        ["w48| 2", "staged"],
    ]
    below = markdown.splitlines()[-4:]
    assert below[:3] == ["- `w47: px`", "- `w47: x`", "- `head of the ledger: beef`"]
    many = markdown_of([first] * 5000)
    assert 60_000 < len(many) <= 65_536
    assert "4980 more problems are not shown" in many
    # Many of one kind hide none of another kind, or of another plan.
    sums = tuple(
        MoneySum(account_id=str(n), key="k", before=None, after=1, changes=1) for n in range(30)
    )
    markdown = markdown_of([attrs.evolve(first, ledger_problem=None, money=sums), first])
    for line in ("- `w47: px`", "- `w47: x`", "- `10 more sums are not shown`"):
        assert line in markdown
    assert markdown.index("w47: px") < markdown.index("w47: x`") < markdown.index("0: k ? → 1")


def columns_of(report: PlanReport) -> list[str]:
    return re.findall("<th [^>]*>(.*?)</th>", report._repr_html_())


def test_report_is_a_card_in_a_notebook(tmp_path) -> None:
    report = plan_of(tmp_path, *(pause(f"campaign_{n}") for n in range(25)), pause()).check()
    assert repr(report) == "<PlanReport w47, 26 allowed>"
    card = report._repr_html_()
    assert "6 more rows are not shown" in card
    assert card.count("beta.pause_campaign") == 20
    assert FIRST not in card
    # It begins with what differs, and has no empty column.
    plan = plan_of(tmp_path, budget("120", 'why = "Spring"'), pause())
    assert columns_of(plan.check()) == ["#", "verdict", "change", "account", "why", "call"]
    assert columns_of(plan.check(Policy(operations=["beta.*"])))[4] == "reason"
    staged = Team(tmp_path).stage(budget("120", 'why = "Spring"'))
    assert columns_of(staged) == ["#", "verdict", "change", "account", "draft", "why", "call"]
    edited = Team(tmp_path).stage(budget("130"))
    assert edited.notes[0] in edited._repr_html_()
    # A card omits it: a saved notebook would differ after each run.
    assert "head of the ledger" not in edited._repr_html_()
    for line in (edited.notes[0], f"head of the ledger: {edited.ledger_head}"):
        assert line in str(edited)


MONEY = Policy(
    money={"daily_budget": 9000, "bid": 5},
    fields=["name", "dailyBudget", "limits", "limits__daily_budget"],
)
ANYWHERE = {"call": "alpha.update_campaign_budget", "account_id": "account_a91f"}
BUDGET = {**ANYWHERE, "campaign_id": "campaign_4c10"}
CREATE = {"call": "beta.create_video_campaign", "account_id": "account_b204"}


@each_case(
    ("changes", "sums"),
    [
        ([{**BUDGET, "daily_budget": 120, "expect": 100}], ["daily_budget 100 → 120 of 1"]),
        ([{**BUDGET, "fields": {"dailyBudget": 0.1}}], ["daily_budget ? → 0.1 of 1"]),
        (
            [
                {**BUDGET, "daily_budget": 120, "expect": 0.1},
                {**ANYWHERE, "campaign_id": "c", "daily_budget": 0.2, "expect": 0.2},
            ],
            ["daily_budget 0.3 → 120.2 of 2"],
        ),
        (
            [{**BUDGET, "fields": {"bid": 2, "name": "x"}, "expect": {"bid": 1, "name": "y"}}],
            ["bid 1 → 2 of 1"],
        ),
        # Of several, a value alone is that of none; one that is not known makes the sum unknown.
        ([{**BUDGET, "daily_budget": 5, "fields": {"bid": 2}, "expect": 1}], "both unknown"),
        (
            [
                {**BUDGET, "daily_budget": 120, "expect": 100},
                {**ANYWHERE, "campaign_id": "c", "daily_budget": 30},
            ],
            ["daily_budget ? → 150 of 2"],
        ),
        # All that the policy takes for money, inside of values and in names that are paths.
        (
            [
                {**BUDGET, "fields": {"limits": {"daily_budget": 400}}, "expect": {"bid": 5}},
                {**BUDGET, "fields": {"limits__daily_budget": 40}},
                {**BUDGET, "daily_budget": 100},
            ],
            ["daily_budget ? → 540 of 3"],
        ),
        (
            [{**BUDGET, "fields": {"limits": {"bid": 2}}, "expect": {"bid": 1}}],
            ["bid 1 → 2 of 1"],
        ),
        ([{**CREATE, "fields": {"daily_budget": 40}}], ["daily_budget 0 → 40 of 1"]),
        ([{**BUDGET, "fields": {"name": "x"}}], []),
        ([{**BUDGET, "daily_budget": 9999, "expect": 1}], []),  # refused
    ],
)
def test_check_sums_the_money_that_the_plan_shows(changes, sums) -> None:
    if sums == "both unknown":
        sums = ["bid ? → 2 of 1", "daily_budget ? → 5 of 1"]
    report = Plan.of("w47", changes).check(MONEY)
    assert [f"{e.key} {pair(e)} of {e.changes}" for e in report.money] == sums


def test_account_may_have_money_of_its_own() -> None:
    changes = [{**BUDGET, "daily_budget": 120}, {**CREATE, "fields": {"daily_budget": 40}}]
    of_beta = {"account_b204": Policy(money={"daily_budget": 50}, fields=["name"])}
    report = Plan.of("w47", changes).check(Policy(account=of_beta))
    assert [str(each) for each in report.money] == ["account_b204: daily_budget 0 → 40 (sum of 1)"]


def pair(each) -> str:
    return f"{'?' if each.before is None else each.before} → {each.after}"


def test_sums_of_staged_money_are_those_of_the_drafts_by_account(tmp_path) -> None:
    team = Team(tmp_path)
    other = {"account_id": "account_b204", "fields": {"daily_budget": 50, "name": "New"}}
    plan = Plan.of(
        "w47",
        [
            {**BUDGET, "daily_budget": 120, "expect": 90},  # stale, so it should be rejected
            {**BUDGET, "fields": {"daily_budget": 130, "name": "Spring"}},
            {**CREATE, **other},
            {**CREATE, **other, "campaign_id": "campaign_57a7"},
        ],
    )
    with team.fake.client(ledger=team.ledger, policy=MONEY) as client:
        reports = [plan.stage(client), plan.stage(client)]
    for report in reports:
        assert list(map(str, report.money)) == [
            "account_a91f: daily_budget 100 → 130 (sum of 1)",
            "account_b204: daily_budget 0 → 100 (sum of 2)",
        ]
    line = str(report.money[0])
    assert line in str(report)
    assert f"- `{line}`\n" in report.markdown()
    assert line in report._repr_html_()
    assert report.to_dict()["money"][0] == {
        "account_id": "account_a91f",
        "key": "daily_budget",
        "before": 100,
        "after": 130,
        "changes": 1,
    }
    # Without a policy, nobody has said what is money.
    assert team.stage(budget()).money == plan.check().money == ()


def test_amount_that_cannot_be_added_does_not_lose_the_report(tmp_path) -> None:
    transport = Service(
        a_draft(diff={"field": "daily_budget", "before": 1, "after": 2}),
        a_draft(diff={"field": "daily_budget", "before": "x", "after": 1e300}),
    ).transport
    plan = plan_of(tmp_path, budget("120"), budget("130"))
    ledger = Team(tmp_path).ledger
    with AdClient(BASE_URL, transport=transport, ledger=ledger, policy=MONEY) as client:
        [total] = plan.stage(client).money
    assert (total.before, total.changes) == (None, 2)
    assert total.after > 10**299
    diff = Diff(field="daily_budget", before=1, after=Decimal("9e999999"))
    # JSON has no infinity: without the sum, the rest of the report can be written.
    assert sums_of([(change, diff) for change in plan.changes], MONEY) == ()
