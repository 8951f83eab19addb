"""The rules of a policy, from code and from a file: what they accept, and how they are refused."""

import copy
import pickle
import re
from decimal import Decimal
from fractions import Fraction

import attrs
import pytest
from cases import each_case

from adclient import ConfigurationError
from adclient.policy import Policy

RULES = {
    "accounts": ["account_1", "account_2"],
    "operations": ["beta.*", "*.list_*", "alpha.update_campaign_budget"],
    "fields": ["name"],
    "money": {"daily_budget": 150, "bid": 2.5, "amount": Decimal("0.10")},
    "change_at_most": 20,
    "drafts_per_day": 5,
    "no_repeat_within": "1h",
    "account": {"account_2": Policy(money={"daily_budget": 75_000}, drafts_per_day=2)},
}


def test_rules_are_kept_exactly() -> None:
    policy = Policy(**RULES)
    assert policy.accounts == ("account_1", "account_2")
    amounts = [str(amount) for amount in policy.money.values()]
    assert amounts == ["150", "2.5", "0.10"]
    assert (policy.change_at_most, policy.drafts_per_day) == (Decimal(20), 5)
    times = {"90s": 90, "30m": 1800, "1h": 3600, "2d": 172_800, 0.5: 0.5, 366 * 86_400: 31_622_400}
    kept = [Policy(no_repeat_within=time).no_repeat_within for time in times]
    assert kept == [*times.values()]
    assert policy.account["account_2"].drafts_per_day == 2
    assert Policy().accounts is None
    assert Policy(accounts=[], operations=[], fields=[], money={}).accounts == ()


OWN_RULES = {"account_1": Policy(fields=[])}
BLANKS = "must have printable strings without surrounding blanks"
NO_KEY = "which is no key: write names joined by dots, such as bidding.max_cpc"
WRONG_LISTS = [
    *[("beta.*", "must be a list of strings, not str"), (["beta.*"] * 2, "has beta.* twice")],
    ({"a": 1}, "must be a list of strings, not dict"),
    *[(value, BLANKS) for value in ([" a"], [["a"]], ["a\u200b"], ["a\nb"])],
]
WRONG_AMOUNTS = [
    *[(True, "true"), ("150", "'150'"), (-1, "-1"), (float("nan"), "NaN"), (None, "null")],
    *[(Decimal("1e400"), "1E+400"), (10**15 + 1, "1000000000000001"), (10**5000, "1")],
    (Fraction(1, 2), "1/2"),
]
WRONG_TIMES = [
    *[("1.5h", "'1.5h'"), ("367d", "31708800"), (-1, "-1"), (True, "true"), (float("nan"), "NaN")]
]


@each_case(("rules", "rule", "problem"),
    *(({rule: value}, rule, f"{rule} {problem}")
      for rule in ("accounts", "operations", "fields") for value, problem in WRONG_LISTS),
    ({"operations": ["Beta.*"]}, "operations", "has Beta.*, which matches no operation"),
    ({"money": ["bid"]}, "money", "money must map keys to amounts, not be a list"),
    *(({"money": {key: 1}}, "money", f"money {BLANKS}") for key in ("bid ", 1)),
    *(({"money": {key: 1}}, "money", f"money has {key}, {NO_KEY}")
      for key in ("bids.*", "bid*", "a..b", ".bid", "*")),
    *(({"fields": ["name", key]}, "fields", f"{NO_KEY}, or targeting.* for whatever ")
      for key in ("*", ".*", "a.*.b", "a.b*", "*.bid", "a.", "a..*", "x" * 1001)),
    ({"fields": ["fields.*"]}, "fields", "fields has fields.*: leave out `fields.`"),
    ({"money": {"fields.bid": 1}}, "money", "money has fields.bid: leave out `fields.`"),
    *(({"money": {"bid": value}}, "money.bid", f"from 0 to 10^15, got {shown}")
      for value, shown in WRONG_AMOUNTS),
    ({"change_at_most": "20", "money": {"bid": 1}}, "change_at_most", "got '20'"),
    ({"change_at_most": 20}, "change_at_most", "change_at_most needs money"),
    *(({"drafts_per_day": value}, "drafts_per_day", "must be a whole number, 0 or more")
      for value in (-1, True, "5")),
    *(({"no_repeat_within": value}, "no_repeat_within", f"30m, 1h or 2d, got {shown}")
      for value, shown in WRONG_TIMES),
    ({"account": ["account_1"]}, "account", "account must be a Mapping, not list"),
    *(({"account": {key: Policy()}}, "account", f"account {BLANKS}") for key in (1, None, "")),
    *(({"account": {"a": value}}, "account.a", "must be a policy without")
      for value in ({}, None, Policy(accounts=["a"]), Policy(account=OWN_RULES))),
    ({"accounts": ["a"], "account": {"b": Policy()}}, "account.b", "has rules, but accounts does"),
)  # fmt: skip
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
    rules["account"]["account_1"] = Policy(money={"daily_budget": 9999})
    assert policy == Policy(**RULES)
    with pytest.raises(TypeError):
        policy.money["daily_budget"] = 9999
    with pytest.raises(TypeError):
        policy.account["account_2"] = Policy()
    with pytest.raises(AttributeError):
        policy.accounts = ("account_3",)


@each_case("rules", RULES, {}, {"money": {}})
def test_policy_is_a_value(rules) -> None:
    policy = Policy(**rules)
    twins = [pickle.loads(pickle.dumps(policy)), copy.copy(policy), copy.deepcopy(policy)]
    for twin in [*twins, attrs.evolve(policy)]:
        assert (twin, hash(twin), repr(twin)) == (policy, hash(policy), repr(policy))
    assert policy != Policy(accounts=["account_3"])


def test_policy_is_shown_by_its_rules() -> None:
    policy = Policy(accounts=["<b>"], account={"<b>": Policy(drafts_per_day=2)})
    assert repr(policy) == "<Policy accounts [<b>], account {<b>: <Policy drafts_per_day 2>}>"
    assert "[&lt;b&gt;]" in policy._repr_html_()
    assert repr(Policy()) == "<Policy without rules>"
    assert "without rules" in Policy()._repr_html_()


# Rules of single accounts.


def test_account_has_its_own_rules_and_the_others_of_the_policy() -> None:
    own = Policy(money={"bid": 900}, change_at_most=5, operations=["beta.*"], drafts_per_day=2)
    of_all = {"fields": ["name"], "drafts_per_day": 40, "no_repeat_within": "1h"}
    money = {"daily_budget": 150, "bid": 2.5}
    policy = Policy(money=money, change_at_most=20, account={"a": own}, **of_all)
    of_a = {"operations": ["beta.*"], "change_at_most": 5, "account": {"a": own}, **of_all}
    money_of_a = {"daily_budget": 150, "bid": 900}
    assert policy.for_account("a") == Policy(accounts=["a"], money=money_of_a, **of_a)
    other = attrs.evolve(policy, accounts=["a", "b"]).for_account("b")
    assert (other.accounts, other.money, other.change_at_most) == (("b",), policy.money, 20)
    for only in (policy, Policy(accounts=["a"])):
        with pytest.raises(ConfigurationError, match="account b is not one of the policy's acc"):
            only.for_account("b")


def test_tables_of_accounts_allow_no_others(tmp_path) -> None:
    assert Policy(account={"a": Policy(), "b": Policy()}) == Policy(accounts=["a", "b"])
    assert Policy(account={"b": Policy(fields=[])}).accounts == ("b",)
    assert Policy(account={}) == Policy()
    path = tmp_path / "policy.toml"
    path.write_text("[account.a]")
    assert Policy.read(path) == Policy(accounts=["a"])
    path.write_text("[account]")
    with pytest.raises(ConfigurationError, match=r"policy\.toml: expected rules, but all tabl"):
        Policy.read(path)


# Files.

FILE = """\
accounts = ["account_1", "account_2"]
operations = ["beta.*", "*.list_*", "alpha.update_campaign_budget"]
fields = ["name"]
change_at_most = 20
drafts_per_day = 5
no_repeat_within = "1h"

[money]
daily_budget = 150
bid = 2.5
amount = 0.10

[account.account_2]
drafts_per_day = 2
money = { daily_budget = 75_000 }
"""


def test_policy_is_read_from_a_file(tmp_path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(FILE)
    assert Policy.read(path) == Policy.read(str(path)) == Policy(**RULES)


IN_TABLE, OWN_TABLE = "account.account_2: ", "[account.account_2]"


@each_case(
    ("old", "new", "problem"),
    ('"account_1", "account_2"', "5", "accounts must have printable strings"),
    ("accounts", "acounts", "acounts is not a key here: did you mean accounts?"),
    ("20", "nan", "change_at_most must be a number from 0 to 10^15, got NaN"),
    ("amount", '"a.*" = 1 #', "money has a.*, which is no key: write names joined by dots"),
    ('["name"]', '["bid*"]', "fields has bid*, which is no key: write names joined by dots"),
    ("amount", '"a.b" = -1 #', "money.a.b must be a number from 0 to 10^15, got -1"),
    ("2.5", "2026-01-01", "money.bid must be a number from 0 to 10^15, got 2026-01-01"),
    ("= 5", "= 5.0", "drafts_per_day must be a whole number, 0 or more"),
    (".account_2]", '."account.2"]', "account.account.2 has rules, but accounts does not"),
    ("= 2\n", '= "2"\n', IN_TABLE + "drafts_per_day must be a whole number, 0 or more"),
    ("drafts_per_day = 2", "per_day = 2", IN_TABLE + "per_day is not a key here: did you mean"),
    ("75_000", "-1", IN_TABLE + "money.daily_budget must be a number from 0 to 10^15, got -1"),
    (OWN_TABLE, "[account]\naccount_2 = 5\n[money.x]", IN_TABLE + "expected a table"),
    (OWN_TABLE, "[[account]]", "account must be a Mapping, not list"),
    (OWN_TABLE, f"{OWN_TABLE}\naccounts = []", "account.account_2 must"),
)
def test_wrong_file_is_refused_with_the_rule(tmp_path_factory, old, new, problem) -> None:
    path = tmp_path_factory.mktemp("policy") / "policy.toml"
    path.write_text(FILE.replace(old, new, 1))
    with pytest.raises(ConfigurationError) as refused:
        Policy.read(path)
    place = ", " if problem.startswith(IN_TABLE) else ": "
    told = re.sub(", line [0-9]+", "", str(refused.value), count=1)
    assert told.startswith(f"{path}{place}{problem}")
    rule = problem.replace(IN_TABLE, "account.account_2.").replace(".expected", "").split()[0]
    assert refused.value.argument == rule
