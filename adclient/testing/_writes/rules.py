"""What the fake service refuses inside `fields` and `targeting`; unknown keys are accepted."""

from datetime import date
from decimal import Decimal
from itertools import permutations
from math import inf

from adclient.models import JSON
from adclient.testing._accounts.state import Account, Currency, Values
from adclient.testing._http.requests import is_number, nested
from adclient.testing._http.responses import immutable, invalid_value

_BUDGETS = {"daily_budget": 1, "lifetime_budget": 7}
"""The limits of each budget, in multiples of those of a daily one."""
_MAX_BUDGET = 5000
"""In multiples of the minimum."""


def check_fields(account: Account, fields: Values, current: Values) -> None:
    """Check the budget, dates and bid that a write would set on a campaign."""
    for field in _BUDGETS:
        if fields.get(field) is not None:
            _check_budget(field, fields[field], account.currency)
    resulting = {**current, **fields}
    budgets = [field for field in _BUDGETS if resulting.get(field) is not None]
    if len(budgets) == 2:
        message = "a campaign has either a daily or a lifetime budget: set the other to null"
        raise invalid_value("lifetime_budget", "conflicting_fields", message)
    if not budgets and any(current.get(field) for field in _BUDGETS):
        raise invalid_value("daily_budget", "missing_field", "a campaign has a budget")
    if "lifetime_budget" in budgets and resulting.get("end_date") is None:
        raise invalid_value("end_date", "missing_field", "a lifetime budget needs an end date")
    start, end = _date(resulting, "start_date"), _date(resulting, "end_date")
    if start is not None and end is not None and end < start:
        raise invalid_value("end_date", "invalid_dates", "the end is before the start")
    if end is not None and end < account.clock.today():
        raise invalid_value("end_date", "invalid_dates", "the end is in the past")
    check_bid(nested(fields, "bid"), "amount", within="bid.")


def _check_budget(field: str, budget: JSON, currency: Currency) -> None:
    if isinstance(budget, bool) or not isinstance(budget, int | float | Decimal) or budget <= 0:
        raise invalid_value(field, "budget_invalid", "a budget is a number above 0")
    exact = Decimal(repr(budget)) if isinstance(budget, float) else Decimal(budget)
    least = currency.min_budget * _BUDGETS[field]
    most = least * _MAX_BUDGET
    if exact > most:
        raise invalid_value(field, "budget_too_large", f"at most {most} {currency.code}", most)
    if (exact * currency.minor) % 1:
        message = f"{currency.code} has {currency.digits} decimals"
        raise invalid_value(field, "not_multiple_of_currency_unit", message, currency.digits)
    if exact < least:
        message = f"at least {least} {currency.code}"
        raise invalid_value(field, "budget_below_minimum", message, least)


def check_bid(fields: Values, key: str, within: str = "") -> None:
    """Check a bid."""
    bid = fields.get(key)
    if bid is not None and (not is_number(bid) or not 0 < float(str(bid)) < inf):
        raise invalid_value(within + key, "bid_invalid", "a bid is a number above 0")


def _date(values: Values, field: str) -> date | None:
    text = values.get(field)
    try:
        return None if text is None else date.fromisoformat(str(text))
    except ValueError:
        message = "a date is written as 2026-03-31"
        raise invalid_value(field, "invalid_dates", message) from None


def check_immutable(wanted: Values, current: Values, *fields: str) -> None:
    """Check that fields which cannot change keep their values."""
    for field in fields:
        if field in wanted and wanted[field] != current.get(field):
            raise immutable(field)


_OBJECTIVES = {
    "beta": ("SALES", "CATALOG_SALES", "TRAFFIC", "VIDEO_VIEWS", "LEADS", "REACH", "APP"),
    "gamma": ("AWARENESS", "TRAFFIC", "ENGAGEMENT", "LEADS", "APP", "SALES"),
}


def check_new_campaign(account: Account, fields: Values) -> None:
    """Check the objective of a new campaign, and that no part of it has an id."""
    objective, known = fields.get("objective"), _OBJECTIVES[account.platform]
    if objective is not None and objective not in known:
        message = f"this platform has {', '.join(known)}"
        raise invalid_value("objective", "objective_not_supported", message)
    for part in ("ad", "ad_group"):
        if "id" in nested(fields, part):
            raise invalid_value(f"{part}.id", "immutable_field", "the service assigns ids")


_CALLS_TO_ACTION = (
    "APPLY_NOW",
    "BOOK_NOW",
    "CONTACT_US",
    "DOWNLOAD_NOW",
    "LEARN_MORE",
    "SHOP_NOW",
    "SIGN_UP",
    "WATCH_NOW",
)
_IMAGES, _VIDEOS = {"image_id", "image_hash", "image_url"}, {"video_id", "post_id"}


def check_video_ad(fields: Values) -> None:
    """Check the ad and ad group of a video campaign."""
    ad = nested(fields, "ad")
    if _IMAGES & set(ad) and not _VIDEOS & set(ad):
        message = "this platform shows no single still image"
        raise invalid_value("ad", "format_not_supported", message)
    action, text = ad.get("call_to_action"), ad.get("text")
    if action is not None and action not in _CALLS_TO_ACTION:
        message = f"this platform has {', '.join(_CALLS_TO_ACTION)}"
        raise invalid_value("ad.call_to_action", "invalid_call_to_action", message)
    if isinstance(text, str) and len(text) > 100:
        raise invalid_value("ad.text", "text_too_long", "at most 100 characters", 100)
    is_sale = fields.get("objective") in ("SALES", "CATALOG_SALES")
    if "pixel_id" in nested(fields, "ad_group") and not is_sale:
        message = "only sales campaigns have a pixel"
        raise invalid_value("ad_group.pixel_id", "pixel_not_allowed", message)


def check_link(fields: Values, field: str, within: str = "") -> None:
    """Check that a link uses HTTPS."""
    link = fields.get(field)
    if isinstance(link, str) and not link.startswith("https://"):
        raise invalid_value(within + field, "invalid_url", "a link begins with https://")


_MAX_ASSETS = {"titles": 5, "bodies": 5, "descriptions": 5, "call_to_actions": 5, "formats": 1}
_MAX_ASSETS_IN_ALL = 30


def check_assets(assets: Values) -> None:
    """Check how many assets a dynamic ad has."""
    counts = {kind: len(value) for kind, value in assets.items() if isinstance(value, list)}
    if "images" in counts and not 2 <= counts["images"] <= 10:
        raise invalid_value("assets.images", "asset_count", "from 2 to 10 images", 10)
    for kind, most in _MAX_ASSETS.items():
        if counts.get(kind, 0) > most:
            raise invalid_value(f"assets.{kind}", "asset_count", f"at most {most}", most)
    if sum(counts.values()) > _MAX_ASSETS_IN_ALL:
        message = f"at most {_MAX_ASSETS_IN_ALL} in all"
        raise invalid_value("assets", "asset_count", message, _MAX_ASSETS_IN_ALL)


_MAX_WORDS, _MAX_CHARACTERS = 10, 80
_FORBIDDEN = set("!@%^*={};~`<>?\\|,")


def check_keywords(keywords: list[str]) -> None:
    """Check the texts of keywords."""
    if not keywords or not all(map(str.strip, keywords)):
        raise invalid_value(
            "keywords", "keywords_empty", "at least one keyword, none of them empty"
        )
    for text in keywords:
        if len(text) > _MAX_CHARACTERS or len(text.split()) > _MAX_WORDS:
            message = f"at most {_MAX_CHARACTERS} characters and {_MAX_WORDS} words"
            raise invalid_value("keywords", "keyword_too_long", message, _MAX_CHARACTERS)
        if _FORBIDDEN & set(text) or not text.isprintable():
            message = f"{text!r} contains forbidden characters"
            raise invalid_value("keywords", "keyword_invalid_chars", message)
    if len(set(map(plain_keyword, keywords))) < len(keywords):
        raise invalid_value("keywords", "keyword_duplicate", "a keyword is given twice")


def plain_keyword(text: str) -> str:
    """A keyword without differences that do not matter: letter case and blanks."""
    return " ".join(text.casefold().split())


def identity_of_keyword(values: Values) -> tuple[str, JSON, bool]:
    """What no two keywords of an account have in common."""
    text = plain_keyword(str(values.get("text")))
    return text, values.get("match_type"), bool(values.get("negative"))


# Values of other facets are not checked.
_PREFIXES = {
    "locations": "geo:",
    "industries": "ind:",
    "employers": "org:",
    "seniorities": "sen:",
    "titles": "title:",
}
_NOT_WITH = {
    "employers": ("industries", "company_size"),
    "retargeting_segments": ("interests",),
}
_MAX_AUDIENCE, _MIN_AUDIENCE = 40_000_000, 300
_SHARE_OF_A_VALUE = 0.02


def check_targeting(targeting: Values) -> None:
    """Check a targeting that is an AND of OR-groups; any other is accepted."""
    groups = nested(targeting, "include").get("and")
    if not isinstance(groups, list):
        return
    ors = [_facets(group) for group in groups]
    if not any(group.get("locations") for group in ors):
        raise invalid_value("targeting", "location_required", "a location is required")
    pairs = ((one, other) for a, b in permutations(ors, 2) for one in a for other in b)
    for one, other in pairs:
        if other in _NOT_WITH.get(one, ()):
            message = f"{one} cannot be combined with {other}"
            raise invalid_value("targeting", "incompatible_facets", message)
    audience = float(_MAX_AUDIENCE)
    for group in ors:
        for facet, values in group.items():
            _check_values(facet, values)
        if group and "locations" not in group:
            audience *= min(1.0, _SHARE_OF_A_VALUE * sum(map(len, group.values())))
    if audience < _MIN_AUDIENCE:
        message = f"about {audience:.0f} people, at least {_MIN_AUDIENCE} are needed"
        raise invalid_value("targeting", "audience_too_small", message, _MIN_AUDIENCE)


def _facets(group: JSON) -> dict[str, list[JSON]]:
    """The values of each facet in an OR-group."""
    facets = nested(group, "or") if isinstance(group, dict) else {}
    return {facet: value if isinstance(value, list) else [] for facet, value in facets.items()}


def _check_values(facet: str, values: list[JSON]) -> None:
    if facet == "interface_locales" and len(values) > 1:
        message = "interface_locales takes one value"
        raise invalid_value("targeting", "too_many_facet_values", message, 1)
    prefix = _PREFIXES.get(facet, "")
    for value in values:
        if prefix and not (isinstance(value, str) and value.startswith(prefix)):
            message = f"{facet} has values like {prefix}1, not {value!r}"
            raise invalid_value("targeting", "unknown_facet_value", message)
