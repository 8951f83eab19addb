"""What the fake service refuses inside `fields` and `targeting`; unknown keys are accepted."""

from datetime import date
from decimal import Decimal
from itertools import permutations
from math import inf
from typing import Any

from adclient.models import JSON
from adclient.testing._accounts.accounts import load
from adclient.testing._accounts.state import Account, Values
from adclient.testing._http.requests import is_number, nested
from adclient.testing._http.responses import immutable, invalid_value

_TABLES: dict[str, Any] = load("rules")
_BUDGETS = {"daily_budget": 1, "lifetime_budget": 7}
"""The limits of each budget, in multiples of those of a daily one."""
_MAX_BUDGET = 5000
"""In multiples of the minimum."""
_IMAGES, _VIDEOS = {"image_id", "image_hash", "image_url"}, {"video_id", "post_id"}
_MAX_ASSETS = 30
_MAX_WORDS, _MAX_CHARACTERS = 10, 80
_FORBIDDEN = set("!@%^*={};~`<>?\\|,")
_MAX_AUDIENCE, _MIN_AUDIENCE = 40_000_000, 300
_SHARE_OF_A_VALUE = 0.02


def check_fields(account: Account, fields: Values, current: Values) -> None:
    """Check the budget, dates and bid that a write would set on a campaign."""
    currency = account.currency
    for field, factor in _BUDGETS.items():
        budget = fields.get(field)
        if budget is None:
            continue
        if not is_number(budget) or budget <= 0:
            raise invalid_value(field, "budget_invalid", "a budget is a number above 0")
        exact = Decimal(repr(budget)) if isinstance(budget, float) else Decimal(budget)
        least = currency.min_budget * factor
        most = least * _MAX_BUDGET
        if exact > most:
            raise invalid_value(field, "budget_too_large", f"at most {most} {currency.code}", most)
        if (exact * currency.minor) % 1:
            message = f"{currency.code} has {currency.digits} decimals"
            raise invalid_value(field, "not_multiple_of_currency_unit", message, currency.digits)
        if exact < least:
            message = f"at least {least} {currency.code}"
            raise invalid_value(field, "budget_below_minimum", message, least)
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


def check_new_campaign(account: Account, fields: Values) -> None:
    """Check the objective of a new campaign, and that no part of it has an id."""
    objective, known = fields.get("objective"), _TABLES["objectives"][account.platform]
    if objective is not None and objective not in known:
        message = f"this platform has {', '.join(known)}"
        raise invalid_value("objective", "objective_not_supported", message)
    for part in ("ad", "ad_group"):
        if "id" in nested(fields, part):
            raise invalid_value(f"{part}.id", "immutable_field", "the service assigns ids")


def check_video_ad(fields: Values) -> None:
    """Check the ad and ad group of a video campaign."""
    ad, actions = nested(fields, "ad"), _TABLES["calls_to_action"]
    if _IMAGES & set(ad) and not _VIDEOS & set(ad):
        message = "this platform shows no single still image"
        raise invalid_value("ad", "format_not_supported", message)
    action, text = ad.get("call_to_action"), ad.get("text")
    if action is not None and action not in actions:
        message = f"this platform has {', '.join(actions)}"
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


def check_assets(assets: Values) -> None:
    """Check how many assets a dynamic ad has."""
    counts = {kind: len(value) for kind, value in assets.items() if isinstance(value, list)}
    if "images" in counts and not 2 <= counts["images"] <= 10:
        raise invalid_value("assets.images", "asset_count", "from 2 to 10 images", 10)
    for kind, most in _TABLES["most_assets"].items():
        if counts.get(kind, 0) > most:
            raise invalid_value(f"assets.{kind}", "asset_count", f"at most {most}", most)
    if sum(counts.values()) > _MAX_ASSETS:
        message = f"at most {_MAX_ASSETS} in all"
        raise invalid_value("assets", "asset_count", message, _MAX_ASSETS)


def check_keywords(keywords: list[str]) -> None:
    """Check the texts of keywords."""
    if not keywords or not all(map(str.strip, keywords)):
        message = "at least one keyword, none of them empty"
        raise invalid_value("keywords", "keywords_empty", message)
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


def check_targeting(targeting: Values) -> None:
    """Check a targeting that is an AND of OR-groups; any other is accepted."""
    groups = nested(targeting, "include").get("and")
    if not isinstance(groups, list):
        return
    facets: list[dict[str, list[JSON]]] = []
    for part in groups:
        values = nested(part, "or") if isinstance(part, dict) else {}
        facets.append({key: v if isinstance(v, list) else [] for key, v in values.items()})
    if not any(group.get("locations") for group in facets):
        raise invalid_value("targeting", "location_required", "a location is required")
    for one, other in ((a, b) for x, y in permutations(facets, 2) for a in x for b in y):
        if other in _TABLES["facets_apart"].get(one, ()):
            message = f"{one} cannot be combined with {other}"
            raise invalid_value("targeting", "incompatible_facets", message)
    audience = float(_MAX_AUDIENCE)
    for group in facets:
        for facet, chosen in group.items():
            _check_values(facet, chosen)
        if group and "locations" not in group:
            audience *= min(1.0, _SHARE_OF_A_VALUE * sum(map(len, group.values())))
    if audience < _MIN_AUDIENCE:
        message = f"about {audience:.0f} people, at least {_MIN_AUDIENCE} are needed"
        raise invalid_value("targeting", "audience_too_small", message, _MIN_AUDIENCE)


def _check_values(facet: str, values: list[JSON]) -> None:
    if facet == "interface_locales" and len(values) > 1:
        message = "interface_locales takes one value"
        raise invalid_value("targeting", "too_many_facet_values", message, 1)
    prefix = _TABLES["facet_prefixes"].get(facet, "")  # other facets take any value
    for value in values:
        if prefix and not (isinstance(value, str) and value.startswith(prefix)):
            message = f"{facet} has values like {prefix}1, not {value!r}"
            raise invalid_value("targeting", "unknown_facet_value", message)
