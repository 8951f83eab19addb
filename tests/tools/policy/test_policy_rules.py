"""What a policy refuses, decided without any request: calls, and the diffs of drafts."""

import decimal
import enum
import re
from decimal import Decimal

import attrs
import pytest
from cases import each_case

import adclient
from adclient import Diff, Entry, Policy
from adclient._core.call import validated
from adclient._core.operations import OPERATIONS
from adclient._limits import rules
from adclient.policy import Usage

OPERATION = {operation.full_name: operation for operation in OPERATIONS}
BUDGET = "alpha.update_campaign_budget"
CREATE = "beta.create_video_campaign"


class Key(str, enum.Enum):  # noqa: UP042 (its `str` differs from its text)
    BUDGET = "daily_budget"
    ACCOUNT = "account_id"


class PydanticFields:
    """What pydantic makes of a model with a decimal under an alias."""

    def __init__(self, amount: Decimal) -> None:
        self._amount = amount

    def model_dump(self, *, mode, by_alias):
        assert by_alias
        return {"daily_budget": str(self._amount) if mode == "json" else self._amount}


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
    for operation in OPERATIONS:
        for account in ("account_2", "ACCOUNT_1", "account_1 ", "account_1\u200b"):
            arguments = {**arguments_of(operation), "account_id": account}
            reason = sentence(PINNED, operation.full_name, **arguments)
            assert reason.endswith(" is not one of the policy's accounts")


NAMES_OF_ACCOUNT = ["account_id", "Account-ID", Key.ACCOUNT, "filter[account_id]"]
NAMES_OF_ACCOUNT += ["/filter/account_id", "filter__account_id", "filter->accountId"]


@each_case(
    ("where", "value"),
    [
        *[("fields", {"x": {name: "account_2"}}) for name in NAMES_OF_ACCOUNT],
        ("fields", {"campaign": [{"accountId": "account_2"}]}),
        *[
            ("fields", {"x": {"account_id": other}})
            for other in (["account_2"], None, {"id": "account_1"})
        ],
        ("targeting", {"a": {"account_id": "account_2"}}),
        ("cursor", "https://ads.example.com/v1/x?a=1&Account_Id=account_2"),
        *[("cursor", f"?{name}=account_2") for name in ("filter%5Baccount_id%5D", "a__account_id")],
        ("cursor", "?accountId=account%5F2#top"),
        ("cursor", "?a=1;account_id=account_2"),  # some services separate by semicolons
        ("cursor", [{"account-id": "account_2"}]),
    ],
)
def test_account_inside_an_argument_is_compared_as_well(where, value) -> None:
    name = CREATE if where == "fields" else "gamma.search_targeting"
    reason = sentence(PINNED, name, **{where: value})
    assert reason.startswith(where)
    assert reason.endswith(", and accounts allows [account_1]")


def test_pinned_account_is_allowed_wherever_it_is_named() -> None:
    assert refusal(PINNED, fields={"name": "x", "campaign": {"account_id": "account_1"}}) is None
    for cursor in (None, "abc", 5, {"after": "x"}, "?account_id=account_1&page=2"):
        assert refusal(PINNED, "beta.list_campaigns", cursor=cursor) is None


@each_case(
    ("patterns", "allowed"),
    [
        (["*"], ""),
        (["*.list_*"], r"\w+\.list_"),
        (["beta.pause_campaign", "alpha.*"], r"beta\.pause_campaign$|alpha\."),
        ([], "nothing"),
    ],
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


@each_case("account", ["ACCOUNT_1", "account-1", "account_1 ", "\taccount_3", "ａccount_1", " "])
def test_account_that_may_be_read_as_another_one_is_refused(account) -> None:
    found = refusal(OWN, BUDGET, account_id=account, daily_budget=1)
    assert found.rule == "account"
    assert found.reason.endswith("may be read as another account")
    assert refusal(Policy(accounts=[]), account_id=account, fields={}).rule == "accounts"
    with pytest.raises(adclient.ConfigurationError) as refused:
        OWN.for_account(account)
    assert (str(refused.value), refused.value.argument) == (found.reason, "account")


ALIKE_IDS = Policy(accounts=["acc_xAb", "acc_xaB"], account={"acc_xAb": Policy(fields=["name"])})


def test_account_with_its_own_rules_does_not_lend_them_to_others() -> None:
    for other in ("account_2", "account_3"):
        fields = {"name": {"account_id": other}, "daily_budget": 75_000}
        assert sentence(OWN, BUDGET, fields=fields) == (
            f'fields.name.account_id is "{other}", and accounts allows [account_1]'
        )
    fields = {"name": {"account_id": "account_1"}}
    assert refusal(OWN, BUDGET, fields=fields) is None
    assert refusal(OWN, BUDGET, account_id="account_3", fields=fields).rule == "accounts"


# Keys and money.

CAPPED = Policy(money={"daily_budget": 150, "bid": Decimal("2.50")}, fields=["name", "targeting"])


NUMBERS = [
    *[150.00000000000003, -0.01, 10**400, Decimal("1e999999999"), Decimal("-1e-999999999")],
    Decimal("150.0000000000000000000000000000000000000001"),
]
OTHERS = ["100", True, None, [100], {"amount": 100}, {}]
ALIKE = ["Daily-Budget ", "ｄａｉｌｙ＿ｂｕｄｇｅｔ", "daily\u200b_budget", Key.BUDGET]
ALIKE += ["limits[dailyBudget][0]", "/limits/daily_budget", "limits．daily_budget"]


@each_case("amount", [*NUMBERS, *OTHERS])
def test_amount_over_its_limit_or_no_number_is_refused_everywhere(amount) -> None:
    nested = {"name": [[{"x": [{"daily_budget": amount}]}]]}
    for fields in ({"daily_budget": amount}, nested, *({"name": {name: amount}} for name in ALIKE)):
        assert refusal(CAPPED, fields=fields).rule == "money"
    if amount in NUMBERS:
        assert refusal(CAPPED, BUDGET, daily_budget=amount).rule == "money"


def test_key_that_would_be_sent_twice_is_no_valid_request() -> None:
    unequal = type("Unequal", (str,), {"__hash__": object.__hash__})  # a dictionary has it twice
    fields = {"name": {unequal("bid"): 999, "bid": 1}}
    with pytest.raises(adclient.InvalidRequest, match="has the same name twice") as refused:
        refusal(CAPPED, fields=fields)
    assert (refused.value.argument, refused.value.operation) == ("fields", CREATE)


def test_sentence_is_one_printable_line_of_bounded_length() -> None:
    assert len(sentence(CAPPED, fields={"x" * 10_000: 1})) < 200
    key, value = "\u202e\n" + "y" * 10_000, "\u202e\x1b[31m\n" + "z" * 10_000
    assert len(sentence(CAPPED, fields={"name": {key: {"daily_budget": value}}})) < 200


ONLY_NAME, EMPTY = Policy(fields=["name"]), [Policy(fields=[]), Policy(money={})]
TARGETING = "alpha.update_campaign_targeting"
TENTH = Policy(money={"bid": Decimal("0.1")})
PATHS = ["limits__daily_budget", "limits.daily_budget", "limits-daily_budget"]
WITH_PATHS = Policy(fields=["name", *PATHS], money={"daily_budget": 150})
WITHIN = [0, -0.0, 150, 149.99, Decimal("1.5e2"), Decimal("1e-999999999")]


@each_case(
    ("policy", "name", "arguments", "rule"),
    [
        # An account is judged by its own rules, and the others by those of the policy.
        (OWN, BUDGET, {"daily_budget": 75_000, "fields": {"bid": 90, "name": "x"}}, None),
        (OWN, BUDGET, {"daily_budget": 75_000.01}, "money"),
        (OWN, CREATE, {"fields": {"name": {"bid": 91}}}, "money"),
        (OWN, "beta.pause_campaign", {"account_id": "account_2"}, None),
        (OWN, CREATE, {"account_id": "account_2", "fields": {"name": "x"}}, "operations"),
        (OWN, "gamma.list_ads", {}, "operations"),
        (OWN, BUDGET, {"account_id": "account_3", "daily_budget": 150}, None),
        (OWN, BUDGET, {"account_id": "account_3", "daily_budget": 151}, "money"),
        (OWN, BUDGET, {"account_id": "account_3", "fields": {"bid": 1}}, "fields"),
        # One that the policy names is allowed beside one that it may be read as.
        (ALIKE_IDS, CREATE, {"fields": {"status": "x"}, "account_id": "acc_xaB"}, None),
        (ALIKE_IDS, CREATE, {"fields": {"status": "x"}, "account_id": "acc_xAb"}, "fields"),
        # Amounts within their limit, wherever they are; a float is compared by its digits.
        *[(CAPPED, BUDGET, {"daily_budget": amount}, None) for amount in WITHIN],
        *[(CAPPED, BUDGET, {"fields": {"daily_budget": amount}}, None) for amount in WITHIN],
        *[(CAPPED, CREATE, {"fields": {"name": [{"daily_budget": n}]}}, None) for n in WITHIN],
        (TENTH, CREATE, {"fields": {"bid": 0.1}}, None),
        (TENTH, CREATE, {"fields": {"bid": 0.1 + 1e-17 + 2e-17}}, "money"),
        (CAPPED, CREATE, {"fields": PydanticFields(Decimal("150"))}, None),
        (CAPPED, CREATE, {"fields": PydanticFields(Decimal("150.01"))}, "money"),
        # Keys and arguments must be listed exactly.
        *[(CAPPED, CREATE, {"fields": {name: "x"}}, "fields") for name in ("Name", "ｎame", "")],
        *[(CAPPED, CREATE, {"fields": {name: 1}}, "fields") for name in ("dailyBudget", "fields")],
        (CAPPED, TARGETING, {"targeting": {"geo": "DE"}}, None),
        (CAPPED, TARGETING, {"targeting": {"bid": 3}}, "money"),
        (ONLY_NAME, TARGETING, {"targeting": {}}, "fields"),
        (CAPPED, "delta.update_keyword", {"keywords": ["x"]}, "fields"),
        (Policy(fields=["daily_budget"]), BUDGET, {"daily_budget": 10**9}, None),
        # Empty rules allow reads, and writes that set nothing.
        *[(policy, "beta.pause_campaign", {}, None) for policy in EMPTY],
        *[(policy, CREATE, {"fields": {}}, None) for policy in EMPTY],
        (EMPTY[0], CREATE, {"fields": {"name": "x"}}, "fields"),
        (EMPTY[1], CREATE, {"fields": {"name": "x"}}, "money"),
        *[(policy, "gamma.search_targeting", {"targeting": {"bid": 5}}, None) for policy in EMPTY],
        # A path beside an allowed key.
        *[(ONLY_NAME, CREATE, {"fields": {"name": "x", path: 1}}, "fields") for path in PATHS],
        *[(WITH_PATHS, CREATE, {"fields": {path: 150}}, None) for path in PATHS],
        *[(WITH_PATHS, CREATE, {"fields": {path: 151}}, "money") for path in PATHS],
        # A key without letters.
        (Policy(money={"€": 5}, fields=["name"]), CREATE, {"fields": {"name": {"€": 6}}}, "money"),
        (Policy(money={"€": 5}, fields=["name"]), CREATE, {"fields": {"name": {"$": 6}}}, None),
    ],
)
def test_call_is_refused_by_the_rule_that_it_breaks(policy, name, arguments, rule) -> None:
    found = refusal(policy, name, **arguments)
    assert (None if found is None else found.rule) == rule


@each_case(
    ("name", "is_money"),
    [
        *(
            (name.replace(".", separator), True)
            for name in ("limits.daily_budget", "limits.0.dailyBudget", "daily_budget.0", ".bid")
            for separator in ("__", ".", "/", "->", "$", "~1", "%2F", "--", "](", "→", "․", "＿＿")
        ),
        *((name, True) for name in ("limits-daily_budget", "limits_daily-budget", "a_dailyBudget")),
        *((name, True) for name in ("a-dailyBudget", "daily__budget", "__daily_budget", "bid__")),
        *((name, True) for name in ("a.daily\u200b_budget/b", "a.daily$budget", "a__daily_Budget")),
        # Ordinary names of something else, whose words are separated in one way.
        *((name, False) for name in ("daily_budget_type", "min_daily_budget", "bid_strategy")),
        *((name, False) for name in ("max-bid", "bidStrategy", "maxDailyBudget", "daily_budgets")),
        *((name, False) for name in ("a.bid_strategy", "a__max_bid", "bid2", "CPC_Bid", "rebid")),
        *((name, False) for name in ("cheap bid sites", "e-bike bid", "_", "__", "", "%", "$")),
    ],
)
def test_name_is_money_if_it_or_a_part_between_separators_is(name, is_money) -> None:
    found = refusal(CAPPED, fields={"name": {name: 9999}})
    assert (found is not None and found.rule == "money") is is_money
    assert refusal(CAPPED, fields={"name": {name: 0}}) is None


def test_hostile_name_costs_little() -> None:
    """A time that grew with the square of the length would be hours."""
    money = {f"key_{number}": 1 for number in range(50)}
    policy = Policy(money=money, fields=["name"])
    names = [(part * 500)[:1000] for part in ("a__", "_-", "key.0", "%2F", "aB_")]
    assert refusal(policy, fields={"name": dict.fromkeys(names)}) is None
    assert refusal(policy, fields={"name": {"a__" * 10**6: 1}}).rule == "money"


def test_money_is_found_in_deep_nesting() -> None:
    fields: object = {"daily_budget": 999}
    for _ in range(20):
        fields = {"a": [fields]}
    assert refusal(CAPPED, fields={"name": fields}).rule == "money"
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
        with pytest.raises(
            adclient.LedgerError, match=r"needs `Usage\.\w+`, which this ledger does not"
        ):
            of_usage(policy)


# Diffs.

TWENTY = Policy(money={"daily_budget": 1000, "bid": 10}, change_at_most=20)


def excess(before, after, field="daily_budget", policy=TWENTY, name=BUDGET, **arguments):
    diff = Diff(field=field, before=before, after=after)
    found = rules.excess_of(policy, name, {"account_id": "a", **arguments}, diff)
    assert found is None or "change_at_most allows" in found
    assert found is None or len(found) < 300
    return found


def is_over(before, after, field="daily_budget", policy=TWENTY, **more) -> bool:
    return excess(before, after, field, policy, **more) is not None


@each_case(
    ("before", "after", "over"),
    [
        *[(100, 120, False), (100, 120.01, True), (100, 80, False), (100, 79.99, True)],
        (100, Decimal("120.0000000000000000000000000000000000000001"), True),
        *[(0.3, 0.36, False), (0.3, 0.36000000000000004, True), (0, 0.01, True)],
        *[(-100, -120, False), (100, -100, True), (100, None, True), (None, 100, True)],
        *[(100, "110", True), ("100", "100", False), ([100], [110], False)],
        *[([100], [100, 5], True), ([100, 110], [110, 100], False), ([1, 2], [2, 1], True)],
        ({"amount": 100, "currency": "EUR"}, {"amount": 120, "currency": "EUR"}, False),
        ({"amount": 100, "currency": "EUR"}, {"amount": 100, "currency": "USD"}, True),
    ],
)
def test_change_of_money_is_compared_exactly(before, after, over) -> None:
    for field in ("daily_budget", "/fields/daily_budget", "a.dailyBudget[0]"):
        assert is_over(before, after, field) is over
    assert is_over({"daily_budget": before}, {"daily_budget": after}, "campaign") is over
    assert is_over({"a": {"daily_budget": before}}, {"a": {"daily_budget": after}}, "x") is over
    assert not is_over(before, after, "name")


@each_case(
    ("before", "after", "over"),
    [
        (None, {"name": "x", "daily_budget": 999}, True),
        ({"name": "x"}, {"name": "x", "daily_budget": 5}, True),
        ({"name": "x", "daily_budget": 5}, None, True),
        ({"name": "x", "daily_budget": 5}, {"name": "y", "daily_budget": 5}, False),
        # Diffs inside a diff.
        (None, [{"field": "daily_budget", "before": 100, "after": 101}], True),
        ({"field": "limits.bid", "value": 1}, {"field": "limits.bid", "value": 5}, True),
        ({"field": "clicks", "value": 1}, {"field": "clicks", "value": 5}, False),
        ({"field": 7, "value": 1}, {"field": None, "value": 5}, False),
        # Elements of lists.
        ([{"id": "a", "bid": 1}], [{"id": "a", "bid": 1.2}], False),
        ([{"id": "a", "bid": 1}], [{"id": "a", "bid": 1}, {"id": "b", "bid": 1}], True),
        ([{}], [{"id": "a", "bid": 1}], True),
        ([{"id": "a", "on": "no", "bid": 1}], [{"id": "a", "on": "yes", "bid": 1}], False),
        # Two swap their amounts, and each looks as if only its name changed.
        (
            [{"id": "a", "bid": 1}, {"id": "b", "bid": 2}],
            [{"id": "b", "bid": 1}, {"id": "a", "bid": 2}],
            True,
        ),
        ([{"id": "a", "n": 1}, {"id": "b", "n": 2}], [{"id": "b", "n": 1}], False),
    ],
)
def test_money_inside_a_diff_is_compared(before, after, over) -> None:
    assert is_over(before, after, "campaign") is over


def test_excess_names_the_change_and_the_limit() -> None:
    found = excess({"daily_budget": 100}, {"daily_budget": 130}, "campaign")
    assert found.startswith("campaign.daily_budget: 100 → 130, and")
    assert not is_over(1, 1000, policy=Policy(money={"daily_budget": 1000}))  # no change_at_most
    assert is_over(100, 100.01, policy=Policy(money={"daily_budget": 1}, change_at_most=0))
    own = {"a": Policy(money={"daily_budget": 1000}, change_at_most=50)}
    assert not is_over(100, 150, policy=Policy(account=own))
    assert is_over(100, 151, policy=Policy(account=own))
    strict = Policy(money={"bid": 10}, change_at_most=5, account=own)
    assert not is_over(100, 150, policy=strict)
    assert is_over(1, 1.06, "bid", policy=attrs.evolve(strict, account={"b": own["a"]}))


# Diffs that show nothing to compare for the money that a call sets.
HIDING = [
    ("budget", 100, 999),
    ("fields", {"status": "ENABLED"}, {"status": "PAUSED"}),
    ("campaign", [], [{"budget": 5}]),
    # Money that is not changed, though the call sets another amount, is that of something else.
    ("dailyBudget", 100, 100),
    ("budget", *({"account": {"daily_budget": 500}, "amount": amount} for amount in (100, 999))),
    ("x" * 5000 + "daily_budget" + "x" * 5000, 100, 101),
]
SHOWING = [
    ("daily_budget", 100, 101),
    ("campaign", {"name": "x", "daily_budget": 101}, {"name": "y", "daily_budget": 101}),
    ("changes", [{"field": "daily_budget", "value": 7}], [{"field": "daily_budget", "value": 8}]),
    ("campaign", *({"a": [{"Daily-Budget": {"amount": amount}}]} for amount in (7, 8))),
]


@each_case(
    "arguments",
    [
        {"daily_budget": 101},
        {"fields": {"limits": [{"dailyBudget": 101}]}},
        {"fields": {"limits.daily_budget": 101}},
    ],
)
def test_money_that_the_diff_does_not_show_cannot_be_judged(arguments) -> None:
    for field, before, after in HIDING:
        assert "cannot be judged" in excess(before, after, field, **arguments), (field, before)
    for field, before, after in SHOWING:
        assert not is_over(before, after, field, **arguments), (field, before)
    assert excess(100, 101, bid=1, daily_budget=101).startswith("bid cannot be judged")
    two = {"daily_budget": 105, "fields": {"ad_group": {"daily_budget": 9999}}}
    assert "daily_budget cannot be judged" in excess(100, 105, **two)


@each_case("before", [None, {}, {"daily_budget": None}, {"name": "x"}])
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
    assert not is_over(None, {"name": "x"}, "campaign", name=CREATE, fields=after)


@each_case("text", ["1e999999999", "-1e999999999", "1e-999999999", f"1.{'1' * 10**6}"])
def test_hostile_number_costs_nothing_and_is_over_the_limit(text) -> None:
    with decimal.localcontext(decimal.Context(prec=1, traps=[decimal.Inexact])):
        assert is_over(Decimal(1), Decimal(text))
        assert is_over(Decimal(text), Decimal(1))
