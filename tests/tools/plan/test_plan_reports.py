"""Reports on plans: as text, as Markdown for a pull request, as JSON, and in a notebook."""

import json
import pickle
from decimal import Decimal
from html import unescape

import attrs
from cases import each_case
from markdown_it import MarkdownIt
from plans import Team, budget, plan_of

from adclient import Diff
from adclient._show.reports import markdown_of
from adclient._values.text import short
from adclient.plan import ChangeReport, Plan, PlanReport
from adclient.plan.change import sums_of
from adclient.plan.report import table_of
from adclient.policy import Policy

HOSTILE = [
    "`code` ``more`` ```",
    "\\| \\` \\\\| ends in a backslash \\",
    "<!-- --> </code></td></table><script>alert(1)</script>",
    "@everyone #1 GH-1 octo/repo@0123456789abcdef0123456789abcdef01234567",
    "www.example.com https://example.com <https://example.com> a@example.com",
    "![x](https://example.com/x.png) [staged](https://example.com) [x]: y",
    "\u3164\u115f\u2800",
    "line\nline\r\n\r\n# heading\n| 1 | **staged** |\u2028\u2029\x85\x0b\x0c",
    "\u202eegats\u202c \u2066x\u2069 \u200b\ufeff\x00\x1b[31m",
    "**staged** __x__ ~~x~~ $x$ :tada: &#124; &lt;b&gt; {{ x }}",
    "",
]
MARKDOWN = MarkdownIt("gfm-like", {"linkify": False})


def reported(text: str) -> PlanReport:
    """A report in which whoever writes plans, or runs a service, has put a text everywhere."""
    texts = {"account_id": f"a{text}", "target_id": f"c{text}", "why": text, "reason": text}
    call = {"operation": "beta.pause_campaign", "arguments": {f"k{text}": text}}
    change = ChangeReport(number=1, verdict="refused", **call, **texts)
    diff = Diff(field=f"f{text}", before=text, after=f"{text}!")
    draft = attrs.evolve(change, number=2, verdict="staged", draft_id=f"d{text}", diff=diff)
    others = {"notes": (text,), "ledger_head": "f00d", "ledger_problem": f"p{text}"}
    return PlanReport(plan_id="w47", title=text, changes=(change, draft), **others)


def shown(markdown: str) -> tuple[list[str], list[list[str]]]:
    """The text of a document outside of code, and the cells of its table with code as `…`."""
    outside, rows = [], []
    for token in MARKDOWN.parse(markdown):
        if token.type == "tr_open":
            rows.append([])
        for part in token.children or ():
            assert part.type in ("text", "code_inline", "strong_open", "strong_close"), part
            if part.type == "text" and (text := part.content.strip(" :|`\\\xa0")):
                outside.append(text)
        if token.type == "inline" and token.level == 4:
            rows[-1].append("".join(part.content for part in token.children))
        assert token.type != "html_block"
    return outside, rows


HEADINGS = ["#", "verdict", "missing", "call", "account and target", "before -> after"]
HEADINGS += ["draft", "reason", "why"]


@each_case("text", *HOSTILE)
def test_hostile_text_cannot_forge_a_report(text) -> None:
    report = reported(text)
    outside, rows = shown(report.markdown())
    headings = HEADINGS if text else HEADINGS[:-2]  # no empty columns
    assert outside == [
        *headings,
        *("1", "refused", "2", "staged", "Next"),
        "nothing is changed until a human approves a draft, in two steps",
        "keep",
    ]
    assert rows[0] == headings
    assert {len(row) for row in rows} == {len(headings)}
    assert rows[1][3] == "beta.pause_campaign"
    for line in (*report.markdown().splitlines(), *str(report).splitlines()):
        assert short(line, 2000) == line  # which escapes what is invisible
    assert len(str(report).splitlines()) == 3 + len(report.changes) + 2 * bool(text)
    assert "<script" not in report._repr_html_()


def test_worst_verdict_and_not_the_highest_number_is_the_exit_code() -> None:
    codes = {"unknown": 5, "stale": 4, "refused": 3, "not staged": 1, "under way": 7, "staged": 0}
    changes = [attrs.evolve(reported("x").changes[0], verdict=verdict) for verdict in codes]
    for number, code in enumerate([*codes.values(), 0]):
        report = PlanReport(plan_id="w47", changes=tuple(changes[number:][::-1]))
        assert report.exit_code == code


def test_report_is_json_with_a_version(tmp_path) -> None:
    team = Team(tmp_path)
    report = team.stage(budget("120.5", 'why = "Spring"'), title='title = "T"')
    found = json.loads(json.dumps(report.to_dict()))
    [staged] = found.pop("changes")
    plan = {"format_version": "1.0", "plan_id": "w47", "title": "T", "exit_code": 0}
    assert found == {**plan, "money": [], "notes": [], "ledger_head": team.ledger.verify()}
    account, campaign = {"account_id": "account_a91f"}, "campaign_4c10"
    assert staged == {
        "number": 1, "operation": "alpha.update_campaign_budget", **account,
        "target_id": campaign, "verdict": "staged", "missing": "approve in dashboard",
        "arguments": {**account, "campaign_id": campaign, "daily_budget": 120.5},
        "draft_id": team.fake.drafts[0].draft_id, "why": "Spring",
        "diff": {"field": "daily_budget", "before": 100, "after": 120.5},
    }  # fmt: skip


def test_several_plans_are_one_comment_with_the_most_severe_verdicts_first() -> None:
    first = reported("x")
    second = attrs.evolve(first, plan_id="w48|", ledger_head="beef", notes=(), ledger_problem=None)
    unknown = attrs.evolve(first.changes[0], number=3, verdict="unknown")
    second = attrs.evolve(second, changes=(*second.changes, unknown))
    markdown = markdown_of(table_of([first, second]))
    _, [headings, *rows] = shown(markdown)
    assert markdown.startswith("### `2 plans: 1 unknown, 2 refused, 2 staged`\n")
    assert headings == [*HEADINGS[:3], "plan", *HEADINGS[3:]]
    found = [f"{row[3]} {row[0]} {row[1]}" for row in rows]
    refused, staged = ["w47 1 refused", "w48| 1 refused"], ["w47 2 staged", "w48| 2 staged"]
    assert found == ["w48| 3 unknown", *refused, *staged]
    below = markdown.splitlines()[-7:]
    assert below[:2] == ["- `w47: px`", "- `w47: x`"]
    assert below[-1] == "1. keep `head of the ledger: beef`"
    many = markdown_of(table_of([first] * 500))
    _, [_, *rows] = shown(many)
    assert f"\n{1000 - len(rows)} of 1000 rows are left out; the report as JSON has all.\n" in many
    assert 60_000 < len(many) <= 65_536
    assert "480 more problems are not shown" in many


def test_long_value_leaves_room_for_the_other_changes() -> None:
    long = {"arguments": {f"text{number}": "x" * 2400 for number in range(12)}, "diff": None}
    change = reported("x").changes[1]
    changes = [attrs.evolve(change, number=1, **long), attrs.evolve(change, number=2)]
    _, [_, first, second] = shown(PlanReport(plan_id="w47", changes=changes).markdown())
    assert first[4:8] == ["ax, cx", "too long: see the report as JSON", "dx", "x"]
    assert second[4:8] == ["ax, cx", 'fx: x -> "x!"', "dx", "x"]


def test_different_ids_never_look_the_same() -> None:
    change, looks = reported("").changes[1], []
    for one, other in [("a c", None), ("a", "c"), ("a, c", None), ("a" * 70, "c"), ("a" * 71, "c")]:
        changes = (attrs.evolve(change, account_id=one, target_id=other),)
        report = PlanReport(plan_id="w", changes=changes)
        looks += [str(report), report.markdown(), report._repr_html_()]
    assert (' · "a, c" · ' in looks[6], len(set(looks))) == (True, 15)


# Sums of money.

MONEY = Policy(money={"daily_budget": 9000, "bid": 5, "ads.bid": 5}, fields=["name"])
OTHER = {"call": "alpha.update_campaign_budget", "account_id": "account_a91f", "campaign_id": "c"}
BUDGET = {**OTHER, "campaign_id": "campaign_4c10"}
CREATE = {"call": "beta.create_video_campaign", "account_id": "account_b204"}


@each_case(("changes", "sums"),
    ([{**BUDGET, "daily_budget": 120, "expect": 0.1},
      {**OTHER, "daily_budget": 0.2, "expect": 0.2}], ["daily_budget 0.3 -> 120.2 of 2"]),
    # Of several, a value alone is that of none.
    ([{**BUDGET, "daily_budget": 5, "fields": {"bid": 2}, "expect": 1}],
     ["bid ? -> 2 of 1", "daily_budget ? -> 5 of 1"]),
    # Inside of a value, whose amounts are paired only if there are as many before.
    ([{**BUDGET, "fields": {"ads": [{"bid": 1}, {"bid": "2"}]}, "expect": [{"bid": 5}]},
      {**OTHER, "fields": {"ads": {"bid": 3}}, "expect": {"bid": 4}}], ["ads.bid ? -> 6 of 3"]),
    ([{**BUDGET, "fields": {"ads": {"bid": 3}, "bid": 1}, "expect": {"ads": {"bid": 4}}}],
     ["ads.bid 4 -> 3 of 1", "bid ? -> 1 of 1"]),
    ([{**CREATE, "fields": {"daily_budget": 40}}], ["daily_budget 0 -> 40 of 1"]),
    ([{**BUDGET, "daily_budget": 9999, "expect": 1}], []),  # refused
)  # fmt: skip
def test_check_sums_the_money_that_the_plan_shows(changes, sums) -> None:
    found = Plan.of("w47", changes).check(MONEY).money
    told = [f"{it.key} {it.before} -> {it.after} of {it.changes}" for it in found]
    assert [text.replace("None", "?") for text in told] == sums


def test_sums_of_staged_money_are_those_of_the_drafts_by_account(tmp_path) -> None:
    team = Team(tmp_path)
    other = {"account_id": "account_b204", "fields": {"daily_budget": 50, "name": "New"}}
    stale = {**BUDGET, "fields": {"name": "Stale"}, "expect": 90}  # so it should be rejected
    made = [{**CREATE, **other}, {**CREATE, **other, "campaign_id": "campaign_57a7"}]
    plan = Plan.of("w47", [stale, {**BUDGET, "daily_budget": 130}, *made])
    with team.fake.client(ledger=team.ledger, policy=MONEY) as client:
        reports = [plan.stage(client), plan.stage(client)]
    for report in reports:
        assert list(map(str, report.money)) == [
            "account_a91f: daily_budget 100 -> 130 (sum of 1)",
            "account_b204: daily_budget 0 -> 100 (sum of 2)",
        ]
    for shown_report in (str(report), report.markdown(), unescape(report._repr_html_())):
        assert str(report.money[0]) in shown_report
    total = {"key": "daily_budget", "before": 100, "after": 130, "changes": 1}
    assert report.to_dict()["money"][0] == {"account_id": "account_a91f", **total}
    assert pickle.loads(pickle.dumps([plan, report])) == [plan, report]
    assert hash(pickle.loads(pickle.dumps(report.changes[0]))) == hash(report.changes[0])
    # Without a policy, nobody has said what is money.
    assert team.stage(budget()).money == plan.check().money == ()


def test_amount_that_cannot_be_added_does_not_lose_the_report(tmp_path) -> None:
    plan = plan_of(tmp_path, budget("120"))
    diff = Diff(field="daily_budget", before=1, after=Decimal("9e999999"))
    # JSON has no infinity: without the sum, the rest of the report can be written.
    for after in (diff, attrs.evolve(diff, after="auto")):
        assert sums_of([(change, after) for change in plan.changes * 2], MONEY) == ()
    # What a draft shows and does not change is not summed.
    was, will = ([{"daily_budget": 5}, {"daily_budget": each}] for each in (7, 9))
    diff = Diff(field="ads", before=was, after=will)
    [found] = sums_of([(plan.changes[0], diff)], MONEY)
    assert (found.before, found.after, found.changes) == (7, 9, 1)
