"""Checks a few values inside `fields` as the fake service does; it accepts all others."""

from decimal import Decimal

from adclient.testing._accounts.state import Account, Values
from adclient.testing._http.requests import is_number
from adclient.testing._http.responses import refusal

_BUDGETS = {"daily_budget": 1, "lifetime_budget": 7}
"""The minimum of each budget, in multiples of that of a daily one."""
_MIN_IMAGES, _MAX_IMAGES = 2, 10


def check_budgets(account: Account, fields: Values) -> None:
    """Check the budgets that a write would set on a campaign."""
    currency = account.currency
    for field, factor in _BUDGETS.items():
        budget, least = fields.get(field), currency.min_budget * factor
        if budget is None:
            continue
        if not is_number(budget) or budget <= 0:
            raise refusal("budget_invalid", field)
        if (Decimal(str(budget)) * currency.minor) % 1:
            name = "not_multiple_of_currency_unit"
            raise refusal(name, field, limit=currency.digits, currency=currency.code)
        if budget < least:
            raise refusal("budget_below_minimum", field, limit=least, currency=currency.code)


def check_images(assets: Values) -> None:
    """Check how many images a dynamic ad has."""
    images = assets.get("images")
    if isinstance(images, list) and not _MIN_IMAGES <= len(images) <= _MAX_IMAGES:
        raise refusal("asset_count", "assets.images", limit=_MAX_IMAGES)


def check_keywords(keywords: list[str]) -> None:
    """Check that there are keywords, and that none is empty or given twice."""
    plain = [plain_keyword(text) for text in keywords]
    if not all(plain) or not plain:
        raise refusal("keywords_empty", "keywords")
    if len(set(plain)) < len(plain):
        raise refusal("keyword_duplicate:given", "keywords")


def plain_keyword(text: str) -> str:
    """A keyword without differences that do not matter: letter case and blanks."""
    return " ".join(text.casefold().split())
