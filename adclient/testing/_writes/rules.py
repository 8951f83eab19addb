"""What the fake service refuses inside `fields` and `targeting`; unknown keys it never does."""

from datetime import date
from decimal import Decimal
from math import inf

from adclient.models import JSON
from adclient.testing._accounts.money import Currency
from adclient.testing._accounts.state import Account, Values
from adclient.testing._wire.protocol import Refusal, is_number


def refuse(field: str, code: str, message: str, limit: JSON = None) -> Refusal:
    """The refusal of a value; the reason is the code without what the field says already."""
    details: dict[str, JSON] = {"field": field, "reason": code.removeprefix("budget_")}
    if limit is not None:
        details["limit"] = limit
    return Refusal(422, code, f"{field}: {message}", details=details)


def check_fields(account: Account, fields: Values, current: Values) -> None:
    """Check what is to be set on a campaign: its budget, its dates and its bid."""
    today = account.clock.today()
    _check_budgets(account, fields)
    resulting = {**current, **fields}
    if all(resulting.get(budget) is not None for budget in _BUDGETS):
        message = "a campaign has either a daily or a lifetime budget: set the other to null"
        raise refuse("lifetime_budget", "conflicting_fields", message)
    if any(current.get(b) for b in _BUDGETS) and not any(resulting.get(b) for b in _BUDGETS):
        raise refuse("daily_budget", "missing_field", "a campaign has a budget")
    if resulting.get("lifetime_budget") is not None and resulting.get("end_date") is None:
        raise refuse("end_date", "missing_field", "a lifetime budget needs an end date")
    _check_dates(_day(resulting, "start_date"), _day(resulting, "end_date"), today)
    check_bid(inner(fields, "bid"), "amount", within="bid.")


def _check_dates(start: date | None, end: date | None, today: date) -> None:
    if end is None:
        return
    if start is not None and end < start:
        raise refuse("end_date", "invalid_dates", "the end is before the start")
    if end < today:
        raise refuse("end_date", "invalid_dates", "the end is over already")


_BUDGETS = {"daily_budget": 1, "lifetime_budget": 7}
"""How many times the limits of a day each of them has."""


def _check_budgets(account: Account, fields: Values) -> None:
    for field, factor in _BUDGETS.items():
        budget = fields.get(field)
        if budget is not None:
            _check_budget(field, budget, account.currency, factor)


def _check_budget(field: str, budget: JSON, currency: Currency, factor: int) -> None:
    if isinstance(budget, bool) or not isinstance(budget, int | float | Decimal) or budget <= 0:
        raise refuse(field, "budget_invalid", "a budget is a number above 0")
    exact = Decimal(repr(budget)) if isinstance(budget, float) else Decimal(budget)
    least, most = currency.least * factor, currency.most * factor
    if exact > most:
        raise refuse(field, "budget_too_large", f"at most {most} {currency.code}", most)
    if (exact * currency.minor) % 1:
        message = f"{currency.code} has {currency.digits} decimals"
        raise refuse(field, "not_multiple_of_currency_unit", message, currency.digits)
    if exact < least:
        raise refuse(field, "budget_below_minimum", f"at least {least} {currency.code}", least)


def _day(values: Values, field: str) -> date | None:
    text = values.get(field)
    if text is None:
        return None
    try:
        return date.fromisoformat(str(text))
    except ValueError:
        raise refuse(field, "invalid_dates", "a date is written as 2026-03-31") from None


def check_immutable(wanted: Values, current: Values, *fields: str) -> None:
    """Check that what is for life stays as it is."""
    for field in fields:
        if field in wanted and wanted[field] != current.get(field):
            raise refuse(field, "immutable_field", "this cannot be changed, only made anew")


def check_new(fields: Values, *parts: str) -> None:
    """Check that what is made inside of something brings no id."""
    for part in parts:
        if "id" in inner(fields, part):
            raise refuse(f"{part}.id", "immutable_field", "the service gives ids itself")


_OBJECTIVES = {
    "beta": ("SALES", "CATALOG_SALES", "TRAFFIC", "VIDEO_VIEWS", "LEADS", "REACH", "APP"),
    "gamma": ("AWARENESS", "TRAFFIC", "ENGAGEMENT", "LEADS", "APP", "SALES"),
}


def check_objective(account: Account, fields: Values) -> None:
    """Check that the platform has the objective of a new campaign."""
    objective, known = fields.get("objective"), _OBJECTIVES[account.platform]
    if objective is not None and objective not in known:
        message = f"this platform has {', '.join(known)}"
        raise refuse("objective", "objective_not_supported", message)


_ACTIONS = (
    "APPLY_NOW",
    "BOOK_NOW",
    "CONTACT_US",
    "DOWNLOAD_NOW",
    "LEARN_MORE",
    "SHOP_NOW",
    "SIGN_UP",
    "WATCH_NOW",
)
_STILL, _MOVING = {"image_id", "image_hash", "image_url"}, {"video_id", "post_id"}


def check_video_ad(fields: Values) -> None:
    """Check the ad and ad group of a new video campaign."""
    ad, group = inner(fields, "ad"), inner(fields, "ad_group")
    text = ad.get("text")
    if _STILL & set(ad) and not _MOVING & set(ad):
        raise refuse("ad", "format_not_supported", "this platform shows no single still image")
    action = ad.get("call_to_action")
    if action is not None and action not in _ACTIONS:
        message = f"this platform has {', '.join(_ACTIONS)}"
        raise refuse("ad.call_to_action", "invalid_call_to_action", message)
    if isinstance(text, str) and len(text) > 100:
        raise refuse("ad.text", "text_too_long", "at most 100 characters", 100)
    if "pixel_id" in group and fields.get("objective") not in ("SALES", "CATALOG_SALES"):
        raise refuse("ad_group.pixel_id", "pixel_not_allowed", "only sales campaigns have a pixel")


def check_link(fields: Values, field: str, within: str = "") -> None:
    """Check that a link is a secure one."""
    link = fields.get(field)
    if isinstance(link, str) and not link.startswith("https://"):
        raise refuse(within + field, "invalid_url", "a link begins with https://")


def check_image_ad(fields: Values) -> None:
    """Check the ad of a new image campaign."""
    check_link(inner(fields, "ad"), "link", within="ad.")


_MOST_ASSETS = {"titles": 5, "bodies": 5, "descriptions": 5, "call_to_actions": 5, "formats": 1}

_MOST_ASSETS_IN_ALL = 30


def check_assets(assets: Values) -> None:
    """Check how many assets a dynamic ad is made of."""
    counts = {kind: len(value) for kind, value in assets.items() if isinstance(value, list)}
    if "images" in counts and not 2 <= counts["images"] <= 10:
        raise refuse("assets.images", "asset_count", "from 2 to 10 images", 10)
    for kind, most in _MOST_ASSETS.items():
        if counts.get(kind, 0) > most:
            raise refuse(f"assets.{kind}", "asset_count", f"at most {most}", most)
    if sum(counts.values()) > _MOST_ASSETS_IN_ALL:
        message = f"at most {_MOST_ASSETS_IN_ALL} in all"
        raise refuse("assets", "asset_count", message, _MOST_ASSETS_IN_ALL)


_MOST_WORDS, _MOST_LETTERS = 10, 80
_FORBIDDEN = set("!@%^*={};~`<>?\\|,")


def check_keywords(keywords: list[str]) -> None:
    """Check the texts of keywords that are to be added, removed or changed."""
    if not keywords:
        raise refuse("keywords", "keywords_empty", "at least one keyword")
    for text in keywords:
        if not text.strip():
            raise refuse("keywords", "keywords_empty", "a keyword has text")
        if len(text) > _MOST_LETTERS or len(text.split()) > _MOST_WORDS:
            message = f"at most {_MOST_LETTERS} characters and {_MOST_WORDS} words"
            raise refuse("keywords", "keyword_too_long", message, _MOST_LETTERS)
        if _FORBIDDEN & set(text) or not text.isprintable():
            raise refuse(
                "keywords", "keyword_invalid_chars", f"{text!r} holds forbidden characters"
            )
    if len(set(map(plain_keyword, keywords))) < len(keywords):
        raise refuse("keywords", "keyword_duplicate", "a keyword comes twice")


def plain_keyword(text: str) -> str:
    """A keyword without what makes no difference: letter case and blanks."""
    return " ".join(text.casefold().split())


def identity_of_keyword(values: Values) -> tuple[str, JSON, bool]:
    """What no two keywords of an account have in common."""
    text = plain_keyword(str(values.get("text")))
    return text, values.get("match_type"), bool(values.get("negative"))


def check_bid(fields: Values, key: str, within: str = "") -> None:
    """Check a bid."""
    bid = fields.get(key)
    if bid is not None and (not is_number(bid) or not 0 < float(str(bid)) < inf):
        raise refuse(within + key, "bid_invalid", "a bid is a number above 0")


def inner(values: Values, key: str) -> dict[str, JSON]:
    """An object inside of values; empty if there is none."""
    value = values.get(key)
    return value if isinstance(value, dict) else {}
