"""The rules of a policy, from code and from a file: what they accept, and how they are refused."""

import copy
import pickle
from decimal import Decimal
from fractions import Fraction

import attrs
import numpy
import pytest
from cases import each_case

from adclient import ConfigurationError, Policy

RULES = {
    "accounts": ["account_1", "account_2"],
    "operations": ["beta.*", "*.list_*", "alpha.update_campaign_budget"],
    "fields": ["name"],
    "money": {"daily_budget": 150, "bid": 2.5, "amount": Decimal("0.10")},
    "change_at_most": 20,
    "drafts_per_day": 5,
}


def test_rules_are_kept_exactly() -> None:
    policy = Policy(**RULES)
    assert policy.accounts == ("account_1", "account_2")
    amounts = [str(amount) for amount in policy.money.values()]
    assert amounts == ["150", "2.5", "0.10"]
    assert (policy.change_at_most, policy.drafts_per_day) == (Decimal(20), 5)
    assert Policy().accounts is None
    assert Policy(accounts=[], operations=[], fields=[], money={}).accounts == ()


@each_case(
    ("amount", "digits"),
    [
        (0.1, "0.1"),
        (-0.0, "-0.0"),
        (Decimal("1e-400"), "1E-400"),
        (numpy.int64(150), "150"),
        (numpy.float64(0.1), "0.1"),
    ],
)
def test_amount_keeps_its_digits(amount, digits) -> None:
    assert str(Policy(money={"bid": amount}).money["bid"]) == digits


WRONG_LISTS = [
    ("beta.*", "must be a list of strings, not str"),
    ({"a": 1}, "must be a list of strings, not dict"),
    (["beta.*", ""], "must have strings without surrounding blanks"),
    ([" a"], "must have strings without surrounding blanks"),
    ([["a"]], "must have strings without surrounding blanks"),
    (["beta.*"] * 2, "has beta.* twice"),
]
WRONG_AMOUNTS = [
    (True, "true"),
    ("150", "'150'"),
    (-1, "-1"),
    (float("nan"), "NaN"),
    (Decimal("1e400"), "1E+400"),
    (10**15 + 1, "1000000000000001"),
    (10**5000, "1"),
    (Fraction(1, 2), "1/2"),
    (None, "null"),
]


@each_case(
    ("rules", "rule", "problem"),
    [
        *(
            ({rule: value}, rule, f"{rule} {problem}")
            for rule in ("accounts", "operations", "fields")
            for value, problem in WRONG_LISTS
        ),
        ({"operations": ["Beta.*"]}, "operations", "has Beta.*, which matches no operation"),
        ({"operations": ["x" * 999]}, "operations", "which matches no operation, such as alpha."),
        ({"money": ["bid"]}, "money", "money must map keys to amounts, not be a list"),
        ({"money": {"bid ": 1}}, "money", "money must have strings without surrounding blanks"),
        ({"money": {1: 1}}, "money", "money must have strings without surrounding blanks"),
        (
            {"money": {"daily_budget": 1, "dailyBudget": 2}},
            "money",
            "money has daily_budget and dailyBudget, which count as one key",
        ),
        *(
            ({"money": {"bid": value}}, "money.bid", f"from 0 to 10^15, got {shown}")
            for value, shown in WRONG_AMOUNTS
        ),
        ({"change_at_most": "20", "money": {"bid": 1}}, "change_at_most", "got '20'"),
        ({"change_at_most": 20}, "change_at_most", "change_at_most needs money"),
        *(
            ({"drafts_per_day": value}, "drafts_per_day", "must be a whole number, 0 or more")
            for value in (-1, True, "5")
        ),
    ],
)
def test_wrong_rule_is_refused_by_name(rules, rule, problem) -> None:
    with pytest.raises(ConfigurationError) as refused:
        Policy(**rules)
    assert str(refused.value).startswith(f"{rule} ")
    assert problem in str(refused.value)
    assert refused.value.argument == rule
    assert len(str(refused.value)) < 200


def test_policy_cannot_be_changed_by_its_caller() -> None:
    rules = copy.deepcopy(RULES)
    policy = Policy(**rules)
    rules["accounts"].append("account_3")
    rules["money"]["daily_budget"] = 9999
    assert policy == Policy(**RULES)
    with pytest.raises(TypeError):
        policy.money["daily_budget"] = 9999
    with pytest.raises(AttributeError):
        policy.accounts = ("account_3",)


@each_case("rules", [RULES, {}, {"money": {}}])
def test_policy_is_a_value(rules) -> None:
    policy = Policy(**rules)
    for equal in [
        pickle.loads(pickle.dumps(policy)),
        copy.copy(policy),
        copy.deepcopy(policy),
        attrs.evolve(policy),
    ]:
        assert (equal, hash(equal), repr(equal)) == (policy, hash(policy), repr(policy))
    assert policy != Policy(accounts=["account_3"])


def test_policy_is_shown_by_its_rules() -> None:
    policy = Policy(accounts=["<b>"], money={"daily_budget": 150.5}, drafts_per_day=5)
    assert repr(policy) == "<Policy accounts [<b>], money {daily_budget: 150.5}, drafts_per_day 5>"
    html = policy._repr_html_()
    assert "[&lt;b&gt;]" in html
    assert "fields" not in html
    assert repr(Policy()) == "<Policy without rules>"
    assert "without rules" in Policy()._repr_html_()


# Files.


FILE = """\
accounts = ["account_1", "account_2"]
operations = ["beta.*", "*.list_*", "alpha.update_campaign_budget"]
fields = ["name"]
change_at_most = 20
drafts_per_day = 5

[money]
daily_budget = 150
bid = 2.5
amount = 0.10
"""


def test_policy_is_read_from_a_file(tmp_path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(FILE)
    assert Policy.read(path) == Policy.read(str(path)) == Policy(**RULES)


@each_case(
    ("old", "new", "problem"),
    [
        ("accounts", "acounts", "1: acounts is not a key here: did you mean accounts?"),
        ("20", "nan", "4: change_at_most must be a number from 0 to 10^15, got NaN"),
        ("150", "inf", "8: money.daily_budget must be a number from 0 to 10^15, got Infinity"),
        ("amount", '"a.b" = -1 #', "10: money.a.b must be a number from 0 to 10^15, got -1"),
        ("2.5", "2026-01-01", "9: money.bid must be a number from 0 to 10^15, got 2026-01-01"),
        ("account_2", "account_1", "1: accounts has account_1 twice"),
        ("beta.*", "beta.pause", "2: operations has beta.pause, which matches no operation"),
        ("[money]", "[[money]]", "7: money must map keys to amounts, not be a list"),
        ("bid", "dailyBudget", "7: money has daily_budget and dailyBudget, which count as one key"),
        ("= 5", "= 5.0", "5: drafts_per_day must be a whole number, 0 or more"),
    ],
)
def test_wrong_file_is_refused_with_its_line(tmp_path_factory, old, new, problem) -> None:
    path = tmp_path_factory.mktemp("policy") / "policy.toml"
    path.write_text(FILE.replace(old, new, 1))
    with pytest.raises(ConfigurationError) as refused:
        Policy.read(path)
    assert str(refused.value).startswith(f"{path}, line {problem}")
