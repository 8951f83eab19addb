"""What a policy allows to be sent, said once more without any code of the library."""

import json
import re
from decimal import Decimal

import httpx

from adclient.policy import Policy

IDS = {"account_id", "campaign_id", "creative_id", "ad_id"}


class Pairs(list):
    """The members of an object, also if a name comes twice."""


def values_in(value, path):
    """Yield each value that has none inside, with the names that lead to it."""
    inner = [((*path, name), each) for name, each in value] if isinstance(value, Pairs) else []
    inner = inner or ([(path, each) for each in value] if isinstance(value, list) else [])
    for path_inside, each in inner:
        yield from values_in(each, path_inside)
    if not inner:
        yield ".".join(path), value


def check(policy: Policy, request: httpx.Request) -> None:
    """Compare what was sent with a policy."""
    names = [name for name, _ in request.url.params.multi_items()]
    if request.method == "GET":
        assert names.count("account_id") == 1
        for name, value in request.url.params.multi_items():
            is_account = "account_id" in re.split(r"\W+", name)
            assert policy.accounts is None or not is_account or value in policy.accounts
        return
    assert names == []
    members = json.loads(request.content, parse_float=Decimal, object_pairs_hook=Pairs)
    body = dict(members)
    assert len(body) == len(members)
    account = body["account_id"]
    own = (policy.account or {}).get(account, Policy())
    fields = policy.fields if own.fields is None else own.fields
    money = {**(policy.money or {}), **(own.money or {})}
    assert policy.accounts is None or account in policy.accounts
    is_limited = not (fields is None and policy.money is None and own.money is None)
    named = [*body.get("fields", ()), *((n, body[n]) for n in body if n not in {*IDS, "fields"})]
    for key, value in values_in(Pairs(named), ()) if named else ():
        if "account_id" in key.split("."):
            assert policy.accounts is None or value in policy.accounts
            assert policy.account is None or value == account
        if key in money:
            assert value is not True
            assert value is not False
            assert not isinstance(value, str) or re.fullmatch(r"[0-9]+([.][0-9]+)?", value)
            assert 0 <= Decimal(value) <= money[key]
        elif is_limited and key not in (fields or ()):
            listed = [each[:-2] for each in fields or () if each.endswith(".*")]
            assert any(key[: len(each) + 1] == f"{each}." for each in listed)
