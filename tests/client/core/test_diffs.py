"""What a diff shows: every changed leaf, with what it belongs to; and tables of notebooks."""

import re
from decimal import Decimal
from html import unescape

import attrs
from cases import each_case
from hypothesis import given, strategies as st
from markdown_it import MarkdownIt

from adclient import Campaign, Diff, Draft, Items
from adclient._show.diffs import MISSING, differences_of
from adclient._values.json_values import differ
from adclient.agents._results import of_draft
from adclient.plan import ChangeReport, PlanReport

NAME = st.text("abc", min_size=1, max_size=3)
SCALAR = st.none() | st.booleans() | st.integers(-3, 3) | st.text("xy", max_size=3)
VALUE = st.recursive(
    SCALAR,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAME, inner, max_size=4),
    max_leaves=25,
)


def diff_of(before, after, field="f"):
    return Diff(field=field, before=before, after=after)


def shown(before, after):
    return [
        (change.path, change.subject, change.before, change.after)
        for change in differences_of(diff_of(before, after))
    ]


def more_in(text):
    found = re.search(r"(\d+) more changes are not shown \(SHA-256 \w{32}\)$", text)
    return int(found[1]) if found else 0


LONG = {f"n_{n}": "\n" * 60 for n in range(30)}


@each_case(("after", "field"),
    *[({}, "f"), ({"a": 1}, "f"), ({f"n_{n}": n for n in range(20)}, "f")],
    *[({f"n_{n}": n for n in range(21)}, "f"), ([[n] for n in range(50)], "f\u202e")],
    *[(LONG, "f"), (LONG, "f" * 5000), ({f"n_{n}": "\x00" * 5000 for n in range(30)}, "f")],
)  # fmt: skip
def test_shown_changes_are_bounded_and_the_rest_is_counted(after, field):
    diff = diff_of({}, after, field)
    count = len(list(differences_of(diff))) or 1  # or the line that nothing changes
    lines = str(diff).split("\n")
    left = more_in(lines[-1])
    assert len(lines) - (left > 0) + left == count
    assert len(lines) <= 20 + 1
    assert all(len(line) <= 600 and line.isprintable() for line in lines)
    assert repr(diff) == f"<Diff {', '.join(lines)}>"
    html = diff._repr_html_()
    hidden = re.search(r"(\d+) more changes are not shown", html)
    # A row of two cells for each change, below headings of one.
    assert html.count("<td") + (int(hidden[1]) if hidden else 0) == count
    assert len(html) < 30_000


@each_case(("before", "after", "text"),
    *[(120, "120", 'f: 120 -> "120"'), (None, "null", 'f: null -> "null"')],
    *[(1, True, "f: 1 -> true"), (None, {}, "f: null -> {}"), ("", "New", 'f: "" -> New')],
    *[("a", "a ", 'f: a -> "a "'), ("a\\u202eb", "a\u202eb", r'f: "a\\u202eb" -> "a\u202eb"')],
    *[("a b", "a  b", 'f: a b -> "a  b"'), ("é", "e\u0301", r'f: é -> "e\u0301"')],
    *[("a", "a\xa0b", r'f: a -> "a\xa0b"'), ("—", "True", 'f: "—" -> "True"')],
    *[({}, [], "f: {} -> []"), (["a"], "[a]", 'f[0]: a -> —\nf: — -> "[a]"')],
    ({"a.b": 1}, {"a": {"b": 1}}, 'f["a.b"]: 1 -> —\nf.a.b: — -> 1'),
    *[
        ({"a": {"b": 1}}, {"a": {}}, "f.a.b: 1 -> —\nf.a: — -> {}"),
        ({"a": 1}, {}, "f.a: 1 -> —\nf: — -> {}"),
    ],
)  # fmt: skip
def test_two_values_look_different(before, after, text):
    assert str(diff_of(before, after)) == text


@each_case("length", 2400, 3000, 10**6)
def test_long_value_is_shown_whole_or_where_it_differs_with_a_digest(length):
    line = str(diff_of("x" * length + "A", "x" * length + "B"))
    if length < 2500:
        assert line == f"f: {'x' * length}A -> {'x' * length}B"
    else:
        size = length + 1
        shown = re.fullmatch(rf"f: …x{{30}}(A… \({size} .*\)) -> …x{{30}}(B… \({size} .*\))", line)
        assert shown[1][1:] != shown[2][1:]  # the digests
    assert line != str(diff_of("x" * length + "A", "y" + "x" * (length - 1) + "B"))


def texts_of(before, after):
    """The change in each shape in which a human or a model reviews it."""
    draft = Draft(draft_id="d", status="s", requires="r", diff=diff_of(before, after))
    change = ChangeReport(number=1, operation="o", account_id="", verdict="staged", diff=draft.diff)
    call = attrs.evolve(change, arguments={"fields": after}, diff=None)
    reports = [PlanReport(plan_id="p", changes=(each,)) for each in (change, call)]
    htmls = [each._repr_html_() for each in (draft, *reports)]
    htmls += [MarkdownIt().enable("table").render(each.markdown()) for each in reports]
    yield from (unescape(re.sub("<[^>]*>", " ", html)) for html in htmls)
    yield from map(str, (*reports, draft, draft.diff, of_draft(draft, None)["untrusted"]["diff"]))


@given(VALUE, VALUE, VALUE | st.text(max_size=9))
def test_two_different_changes_look_different_in_every_review(before, one, other):
    if differ(one, other):
        for text, another in zip(texts_of(before, one), texts_of(before, other), strict=True):
            assert text != another
    changes = shown(before, one)
    assert bool(changes) is differ(before, one)
    assert not any(isinstance(side, dict | list) and side for _, _, *two in changes for side in two)
    assert str(diff_of(one, one)) == "f is unchanged"


KEYWORD = {"text": "outdoor jacket", "match_type": "BROAD", "status": "ENABLED", "cpc_bid": 1.75}
BOOTS = {**KEYWORD, "text": "hiking boots"}
JACKET = "outdoor jacket, BROAD"


@each_case(("before", "after", "found"),
    ([100, 0, 10**20], [Decimal("1.0E+2"), -0.0, 1e20], []),
    ({"a": None}, {}, [("f.a", "", None, MISSING), ("f", "", MISSING, {})]),
    ({"a": [{"b": 1, "c": 2}]}, {"a": [{"b": 1, "c": 3}]}, [("f.a[0].c", "", 2, 3)]),
    (None, {"a": 1, "b": {"c": []}}, [("f.a", "", MISSING, 1), ("f.b.c", "", MISSING, [])]),
    (list("abc"), list("bc"), [("f[0]", "", "a", MISSING)]),
    (list("ab"), list("ba"), [("f[0]", "", "a", "b"), ("f[1]", "", "b", "a")]),
    (list("ab"), list("bc"), [("f[0]", "", "a", MISSING), ("f[1]", "", MISSING, "c")]),
    ([1, 2], [True, 2], [("f[0]", "", 1, True)]),
    (
        [{"n": "a", "x": 1}, {"n": "b", "x": 1}],
        [{"n": "b", "x": 2}, {"n": "a", "x": 1.5}],
        [
            *[("f[0].n", "", "a", "b"), ("f[0].x", "", 1, 2)],
            *[("f[1].n", "", "b", "a"), ("f[1].x", "", 1, 1.5)],
        ],
    ),
    (
        [KEYWORD, BOOTS],
        [{**KEYWORD, "status": "PAUSED"}, BOOTS],
        [("f[0].status", JACKET, "ENABLED", "PAUSED")],
    ),
    (
        [{"text": "boots"}, KEYWORD],
        [{**KEYWORD, "cpc_bid": 2}],
        [("f[0].text", "boots", "boots", MISSING), ("f[0].cpc_bid", JACKET, 1.75, 2)],
    ),
    (
        {"and": [{"or": {"a": ["x"]}}, {"or": {"b": ["y"]}}]},
        {"and": [{"or": {"a": ["x", "z"]}}]},
        [("f.and[1].or.b[0]", "", "y", MISSING), ("f.and[0].or.a[1]", "", MISSING, "z")],
    ),
)  # fmt: skip
def test_changes_are_leaves_with_their_subject(before, after, found):
    assert shown(before, after) == found


def test_wide_lists_at_every_level_are_compared_in_linear_time():
    before, after = 1, 2
    for number in range(100):
        before, after = [*[number] * 20, before], [after, *[number] * 20, number]
    assert len(shown(before, after)) > 100


@each_case(("others", "leaf", "after", "more"),
    ({f"n_{n}": 1 for n in range(40)}, "daily_budget", {"daily_budget": 50}, 21),
    ({f"n_{n}": "x" * 50 for n in range(40)}, "budget.amount", {"budget": {"amount": 50}}, 21),
    # A long list of numbers does not hide a text.
    ({"audiences": list(range(9_000, 9_030))}, "status", {"status": "PAUSED"}, 11),
)  # fmt: skip
def test_what_matters_is_shown_whatever_else_is_not(others, leaf, after, more):
    diff = diff_of(None, others | after, "campaign")
    assert f"campaign.{leaf}: — -> " in str(diff)
    assert f"campaign.{leaf}: — -> " in repr(diff)
    assert f"campaign.{leaf}</th>" in diff._repr_html_()
    assert more_in(str(diff)) == more
    assert f"{more} more changes are not shown" in diff._repr_html_()


def cells_of(value):
    html = value._repr_html_()
    rows = re.findall(r"<tr><th.*?>(.*?)</th>(?:<td.*?>(.*?)</td>)?</tr>", html)
    return [(name, unescape(re.sub("<.*?>", "", value))) for name, value in rows]


def test_card_has_a_heading_for_each_element_and_for_what_is_outside_of_lists():
    before = {"rows": [KEYWORD, BOOTS], "n": 1}
    after = {"rows": [{**KEYWORD, "cpc_bid": 2}, {**BOOTS, "status": "PAUSED"}], "n": None}
    assert cells_of(diff_of(before, after)) == [
        (JACKET, ""),
        ("f.rows[0].cpc_bid", "1.75 → 2 +0.25 (+14.29 %)"),
        ("hiking boots, BROAD", ""),
        ("f.rows[1].status", "ENABLED → PAUSED"),
        ("f", ""),
        ("f.n", "1 → null"),
    ]
    assert cells_of(diff_of(0, 1)) == [("f", "0 → 1 +1")]
    assert cells_of(diff_of([2], None)) == [("f[0]", "− 2")]


def test_card_tells_the_unit_of_a_daily_budget():
    note = "daily_budget is in the currency of the account"
    assert note in diff_of(None, {"daily_budget": 5})._repr_html_()
    assert note in diff_of(1, 2, "daily_budget")._repr_html_()
    assert note not in diff_of(1, 2, "cpc_bid")._repr_html_()


# Cards and tables of notebooks.


@each_case("more", 0, 1)
def test_rows_and_columns_beyond_the_limit_are_counted(more):
    item = Campaign(id="v", name="v", status="v", extra={f"c{n}": "v" for n in range(17 + more)})
    for value, what, shown in [(item, "rows", 20), (Items([item] * (20 + more)), "rows", 320)]:
        html = value._repr_html_()
        assert html.count(">v</td>") == shown
        assert (f"{more} more {what} are not shown" in html) is (more > 0)
    assert f"{4 + more} more columns are not shown" in html
