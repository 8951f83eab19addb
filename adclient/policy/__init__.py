"""Policies: the calls that a client may make, whoever asks for them, such as a model."""

import difflib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fnmatch import fnmatchcase
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Self, TypeVar, cast

import attrs

from adclient._show.records import Card, Shown
from adclient._values.json_values import as_number, as_tuple, is_array, is_object
from adclient._values.text import short
from adclient.errors import ConfigurationError, LedgerError
from adclient.extend import OPERATIONS
from adclient.options import check_count, check_type

if TYPE_CHECKING:
    from adclient._values import toml

__all__ = ["Policy", "PolicyWarning", "Refusal", "Usage"]

LONGEST_KEY = 1000
_MOST = 10**15  # in any currency; a larger amount is a mistake
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


# The converters return unchanged what they cannot convert; the checks refuse it later.


def _texts_of(value: Sequence[str] | None) -> tuple[str, ...] | None:
    """A list as a tuple."""
    return cast("tuple[str, ...] | None", as_tuple(value))


def _amount_of(value: int | float | Decimal | None) -> Decimal | None:
    """A number as a decimal with the same digits."""
    if (number := as_number(value)) is None:
        return cast("Decimal | None", value)
    return Decimal(float.__repr__(number) if isinstance(number, float) else number)


def _amounts_of(value: Mapping[str, int | float | Decimal] | None) -> Mapping[str, Decimal] | None:
    """A mapping of amounts, which cannot be changed."""
    money: object = value
    if isinstance(value, Mapping):
        money = MappingProxyType({key: _amount_of(amount) for key, amount in value.items()})
    return cast("Mapping[str, Decimal] | None", money)


def _seconds_of(value: str | int | float | Decimal | None) -> Decimal | None:
    """A time as seconds."""
    number: Any = value
    if isinstance(value, str) and (text := re.fullmatch("([0-9]{1,9})([smhd])", value)):
        number = int(text[1]) * _SECONDS[text[2]]
    return _amount_of(number)


@attrs.frozen(kw_only=True, repr=False)
class Policy(Shown):
    """The calls that a client may make; all others are refused before anything is sent.

    A rule of None, the default, does not apply; an empty one allows nothing. Names are compared
    exactly.

    If `fields` or `money` is given, a write is refused that sets any key which neither lists. The
    key of a value is the names that lead to it, joined by dots: `daily_budget` for the parameter,
    and for `fields={"daily_budget": 5}`; `bidding.max_cpc` for `fields={"bidding": {"max_cpc":
    2}}`; `targeting.geo` for `targeting={"geo": ["DE"]}`. The elements of a list have its key.

    Attributes:
        accounts: The ids of the accounts that calls may name, in reads as well. A value under the
            name `account_id`, at any depth of the arguments or the cursor, must be one of them,
            too. If only `account` is given, its accounts are those that are allowed.
        operations: The operations that may be called, such as `beta.pause_campaign`, `beta.*` or
            `*.list_*`.
        fields: The keys that a write may set to any value; `targeting.*` allows whatever is inside
            of `targeting`. The keys of `money` need not be listed again.
        money: The highest amount for each key that is money, in the currency of the account. A
            value that is not a number from 0 to that amount, or a text of one such as `120.50`, is
            refused.
        change_at_most: How much a draft may change a key of `money`, in percent of the value
            before. Only the draft contains that value, so the rule is checked once the draft is
            staged: a `PolicyWarning` names a draft over the limit, which should be rejected, and
            further writes to its account are refused until somebody settles it in the ledger. So
            it is with a draft that cannot be judged: its diff must show each key of `money` that
            the call sets or the draft changes, as one amount before and one after. Its keys are
            those of calls, with or without the `field` of the diff in front. What is created has
            no value before; only `money` limits it.
        drafts_per_day: How many drafts may be staged from midnight to midnight UTC, by all users of
            the ledger together. A write of unknown outcome counts.
        no_repeat_within: For how long a write is refused after one of the same operation that sets
            the same and staged a draft, or may have: seconds, or a text like `30m`, `1h` or `2d`.
            `daily_budget=120` is the same as `fields={"daily_budget": 120}`.
        account: Rules of single accounts, by their ids; see `for_account`. If there are any, a
            value under the name `account_id` must be the account of the call.

    Raises:
        ConfigurationError: A rule has the wrong type or an impossible value; `argument` names it.

    Examples:
        >>> from adclient import PolicyRefused
        >>> from adclient.policy import Policy
        >>> from adclient.testing import FakeAdService
        >>> policy = Policy(accounts=["account_a91f"], money={"daily_budget": 150})
        >>> client = FakeAdService().client(policy=policy)
        >>> try:
        ...     client.alpha.update_campaign_budget(
        ...         account_id="account_a91f", campaign_id="campaign_4c10", daily_budget=999
        ...     )
        ... except PolicyRefused as refused:
        ...     print(refused.rule, refused.message.partition(": ")[2], sep=": ")
        money: daily_budget is 999, and money allows 0 to 150; nothing was sent
    """

    accounts: tuple[str, ...] | None = attrs.field(default=None, converter=_texts_of)
    operations: tuple[str, ...] | None = attrs.field(default=None, converter=_texts_of)
    fields: tuple[str, ...] | None = attrs.field(default=None, converter=_texts_of)
    money: Mapping[str, Decimal] | None = attrs.field(
        default=None, converter=_amounts_of, hash=False
    )
    change_at_most: Decimal | None = attrs.field(default=None, converter=_amount_of)
    drafts_per_day: int | None = None
    no_repeat_within: Decimal | None = attrs.field(default=None, converter=_seconds_of)
    account: Mapping[str, "Policy"] | None = attrs.field(default=None, hash=False)

    def __attrs_post_init__(self) -> None:
        for rule in ("accounts", "operations", "fields"):
            if (texts := getattr(self, rule)) is not None:
                (_check_keys if rule == "fields" else _check_texts)(rule, texts)
        names = [operation.full_name for operation in OPERATIONS]
        for pattern in self.operations or ():
            if not any(fnmatchcase(name, pattern) for name in names):
                near = difflib.get_close_matches(short(pattern), names, 1) or names
                problem = f"has {short(pattern)}, which matches no operation, such as {near[0]}"
                raise _refused("operations", problem)
        if self.money is not None:
            if not is_object(self.money):
                kind = type(self.money).__name__
                raise _refused("money", f"must map keys to amounts, not be a {kind}")
            _check_keys("money", cast("list[str]", [*self.money]))
            for key, amount in self.money.items():
                _check_amount(f"money.{key}", amount)
        if self.change_at_most is not None:
            _check_amount("change_at_most", self.change_at_most)
            if not self.money:
                raise _refused("change_at_most", "needs money, which names the keys to compare")
        if self.drafts_per_day is not None:
            count = check_count("drafts_per_day", self.drafts_per_day, least=0)
            object.__setattr__(self, "drafts_per_day", count)
        if self.no_repeat_within is not None:
            expected = "a time up to 366 days: seconds, or a text like 30m, 1h or 2d"
            _check_amount("no_repeat_within", self.no_repeat_within, 366 * 86_400, expected)
        check_type("account", self.account, Mapping)
        _check_texts("account", list(self.account or ()))
        for account_id, own in (self.account or {}).items():
            rule = f"account.{account_id}"
            if not isinstance(own, Policy) or _rules_of(own).keys() & {"accounts", "account"}:
                raise _refused(rule, "must be a policy without accounts")
            if self.accounts is not None and account_id not in self.accounts:
                raise _refused(rule, "has rules, but accounts does not allow it")
        if self.account and self.accounts is None:
            object.__setattr__(self, "accounts", tuple(self.account))
        # A policy without rules is `Policy()`.
        has_own = any(map(_rules_of, (self.account or {}).values()))
        account = MappingProxyType(dict(self.account or {})) if has_own else None
        object.__setattr__(self, "account", account)

    def for_account(self, account_id: str) -> Self:
        """Return this policy as it applies to one account, which is then the only one allowed.

        Each rule of the account replaces that of the policy, except that `money` is replaced key by
        key, and `drafts_per_day` not at all: that of the account, for its own drafts, applies
        besides the one for all accounts together.

        Args:
            account_id: The id of the account.

        Returns:
            Another policy.

        Raises:
            ConfigurationError: The policy does not allow the account.

        Examples:
            >>> from adclient.policy import Policy
            >>> own = Policy(money={"daily_budget": 75_000})
            >>> money = {"daily_budget": 500, "bid": 2}
            >>> policy = Policy(money=money, account={"account_b": own})
            >>> policy.for_account("account_b").money["daily_budget"]
            Decimal('75000')
        """
        if (refusal := refusal_of_account(self, account_id)) is not None:
            raise ConfigurationError(refusal.reason, argument=refusal.rule)
        return attrs.evolve(for_account(self, account_id), accounts=(account_id,))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Read the rules from a TOML file.

        Args:
            path: The file. Its keys are the arguments of `Policy`. `money` is a table, and each
                account with rules of its own has one, `[account.ID]`.

        Returns:
            The policy.

        Raises:
            ConfigurationError: The file cannot be read, or has no rules or an invalid one; the
                message names the file, the rule and what was expected.

        Examples:
            >>> from pathlib import Path
            >>> from adclient.policy import Policy
            >>> size = Path("policy.toml").write_text("money = { daily_budget = 150, bid = 2.50 }")
            >>> Policy.read("policy.toml")
            <Policy money {daily_budget: 150, bid: 2.50}>
        """
        from adclient._values import toml  # deferred: only files need it

        document = toml.read(path)
        rules, tables = document.values, document.values.get("account")
        if is_object(tables):
            own = {str(i): cls._read(document, t, "account", str(i)) for i, t in tables.items()}
            rules = rules | {"account": own}
        policy = cls._read(document, rules)
        if policy == cls():
            raise document.error("expected rules, but all tables are empty")
        return policy

    @classmethod
    def _read(cls, document: "toml.Document", table: object, *path: str) -> Self:
        if not isinstance(table, dict):
            raise document.error("expected a table of rules", *path)
        rules = cast("dict[str, Any]", table)
        document.check_keys(rules, [field.name for field in attrs.fields(cls)], *path)
        try:
            return cls(**rules)
        except ConfigurationError as error:
            raise document.error(str(error), *path, key=error.argument) from None

    def __reduce__(self) -> tuple[object, ...]:
        rules = _rules_of(self)
        for rule in rules.keys() & {"money", "account"}:
            rules[rule] = dict(rules[rule])  # a proxy cannot be pickled
        return partial(type(self), **rules), ()

    def __repr__(self) -> str:
        rules = [f"{rule} {short(value)}" for rule, value in _rules_of(self).items()]
        return f"<Policy {', '.join(rules) or 'without rules'}>"

    def _show(self) -> Card:
        rules = [*_rules_of(self).items()]
        return Card("Policy", rules, state="" if rules else "without rules")


# A class can name itself only in quotes, which a signature would show.
Policy.__init__.__annotations__["account"] = Mapping[str, Policy] | None


def _rules_of(policy: Policy) -> dict[str, Any]:
    """The rules that apply, by their names."""
    return attrs.asdict(policy, recurse=False, filter=lambda _, value: value is not None)


def _check_texts(rule: str, texts: object) -> None:
    """Check a list of strings."""
    if not is_array(texts):
        raise _refused(rule, f"must be a list of strings, not {type(texts).__name__}")
    for index, text in enumerate(texts):
        if not isinstance(text, str) or not text or text != text.strip() or not text.isprintable():
            what = "printable strings without surrounding blanks"
            raise _refused(rule, f"must have {what}, not {short(text)!r}")
        if text in texts[:index]:
            raise _refused(rule, f"has {short(text)} twice")


def _check_keys(rule: str, keys: Sequence[str]) -> None:
    """Check that a write can set each key; one of `fields` may end in `.*`."""
    _check_texts(rule, keys)
    for key in keys:
        path = key.removesuffix(".*") if rule == "fields" else key
        if "" in (names := path.split(".")) or "*" in path or len(key) > LONGEST_KEY:
            what = "which is no key: write names joined by dots, such as bidding.max_cpc"
            more = ", or targeting.* for whatever is inside" if rule == "fields" else ""
            raise _refused(rule, f"has {short(key)}, {what}{more}")
        if names[0] == "fields":
            raise _refused(rule, f"has {short(key)}: leave out `fields.`")


def _check_amount(
    name: str, value: object, most: int = _MOST, expected: str = "a number from 0 to 10^15"
) -> None:
    """Check a number."""
    if not isinstance(value, Decimal) or not value.is_finite() or not 0 <= value <= most:
        got = repr(value) if isinstance(value, str) else value
        raise _refused(name, f"must be {expected}, got {short(got)}")


def _refused(rule: str, problem: str) -> ConfigurationError:
    """An error about a rule."""
    return ConfigurationError(f"{short(rule)} {problem}", argument=rule)


_P = TypeVar("_P", bound=Policy)


def for_account(policy: _P, account_id: str) -> _P:
    """The policy as it applies to one account; with rules of accounts, a call may name only one."""
    if policy.account is None:
        return policy
    own = policy.account.get(account_id, Policy())
    rules = _rules_of(own) | {"accounts": (account_id,), "account": {account_id: own}}
    rules["drafts_per_day"] = policy.drafts_per_day
    if own.money is not None:
        rules["money"] = {**(policy.money or {}), **own.money}
    return attrs.evolve(policy, **rules)


def refusal_of_account(policy: Policy, account_id: str) -> "Refusal | None":
    """The refusal of an account, for whatever call; None if the policy allows it."""
    if policy.accounts is None or account_id in policy.accounts:
        return None
    shown = f"account {short(account_id)}"
    return Refusal("accounts", f"{shown} is not one of the policy's accounts")


def _not_set(needed: str, *_: object) -> NoReturn:
    raise LedgerError(f"{needed}, which this ledger does not set")


class Usage(NamedTuple):
    """The contents of a ledger that decide whether it admits a write.

    Attributes:
        drafts_today: How many drafts were, or may have been, staged since midnight UTC.
        over_limit: The id of a draft of the same account that is over a limit and that nobody has
            settled; None if there is none.
        drafts_of_account: Returns how many of `drafts_today` are of the same account.
        repeated: Returns in words, such as `draft draft_7c2e`, the newest write of the same
            operation and arguments that was reserved within so many seconds and staged a draft, or
            may have; None if there is none. Few policies ask for this or for `drafts_of_account`.
            If one does, and the ledger has left them out, the call raises `LedgerError`.

    Examples:
        >>> from adclient.policy import Usage
        >>> Usage(drafts_today=20).over_limit is None
        True
    """

    drafts_today: int = 0
    over_limit: str | None = None
    drafts_of_account: Callable[[], int] = partial(
        _not_set, "drafts_per_day of an account needs `Usage.drafts_of_account`"
    )
    repeated: Callable[[float], str | None] = partial(
        _not_set, "no_repeat_within needs `Usage.repeated`"
    )


class Refusal(NamedTuple):
    """The rule by which a policy refuses a call, and the reason.

    Attributes:
        rule: The rule, such as `money`.
        reason: One sentence that names the rule and the value.

    Examples:
        >>> from adclient.policy import Refusal, Usage
        >>> def check(usage: Usage) -> Refusal | None:
        ...     if usage.drafts_today >= 20:
        ...         return Refusal("drafts_per_day", "20 drafts were staged today")
        >>> check(Usage(drafts_today=20)).rule
        'drafts_per_day'
    """

    rule: str
    reason: str


class PolicyWarning(UserWarning):
    """A draft was staged that is over a limit of the policy: reject it in the dashboard.

    Examples:
        >>> import warnings
        >>> from adclient.ledger import SQLiteLedger
        >>> from adclient.policy import Policy, PolicyWarning
        >>> from adclient.testing import FakeAdService
        >>> policy = Policy(money={"daily_budget": 200}, change_at_most=10)
        >>> client = FakeAdService().client(policy=policy, ledger=SQLiteLedger("drafts.db"))
        >>> with warnings.catch_warnings(record=True, action="always") as warned:
        ...     draft = client.alpha.update_campaign_budget(
        ...         account_id="account_a91f", campaign_id="campaign_4c10", daily_budget=150
        ...     )
        >>> warned[0].category is PolicyWarning
        True
    """
