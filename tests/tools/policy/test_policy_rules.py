"""What a policy refuses, decided without any request: calls, and the diffs of drafts."""

import decimal
import enum
import re
import time
from decimal import Decimal

import attrs
import pytest
from cases import each_case

from adclient import (
    AdClientError,
    ConfigurationError,
    Diff,
    Entry,
    InvalidRequest,
    LedgerError,
    Policy,
)
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


class Unequal(str):
    """A text that equals no other, so that a dictionary has it twice."""

    __slots__ = ()
    __eq__ = object.__eq__
    __hash__ = object.__hash__


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


@each_case(
    ("where", "value"),
    [
        ("fields", {"account_id": "account_2"}),
        ("fields", {"campaign": [{"accountId": "account_2"}]}),
        ("fields", {"Account-ID": "account_2"}),
        ("fields", {Key.ACCOUNT: "account_2"}),
        ("fields", {"filter[account_id]": "account_2"}),
        ("fields", {"/filter/account_id": "account_2"}),
        ("fields", {"filter__account_id": "account_2"}),
        ("fields", {"filter->accountId": "account_2"}),
        ("fields", {"account_id": ["account_2"]}),
        ("fields", {"account_id": None}),
        ("fields", {"account_id": {"id": "account_1"}}),
        ("targeting", {"a": {"account_id": "account_2"}}),
        ("cursor", "https://ads.example.com/v1/x?a=1&Account_Id=account_2"),
        ("cursor", "?accountId=account%5F2#top"),
        ("cursor", "?filter%5Baccount_id%5D=account_2"),
        ("cursor", "?filter__account_id=account_2"),
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


def test_account_is_judged_by_its_own_rules() -> None:
    assert refusal(OWN, BUDGET, daily_budget=75_000, fields={"bid": 90, "name": "x"}) is None
    reason = sentence(OWN, BUDGET, daily_budget=75_000.01)
    assert reason == "daily_budget is 75000.01, and money allows 0 to 75000"
    assert refusal(OWN, fields={"name": {"bid": 91}}).rule == "money"
    assert refusal(OWN, "beta.pause_campaign", account_id="account_2") is None
    assert refusal(OWN, account_id="account_2", fields={"name": "x"}).rule == "operations"
    assert refusal(OWN, "gamma.list_ads").rule == "operations"
    for account in ("account_3", "another"):
        assert refusal(OWN, BUDGET, account_id=account, daily_budget=150) is None
        assert refusal(OWN, BUDGET, account_id=account, daily_budget=151).rule == "money"
        assert refusal(OWN, BUDGET, account_id=account, fields={"bid": 1}).rule == "fields"


@each_case("account", ["ACCOUNT_1", "account-1", "account_1 ", "\taccount_3", "ａccount_1", " "])
def test_account_that_may_be_read_as_another_one_is_refused(account) -> None:
    found = refusal(OWN, BUDGET, account_id=account, daily_budget=1)
    assert found.rule == "account"
    assert found.reason.endswith("may be read as another account")
    assert refusal(Policy(accounts=[]), account_id=account, fields={}).rule == "accounts"
    with pytest.raises(ConfigurationError) as refused:
        OWN.for_account(account)
    assert (str(refused.value), refused.value.argument) == (found.reason, "account")


def test_account_that_the_policy_names_is_allowed_beside_one_that_it_may_be_read_as() -> None:
    policy = Policy(accounts=["acc_xAb", "acc_xaB"], account={"acc_xAb": Policy(fields=["name"])})
    assert refusal(policy, fields={"status": "PAUSED"}, account_id="acc_xaB") is None
    assert policy.for_account("acc_xaB").fields is None
    assert refusal(policy, fields={"status": "PAUSED"}, account_id="acc_xAb").rule == "fields"


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


@each_case("amount", [0, -0.0, 150, 149.99, Decimal("1.5e2"), Decimal("1e-999999999")])
def test_amount_within_its_limit_is_allowed(amount) -> None:
    assert refusal(CAPPED, BUDGET, daily_budget=amount) is None
    assert refusal(CAPPED, BUDGET, fields={"daily_budget": amount}) is None
    assert refusal(CAPPED, fields={"name": [{"x": {"daily_budget": amount}}]}) is None


NUMBERS = [
    150.00000000000003,
    -0.01,
    10**400,
    Decimal("150.0000000000000000000000000000000000000001"),
    Decimal("1e999999999"),
    Decimal("-1e-999999999"),
]
OTHERS = ["100", True, None, [100], {"amount": 100}, {}]


@each_case("amount", [*NUMBERS, *OTHERS])
def test_amount_over_its_limit_or_no_number_is_refused_everywhere(amount) -> None:
    for fields in (
        {"daily_budget": amount},
        {"name": [[{"x": [{"daily_budget": amount}]}]]},
        {"name": {"Daily-Budget ": amount}},
        {"name": {"ｄａｉｌｙ＿ｂｕｄｇｅｔ": amount}},
        {"name": {"daily\u200b_budget": amount}},
        {"name": {"limits[dailyBudget][0]": amount}},
        {"name": {"/limits/daily_budget": amount}},
        {"name": {"limits．daily_budget": amount}},
        {"name": {Key.BUDGET: amount}},
    ):
        assert refusal(CAPPED, fields=fields).rule == "money"
    if amount in NUMBERS:
        assert refusal(CAPPED, BUDGET, daily_budget=amount).rule == "money"
        assert refusal(CAPPED, BUDGET, daily_budget=amount, fields={"daily_budget": 1}) is not None


def test_float_is_compared_by_its_digits() -> None:
    """In binary, 0.1 is a little more than a tenth."""
    policy = Policy(money={"bid": Decimal("0.1")})
    assert refusal(policy, fields={"bid": 0.1}) is None
    assert refusal(policy, fields={"bid": 0.1 + 1e-17 + 2e-17}).rule == "money"


def test_amount_of_a_pydantic_model_is_compared_under_its_alias() -> None:
    assert refusal(CAPPED, fields=PydanticFields(Decimal("150"))) is None
    assert refusal(CAPPED, fields=PydanticFields(Decimal("150.01"))).rule == "money"


@each_case(
    ("policy", "fields", "expected"),
    [
        (CAPPED, {"bid": 999}, "fields.bid is 999, and money allows 0 to 2.50"),
        (
            CAPPED,
            {"name": [{"bid": "2"}]},
            'fields.name[0].bid is "2", and money allows 0 to 2.50',
        ),
        (
            CAPPED,
            {"status": "PAUSED"},
            "fields.status is not one of the fields that the policy allows",
        ),
        (
            Policy(money={"bid": 1}),
            {"daily_budget": 1},
            "fields.daily_budget is not one of the money that the policy allows",
        ),
    ],
)
def test_sentence_names_the_rule_and_the_value(policy, fields, expected) -> None:
    assert sentence(policy, fields=fields) == expected


def test_sentence_is_one_printable_line_of_bounded_length() -> None:
    assert len(sentence(CAPPED, fields={"x" * 10_000: 1})) < 200
    key, value = "\u202e\n" + "y" * 10_000, "\u202e\x1b[31m\n" + "z" * 10_000
    assert len(sentence(CAPPED, fields={"name": {key: {"daily_budget": value}}})) < 200


@each_case("name", ["Name", "ｎame", "", "account_id", "dailyBudget", "fields"])
def test_key_must_be_listed_exactly(name) -> None:
    assert refusal(CAPPED, fields={"name": "x", name: "account_1"}).rule == "fields"


def test_arguments_count_as_keys() -> None:
    update = "alpha.update_campaign_targeting"
    assert refusal(CAPPED, update, targeting={"geo": "DE"}) is None
    assert refusal(Policy(fields=["name"]), update, targeting={}).rule == "fields"
    assert refusal(CAPPED, update, targeting={"bid": 3}).rule == "money"
    assert refusal(CAPPED, "delta.update_keyword", keywords=["x"]).rule == "fields"
    assert refusal(Policy(fields=["daily_budget"]), BUDGET, daily_budget=10**9) is None


def test_empty_rules_allow_writes_that_set_nothing_and_reads() -> None:
    for policy in (Policy(fields=[]), Policy(money={})):
        assert refusal(policy, "beta.pause_campaign") is None
        assert refusal(policy, fields={}) is None
        assert refusal(policy, fields={"name": "x"}) is not None
        assert refusal(policy, "gamma.search_targeting", targeting={"bid": 5}) is None


def test_key_that_would_be_sent_twice_is_no_valid_request() -> None:
    fields = {"name": {Unequal("bid"): 999, "bid": 1}}
    assert len(fields["name"]) == 2
    with pytest.raises(InvalidRequest, match="an object has the same name twice") as refused:
        refusal(CAPPED, fields=fields)
    assert refused.value.argument == "fields"
    assert refused.value.operation == CREATE


@each_case(
    ("name", "is_money"),
    [
        *(
            (name.replace(".", separator), True)
            for name in ("limits.daily_budget", "limits.0.dailyBudget", "daily_budget.0", ".bid")
            for separator in (
                *("__", "___", ".", "/", "\\", ":", "::", "->", "=>", "|", ",", ";", "#", "$", "@"),
                *("=", "&", "~1", "%2F", "%2e", "--", "[", "](", "→", "›", "․", "．", "＿＿"),
            )
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


def test_key_without_letters_is_money_as_well() -> None:
    policy = Policy(money={"€": 5}, fields=["name"])
    assert refusal(policy, fields={"name": {"€": 6}}).rule == "money"
    assert refusal(policy, fields={"name": {"$": 6}}) is None


def test_path_beside_an_allowed_key_is_refused() -> None:
    for name in ("limits__daily_budget", "limits.daily_budget", "limits-daily_budget"):
        found = refusal(Policy(fields=["name"]), fields={"name": "x", name: 1})
        assert found.rule == "fields"
        listed = Policy(fields=["name", name], money={"daily_budget": 150})
        assert refusal(listed, fields={"name": "x", name: 150}) is None
        assert refusal(listed, fields={"name": "x", name: 151}).rule == "money"


PARTS = ["a__", "_-", "key.0", "%2F", "aB_"]


def test_hostile_name_costs_little() -> None:
    money = {f"key_{number}": 1 for number in range(50)}
    policy = Policy(money=money, fields=["name"])
    names = [f"{number}{part * 500}"[:1000] for part in PARTS for number in range(9)]
    start = time.process_time()
    assert refusal(policy, fields={"name": dict.fromkeys(names)}) is None
    assert refusal(policy, fields={"name": {"a__" * 10**6: 1}}).rule == "money"
    assert time.process_time() - start < 1


@each_case(
    ("name", "rule"),
    [
        ("daily_budget[" + "0" * 1000 + "]", "money"),
        ("limits.daily_budget" + " " * 1000, "money"),
        ("account_id." + "x" * 1000, "accounts"),
        ("x" * 1000, None),
    ],
)
def test_name_that_is_too_long_to_be_judged_is_refused(name, rule) -> None:
    policy = PINNED if rule == "accounts" else CAPPED
    reads = {"name": "gamma.search_targeting", "targeting": {"a": [{name: "account_1"}]}}
    if rule is None:
        assert refusal(policy, fields={"name": {name: 9999}}) is None
    else:
        text = sentence(policy, fields={"name": [{name: "account_1"}]})
        assert text.endswith(f" is too long a name for {rule} to be judged")
    assert (refusal(policy, **reads) is None) is (rule != "accounts")


def test_money_is_found_in_deep_nesting() -> None:
    fields: object = {"daily_budget": 999}
    for _ in range(20):
        fields = {"a": [fields]}
    assert refusal(CAPPED, fields={"name": fields}).rule == "money"
    for _ in range(100_000):
        fields = [fields]
    with pytest.raises(AdClientError, match="nested too deeply"):
        refusal(CAPPED, fields={"name": fields})


# What the ledger holds.


def of_usage(policy, account_id="account_1", **usage):
    entry = Entry(entry_id="1", operation="beta.pause_campaign", account_id=account_id)
    return rules.refusal_of_usage(policy, entry, Usage(**usage))


def test_usage_is_compared_with_its_rules() -> None:
    policy = Policy(money={"bid": 1}, change_at_most=20, drafts_per_day=3)
    assert of_usage(policy, drafts_today=2) is None
    assert of_usage(policy, drafts_today=3) == (
        "drafts_per_day",
        "drafts_per_day allows 3, and today has 3",
    )
    assert of_usage(policy, over_limit="draft_1").rule == "change_at_most"
    assert of_usage(Policy(), drafts_today=10**9, over_limit="draft_1") is None
    assert of_usage(Policy(drafts_per_day=0)) is not None


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


def test_equal_write_is_refused_with_the_earlier_one() -> None:
    asked = []

    def repeated(seconds: float) -> str | None:
        asked.append(seconds)
        return "draft draft_7\u202e" if seconds > 60 else None

    assert of_usage(Policy(no_repeat_within=60), repeated=repeated) is None
    assert of_usage(Policy(no_repeat_within="1h"), repeated=repeated) == (
        "no_repeat_within",
        "no_repeat_within allows equal writes only 3600 seconds apart: draft draft_7\\u202e",
    )
    own = Policy(no_repeat_within=60, account={"account_1": Policy(no_repeat_within="2h")})
    assert of_usage(own, repeated=repeated) is not None
    assert of_usage(own, account_id="account_2", repeated=repeated) is None
    assert asked == [60.0, 3600.0, 7200.0, 60.0]


def test_rule_that_needs_more_than_a_ledger_tells_is_an_error() -> None:
    for policy in (
        Policy(no_repeat_within=60),
        Policy(account={"account_1": Policy(drafts_per_day=9)}),
    ):
        with pytest.raises(
            LedgerError, match=r"needs `Usage\.\w+`, which this ledger does not set"
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
        (100, 120, False),
        (100, 120.01, True),
        (100, Decimal("120.0000000000000000000000000000000000000001"), True),
        (100, 80, False),
        (0.3, 0.36, False),
        (0.3, 0.36000000000000004, True),
        (-100, -120, False),
        (100, -100, True),
        (0, 0.01, True),
        (100, None, True),
        (100, "110", True),
        ("100", "100", False),
        (None, 100, True),
        ([100], [110], False),
        ([100, 110], [110, 100], False),
        ([100, 200], [200, 100], True),
        ([100], [100, 5], True),
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
    text = "campaign.daily_budget: 100 → 130, and change_at_most allows 20 %"
    assert excess({"daily_budget": 100}, {"daily_budget": 130}, "campaign") == text
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
    ("daily_budget", "100", "100"),
    ("campaign", [], [{"budget": 5}]),
    # Money that is not changed, though the call sets another amount, is that of something else.
    ("dailyBudget", 100, 100),
    (
        "budget",
        {"account": {"daily_budget": 500}, "amount": 100},
        {"account": {"daily_budget": 500}, "amount": 999},
    ),
    ("x" * 5000 + "daily_budget" + "x" * 5000, 100, 101),
]
SHOWING = [
    ("daily_budget", 100, 101),
    ("dailyBudget", 101, 101.0),
    ("campaign", {"name": "x", "daily_budget": 101}, {"name": "y", "daily_budget": 101}),
    ("changes", [{"field": "daily_budget", "value": 7}], [{"field": "daily_budget", "value": 8}]),
    (
        "campaign",
        {"a": [{"Daily-Budget": {"amount": 7}}]},
        {"a": [{"Daily-Budget": {"amount": 8}}]},
    ),
]


@each_case(
    "arguments",
    [
        {"daily_budget": 101},
        {"fields": {"daily_budget": 101}},
        {"fields": {"limits": [{"dailyBudget": 101}]}},
        {"fields": {"limits.daily_budget": 101}},
    ],
)
def test_money_that_the_diff_does_not_show_cannot_be_judged(arguments) -> None:
    for field, before, after in HIDING:
        assert "cannot be judged" in excess(before, after, field, **arguments), (field, before)
        if field == "budget":
            assert not is_over(before, after, field)
    for field, before, after in SHOWING:
        assert not is_over(before, after, field, **arguments), (field, before)
    assert excess(100, 101, bid=1, daily_budget=101) == (
        "bid cannot be judged, as the diff does not show it, and change_at_most allows 20 %"
    )


def test_each_of_several_amounts_must_be_shown() -> None:
    two = {"daily_budget": 105, "fields": {"ad_group": {"daily_budget": 9999}}}
    assert "daily_budget cannot be judged" in excess(100, 105, **two)
    fields = {"ads": [{"daily_budget": 105}, {"daily_budget": 110}]}
    shown = {"daily_budget": 105, "ads": [{"daily_budget": 110}]}
    assert not is_over({"daily_budget": 100, "ads": [{"daily_budget": 100}]}, shown, "x", **fields)
    assert not is_over(100, 105, fields={"a": {"daily_budget": 104.9}})  # as if it were rounded


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
    start = time.process_time()
    with decimal.localcontext(decimal.Context(prec=1, traps=[decimal.Inexact])):
        assert is_over(Decimal(1), Decimal(text))
        assert is_over(Decimal(text), Decimal(1))
    assert time.process_time() - start < 2
