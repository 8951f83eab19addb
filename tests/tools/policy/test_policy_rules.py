"""What a policy refuses, decided without any request: calls, and the diffs of drafts."""

import decimal
import enum
import itertools
import re
from decimal import Decimal

import attrs
import pytest
from cases import each_case

import adclient
from adclient import Diff
from adclient._core.call import validated
from adclient._core.operations import OPERATIONS
from adclient.ledger import Entry
from adclient.policy import Policy, Usage, rules

OPERATION = {operation.full_name: operation for operation in OPERATIONS}
BUDGET = "alpha.update_campaign_budget"
CREATE = "beta.create_video_campaign"


class Key(str, enum.Enum):  # noqa: UP042 (its `str` differs from its text)
    BUDGET = "daily_budget"
    ACCOUNT = "account_id"


def refusal(policy, name=CREATE, cursor=None, **arguments):
    operation = OPERATION[name]
    names = {parameter.name for parameter in operation.parameters}
    assert arguments.keys() <= names
    given = dict.fromkeys(names) | {"account_id": "account_1", **arguments}
    if "campaign_id" in names and not given["campaign_id"]:
        given["campaign_id"] = "campaign_1"
    return rules.refusal_of(policy, validated(operation, given, cursor))


def sentence(policy, *where, **arguments) -> str:
    """Return the reason of a refusal; the rule must be named in it."""
    found = refusal(policy, *where, **arguments)
    assert found is not None
    assert found.rule in found.reason
    assert found.reason.isprintable()
    assert len(found.reason) < 300
    return found.reason


# Accounts and operations.

PINNED = Policy(accounts=["account_1"])


def arguments_of(operation) -> dict[str, object]:
    values = {"id": "x", "object": {}, "texts": []}
    return {p.name: values.get(p.type) for p in operation.parameters if p.required}


def test_account_that_is_not_listed_is_refused_for_every_operation() -> None:
    odd = ["account_3", "ACCOUNT_1", "account_1 ", "account_1\u200b", "\u0430ccount_1"]
    for policy, account in itertools.product((PINNED, OWN), odd):
        with pytest.raises(adclient.ConfigurationError, match=r"policy's accounts$") as refused:
            policy.for_account(account)
        for operation in OPERATIONS:
            arguments = {**arguments_of(operation), "account_id": account}
            assert sentence(policy, operation.full_name, **arguments) == str(refused.value)


SEARCH, OTHER = "gamma.search_targeting", "account_2"


@each_case(
    ("name", "arguments", "key"),
    (CREATE, {"fields": {"x": {"account_id": OTHER}}}, "x.account_id"),
    (CREATE, {"fields": {"x": {Key.ACCOUNT: OTHER}}}, "x.account_id"),
    (CREATE, {"fields": {"x": [{"account_id": ["account_1", OTHER]}]}}, "x.account_id"),
    (CREATE, {"fields": {"x": {"account_id": {"id": OTHER}}}}, "x.account_id.id"),
    (CREATE, {"fields": {"x.account_id": OTHER}}, "x.account_id"),
    (CREATE, {"fields": {"account_id.x": OTHER}}, "account_id.x"),
    (CREATE, {"fields": {"": [[{"account_id": None}]]}}, ".account_id"),
    (CREATE, {"fields": {"x": {"account_id": {}}}}, "x.account_id"),
    (SEARCH, {"targeting": {"a": {"account_id": OTHER}}}, "targeting.a.account_id"),
    (SEARCH, {"cursor": [{"account_id": OTHER}]}, "cursor.account_id"),
)
def test_account_inside_an_argument_is_compared_as_well(name, arguments, key) -> None:
    reason = sentence(PINNED, name, **arguments)
    assert reason.startswith(f"{key} is ")
    assert reason.endswith(", and accounts allows [account_1]")


def test_pinned_account_is_allowed_wherever_it_is_named() -> None:
    assert refusal(PINNED, fields={"name": "x", "campaign": {"account_id": "account_1"}}) is None
    assert refusal(PINNED, fields={"account_ids": OTHER, "x": {"Account_Id": OTHER}}) is None
    own = "?account_id=account_1&x={%22account_id%22:[%22account_1%22]}&signature=" + "a" * 2000
    for cursor in (None, "abc", 5, {"after": "x"}, own, "e30=" * 600, "?" + "a" * 2000, "[1]"):
        assert refusal(PINNED, "beta.list_campaigns", cursor=cursor) is None


@each_case(
    ("patterns", "allowed"),
    (["*"], ""),
    (["*.list_*"], r"\w+\.list_"),
    (["beta.pause_campaign", "alpha.*"], r"beta\.pause_campaign$|alpha\."),
    ([], "nothing"),
)
def test_operations_are_allowed_by_pattern(patterns, allowed) -> None:
    policy = Policy(operations=patterns)
    for operation in OPERATIONS:
        is_allowed = re.match(allowed, operation.full_name) is not None
        found = refusal(policy, operation.full_name, **arguments_of(operation))
        assert (found is None) == is_allowed


# Rules of one account.

OWN = Policy(
    operations=["alpha.*", "beta.*"],
    fields=["name"],
    money={"daily_budget": 150},
    account={
        "account_1": Policy(money={"daily_budget": 75_000, "bid": 90}),
        "account_2": Policy(operations=["beta.pause_campaign"], fields=["status"]),
    },
)


# Keys and money.

KEYS = ["name", "items.price", "targeting.*"]
CAPPED = Policy(money={"daily_budget": 150, "bids.max": Decimal("2.50")}, fields=KEYS)
HUGE, TINY = Decimal("1e999999999"), Decimal("1e-999999999")
ABOVE = [150.00000000000003, 10**400, HUGE, Decimal("150.0000000000000000000000000000000000000001")]
BELOW = [-0.01, Decimal("-1e-999999999")]
OTHERS = [True, None, [True], [151], {}, [], "", "9" * 99, "151", "-1", "+1", " 1"]
OTHERS += ["1\n", "1e3", "1_0", "0x1", "01", ".5", "5.", "1,5", "NaN", "inf", "１", "٣"]
WITHIN = [0, -0.0, 150, 149.99, Decimal("1.5e2"), TINY, [1, [150]], "150", "0.50", "0"]


@each_case("amount", *ABOVE, *BELOW, *OTHERS)
def test_amount_that_is_not_within_its_limit_is_refused_at_every_depth(amount) -> None:
    for inner in (amount, [[amount]], [1, amount]):
        places = [{"daily_budget": inner}, {"bids": {"max": inner}}, {"bids": [[{"max": inner}]]}]
        for fields in (*places, {"bids.max": inner}, {Key.BUDGET: inner}):
            assert refusal(CAPPED, fields=fields).rule == "money"
    if isinstance(amount, float | int | Decimal) and amount is not True:
        assert refusal(CAPPED, BUDGET, daily_budget=amount).rule == "money"


UNLISTED = ["dailyBudget", "Daily_Budget", "daily_budget ", "daily\u200b_budget", "ｄaily_budget"]
UNLISTED += ["d\u0430ily_budget", "daily%5Fbudget", "__proto__", "Name", "na\u0301me", "name.x", ""]
UNLISTED += ["fields", "*", ".", "x__daily_budget", "x.daily_budget", "filter[name]", "items"]


@each_case("key", *UNLISTED)
def test_key_that_is_not_listed_is_refused_at_every_depth(key) -> None:
    assert sentence(CAPPED, fields={key: 1}).endswith(" is listed neither in fields nor in money")
    for name in ("name", "bids", "items", "daily_budget"):
        for fields in ({name: {key: 0}}, {name: [{}, [{key: [0]}]]}, {name: {key: {name: 0}}}):
            assert refusal(CAPPED, fields=fields).rule in ("fields", "money")


def test_listed_keys_are_allowed_in_objects_and_lists() -> None:
    inside = {"dailyBudget": 10**9, "": {"a.b": [{}, None]}, "*": 1}
    items = [{"price": 1}, [{"price": {}}]]
    fields = {"name": [["x"], 1], "items": items, "targeting": inside, "bids": [{"max": 2.5}]}
    assert refusal(CAPPED, fields=fields) is None
    assert refusal(CAPPED, fields={"items.price": 1, "targeting.geo": "DE"}) is None
    for empty in ({}, []):  # may clear what its service holds
        assert sentence(CAPPED, fields={"targeting": empty}).startswith("targeting is listed")
        assert refusal(CAPPED, fields={"name": empty}) is None


def test_key_that_would_be_sent_twice_is_no_valid_request() -> None:
    unequal = type("Unequal", (str,), {"__hash__": object.__hash__})  # a dictionary has it twice
    fields = {"name": {unequal("bid"): 999, "bid": 1}}
    with pytest.raises(adclient.InvalidRequest, match="has the same name twice") as refused:
        refusal(CAPPED, fields=fields)
    assert (refused.value.argument, refused.value.operation) == ("fields", CREATE)


def test_sentence_is_one_printable_line_of_bounded_length() -> None:
    assert len(sentence(CAPPED, fields={"x" * 10_000: 1})) < 200
    key, value = "\u202e\n" + "y" * 900, "\u202e\x1b[31m\n" + "z" * 10_000
    money = Policy(money={"daily_budget": 1}, fields=["name.*"], accounts=["account_1"])
    assert len(sentence(money, fields={"daily_budget": value})) < 200
    assert len(sentence(money, fields={"name": {key: {"account_id": value}}})) < 200


ONLY_NAME, EMPTY = Policy(fields=["name"]), [Policy(fields=[]), Policy(money={})]
TARGETING = "alpha.update_campaign_targeting"
SEARCHED = Policy(accounts=["account_1"], money={"targeting.bid": 5})
THREE = attrs.evolve(OWN, accounts=["account_1", "account_2", "account_3"])
TENTH = Policy(money={"bid": Decimal("0.1")})


@each_case(
    ("policy", "name", "arguments", "rule"),
    # An account is judged by its own rules, and the others by those of the policy.
    (OWN, BUDGET, {"daily_budget": 75_000, "fields": {"bid": 90, "name": "x"}}, None),
    (OWN, BUDGET, {"daily_budget": 75_000.01}, "money"),
    (OWN, CREATE, {"fields": {"bid": 91}}, "money"),
    (OWN, "beta.pause_campaign", {"account_id": "account_2"}, None),
    (OWN, CREATE, {"account_id": "account_2", "fields": {"name": "x"}}, "operations"),
    (OWN, "gamma.list_ads", {}, "operations"),
    (OWN, BUDGET, {"fields": {"name": {"account_id": "account_2"}}}, "accounts"),
    (THREE, BUDGET, {"account_id": "account_3", "daily_budget": 150}, None),
    (THREE, BUDGET, {"account_id": "account_3", "daily_budget": 151}, "money"),
    (THREE, BUDGET, {"account_id": "account_3", "fields": {"bid": 1}}, "fields"),
    # Amounts within their limit, wherever they are; a float is compared by its digits.
    *[(CAPPED, BUDGET, {"daily_budget": amount}, None) for amount in WITHIN[:6]],
    *[(CAPPED, BUDGET, {"fields": {"daily_budget": amount}}, None) for amount in WITHIN],
    (TENTH, CREATE, {"fields": {"bid": 0.1}}, None),
    (TENTH, CREATE, {"fields": {"bid": 0.1 + 1e-17 + 2e-17}}, "money"),
    # Keys and arguments must be listed exactly.
    (CAPPED, TARGETING, {"targeting": {"geo": "DE"}}, None),
    (CAPPED, TARGETING, {"fields": {"targeting": {"geo": "DE"}}}, None),
    (ONLY_NAME, TARGETING, {"targeting": {}}, "fields"),
    (CAPPED, "delta.update_keyword", {"keywords": ["x"]}, "fields"),
    (Policy(fields=["daily_budget"]), BUDGET, {"daily_budget": 10**9}, None),
    (SEARCHED, SEARCH, {"targeting": {"bid": 6, "x": 1}}, None),
    # Empty rules allow reads, and writes that set nothing.
    *[(policy, "beta.pause_campaign", {}, None) for policy in EMPTY],
    *[(policy, CREATE, {"fields": {}}, None) for policy in EMPTY],
    (EMPTY[0], CREATE, {"fields": {"name": "x"}}, "fields"),
    (EMPTY[1], CREATE, {"fields": {"name": "x"}}, "money"),
    *[(policy, "gamma.search_targeting", {"targeting": {"bid": 5}}, None) for policy in EMPTY],
)
def test_call_is_refused_by_the_rule_that_it_breaks(policy, name, arguments, rule) -> None:
    found = refusal(policy, name, **arguments)
    assert (None if found is None else found.rule) == rule


def test_hostile_key_costs_little() -> None:
    """A time that grew with the square of the length would be hours."""
    wide = Policy(fields=["a.*", *(f"key_{n}.x.*" for n in range(500))], accounts=["account_1"])
    long = "x" * 400_000
    assert refusal(wide, fields={"a": {"x" * 900: dict.fromkeys(map(str, range(9000)))}}) is None
    for fields in ({"a": {long: dict.fromkeys(map(str, range(60_000)))}}, {long: 1}):
        assert sentence(wide, fields=fields).endswith("too long a key for fields to be judged")
        assert refusal(PINNED, fields=fields).rule == "accounts"


def test_key_is_found_in_deep_nesting() -> None:
    fields: object = 999
    for _ in range(20):
        fields = {"a": [fields]}
    key = ".".join("a" * 20)
    for policy, allows in ((Policy(fields=[key]), True), (Policy(money={key: 998}), False)):
        assert (refusal(policy, fields=fields) is None) is allows
    for _ in range(100_000):
        fields = [fields]
    with pytest.raises(adclient.AdClientError, match="nested too deeply"):
        refusal(CAPPED, fields={"name": fields})


# What the ledger holds.


def of_usage(policy, account_id="account_1", **usage):
    entry = Entry(entry_id="1", operation="beta.pause_campaign", account_id=account_id)
    return rules.refusal_of_usage(policy, entry, Usage(**usage))


def test_usage_is_compared_with_the_rules_of_its_account() -> None:
    own = Policy(drafts_per_day=2, money={"bid": 1}, change_at_most=20)
    policy = Policy(drafts_per_day=9, account={"account_1": own})
    assert of_usage(policy, drafts_today=8, drafts_of_account=lambda: 1) is None
    assert of_usage(policy, drafts_today=8, drafts_of_account=lambda: 2) == (
        "drafts_per_day",
        "drafts_per_day allows 2 for this account, and today has 2",
    )
    assert of_usage(policy, drafts_today=9).reason.endswith("allows 9, and today has 9")
    assert of_usage(policy, over_limit="draft_1").rule == "change_at_most"
    usage = {"drafts_today": 8, "over_limit": "draft_1"}
    assert of_usage(policy, account_id="account_2", **usage) is None


def test_equal_write_is_looked_for_in_the_time_of_its_account() -> None:
    own = Policy(no_repeat_within=60, account={"account_1": Policy(no_repeat_within="2h")})
    for account_id, longest in (("account_1", 7200.0), ("account_2", 60.0)):
        found = of_usage(own, account_id, repeated=lambda seconds: f"in {seconds}")
        assert found.rule == "no_repeat_within"
        assert found.reason.endswith(f" apart: in {longest}")
    assert of_usage(own, repeated=lambda seconds: None) is None


def test_rule_that_needs_more_than_a_ledger_tells_is_an_error() -> None:
    own = {"account_1": Policy(drafts_per_day=9)}
    for policy in (Policy(no_repeat_within=60), Policy(account=own)):
        with pytest.raises(adclient.LedgerError, match=r"needs `Usage\.\w+`, which this ledger"):
            of_usage(policy)


# Diffs.

TWENTY = Policy(money={"daily_budget": 1000, "bid": 10, "bids.max": 9}, change_at_most=20)


def excess(before, after, field="daily_budget", policy=TWENTY, name=BUDGET, **arguments):
    diff = Diff(field=field, before=before, after=after)
    entry = Entry(entry_id="1", operation=name, account_id="a", arguments=arguments)
    found = rules.excess_of(policy, entry, diff)
    assert found is None or "change_at_most allows" in found
    assert found is None or len(found) < 300
    return found


def is_over(before, after, field="daily_budget", policy=TWENTY, **more) -> bool:
    return excess(before, after, field, policy, **more) is not None


@each_case(
    ("before", "after", "over"),
    *[(100, 120, False), (100, 120.01, True), (100, 80, False), (100, 79.99, True)],
    (100, Decimal("120.0000000000000000000000000000000000000001"), True),
    *[(0.3, 0.36, False), (0.3, 0.36000000000000004, True), (0, 0.01, True)],
    *[(-100, -120, False), (100, -100, True), (100, None, True), (None, 100, True)],
    *[("100", "120.00", False), ("100", "120.01", True), ("100", "1e2", True)],
    *[("auto", "max", True), ("auto", "auto", False), (100, {"amount": 100}, True)],
    *[([100], [110], False), ([100], [100, 5], True), ([1, 2], [2, 1], True)],
    *[([1, 2], [1.1, 2.2], False), ([1, 2], [1.1, 3], True), ([], [1], True)],
)
def test_change_of_money_is_compared_exactly(before, after, over) -> None:
    for key in ("daily_budget", "bids.max"):
        assert is_over(before, after, key) is over
        assert is_over({key: before}, {key: after}, "campaign") is over
        assert is_over([{"x": 1, key: before}], [{"x": 1, key: after}], "campaign") is over
    assert is_over({"max": before}, {"max": after}, "bids") is over
    for other in ("name", "dailyBudget", "limits.daily_budget", "daily_budget.x", "x" * 2000):
        assert not is_over(before, after, other)


@each_case(
    ("before", "after", "over"),
    (None, {"name": "x", "bid": 999}, True),
    ({"name": "x"}, {"name": "x", "bid": 5}, True),
    ({"name": "x", "bid": 5}, None, True),
    ({"name": "x", "bid": 5}, {"name": "y", "bid": 5}, False),
    ({"bid": 5, "old": {"bid": 5}}, {"bid": 6, "old": {"bid": 1}}, False),
    # Elements of lists.
    ([{"id": "a", "bid": 1}], [{"id": "a", "bid": 1.2}], False),
    ([{"id": "a", "bid": 1}], [{"id": "a", "bid": 1}, {"id": "b", "bid": 1}], True),
    ([{}], [{"id": "a", "bid": 1}], True),
    ([{"id": "a", "bid": 1}, {"id": "b", "bid": 2}], [{"id": "b", "bid": 2}], True),
    # Two of which one is paused, and one has another amount: the places prove nothing then.
    ([{"on": 1, "bid": 1}, {"bid": 2}], [{"on": 0, "bid": 1}, {"bid": 2}], False),
    ([{"on": 1, "bid": 1}, {"bid": 2}], [{"on": 0, "bid": 1}, {"bid": 2.1}], True),
)
def test_money_inside_a_diff_is_compared(before, after, over) -> None:
    assert is_over(before, after, "campaign") is over


def test_excess_names_the_change_and_the_limit() -> None:
    found = excess({"daily_budget": 100}, {"daily_budget": 130}, "campaign")
    assert found.startswith("daily_budget: 100 -> 130, and")
    assert not is_over(1, 1000, policy=Policy(money={"daily_budget": 1000}))  # no change_at_most
    assert is_over(100, 100.01, policy=Policy(money={"daily_budget": 1}, change_at_most=0))
    own = {"a": Policy(money={"daily_budget": 1000}, change_at_most=50)}
    assert not is_over(100, 150, policy=Policy(account=own))
    assert is_over(100, 151, policy=Policy(account=own))
    strict = Policy(money={"bid": 10}, change_at_most=5, account=own)
    assert not is_over(100, 150, policy=strict)
    assert is_over(1, 1.06, "bid", policy=attrs.evolve(strict, account=None))


AD = {"daily_budget": 99}
# Diffs that do not show `daily_budget`, as it was and as a call sets it.
HIDING = [
    *[("budget", 100, 101), ("dailyBudget", 100, 101), ("daily_budget", None, 101)],
    ("fields", {"status": "ENABLED"}, {"status": "PAUSED"}),
    ("campaign", {"budget": 5}, {"daily_budget": 101}),
    ("changes", *([{"field": "daily_budget", "value": amount}] for amount in (100, 101))),
    ("daily_budget", {"amount": 100}, {"amount": 101}),
    ("limits", *({"x": {"daily_budget": amount}} for amount in (100, 101))),
    # Another amount, or the same one in a list whose elements are others.
    ("ads", *([{"daily_budget": 1}, {"daily_budget": each}] for each in (100, 110))),
    ("ads", *([{"id": n, "daily_budget": 101}, {"daily_budget": 5}] for n in (1, 2))),
    ("ads", [{"x": 1, "daily_budget": 101}, AD], [{"daily_budget": 101}, {"x": 1, **AD}]),
    ("x" * 5000 + ".daily_budget", 100, 101),
]
SHOWING = [
    *[("daily_budget", 100, 101), ("daily_budget", 100, 100.9), ("daily_budget", 100, 100)],
    ("campaign", {"name": "x", "daily_budget": 101}, {"name": "y", "daily_budget": 101}),
    ("ads", *([{"daily_budget": each}, {"daily_budget": 90}] for each in (100, 101))),
]


def test_money_that_the_diff_does_not_show_cannot_be_judged() -> None:
    for arguments in ({"daily_budget": 101}, {"fields": {"daily_budget": ["101"]}}):
        for field, before, after in HIDING:
            assert "cannot be judged" in excess(before, after, field, **arguments), (field, before)
        for field, before, after in SHOWING:
            assert not is_over(before, after, field, **arguments), (field, before)
    assert excess(100, 101, bid=1, daily_budget=101).startswith("bid cannot be judged")
    # What the service shows is not what the call sets.
    assert excess(100, 101, daily_budget=999).startswith("daily_budget: 100 -> 999, and")
    two = {"daily_budget": 105, "fields": {"bids": [{"max": 5}, {"max": 9}]}}
    shown = ({"daily_budget": each, "bids": {"max": 5}} for each in (100, 105))
    assert excess(*shown, "campaign", **two).startswith("bids.max: 5 -> 9, and")


@each_case("before", None, {}, {"daily_budget": None}, {"name": "x"})
def test_only_what_a_creation_stages_needs_no_value_before(before) -> None:
    after = {"name": "x", "daily_budget": 999}
    for operation in OPERATIONS[:9]:
        found = excess(before, after, "campaign", name=operation.full_name, fields=after)
        if ".create_" in operation.full_name:
            assert found is None
        else:
            assert "cannot be judged" in found
    assert is_over({"daily_budget": 100}, after, "campaign", name=CREATE)
    assert is_over({"daily_budget": 100}, {"name": "x"}, "campaign", name=CREATE)
    assert is_over({"name": "y"}, {"name": "x"}, "campaign", name=CREATE, fields=after)
    groups = [{"daily_budget": 20}, {"daily_budget": 999}]
    assert not is_over(groups[:1], groups, "ad_groups", name=CREATE, fields=after)
    assert is_over(groups[:1], groups[1:], "ad_groups", name=CREATE, fields=after)
    assert not is_over(None, {"name": "x"}, "campaign", name=CREATE, fields=after)


@each_case("text", "1e999999999", "-1e999999999", "1e-999999999", f"1.{'1' * 10**6}")
def test_hostile_number_costs_nothing_and_is_over_the_limit(text) -> None:
    with decimal.localcontext(decimal.Context(prec=1, traps=[decimal.Inexact])):
        assert is_over(Decimal(1), Decimal(text))
        assert is_over(Decimal(text), Decimal(1))
