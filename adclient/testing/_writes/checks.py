"""Checks `fields` and `targeting` as the fake service does; unknown keys are accepted."""

from datetime import date
from decimal import Decimal
from itertools import permutations
from math import inf
from typing import Any

from adclient.models import JSON
from adclient.testing._accounts.accounts import load
from adclient.testing._accounts.state import Account, Values
from adclient.testing._http.requests import is_number, nested
from adclient.testing._http.responses import refusal

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
    currency, code = account.currency, account.currency.code
    for field, factor in _BUDGETS.items():
        budget = fields.get(field)
        if budget is None:
            continue
        if not is_number(budget) or budget <= 0:
            raise refusal("budget_invalid", field)
        exact = Decimal(repr(budget)) if isinstance(budget, float) else Decimal(budget)
        least = currency.min_budget * factor
        most = least * _MAX_BUDGET
        if exact > most:
            raise refusal("budget_too_large", field, limit=most, currency=code)
        if (exact * currency.minor) % 1:
            name = "not_multiple_of_currency_unit"
            raise refusal(name, field, limit=currency.digits, currency=code)
        if exact < least:
            raise refusal("budget_below_minimum", field, limit=least, currency=code)
    resulting = {**current, **fields}
    budgets = [field for field in _BUDGETS if resulting.get(field) is not None]
    if len(budgets) == 2:
        raise refusal("conflicting_fields:budget", "lifetime_budget")
    if not budgets and any(current.get(field) for field in _BUDGETS):
        raise refusal("missing_field:budget", "daily_budget")
    if "lifetime_budget" in budgets and resulting.get("end_date") is None:
        raise refusal("missing_field:end", "end_date")
    start, end = _date(resulting, "start_date"), _date(resulting, "end_date")
    if start is not None and end is not None and end < start:
        raise refusal("invalid_dates:order", "end_date")
    if end is not None and end < account.clock.today():
        raise refusal("invalid_dates:past", "end_date")
    check_bid(nested(fields, "bid"), "amount", within="bid.")


def check_bid(fields: Values, key: str, within: str = "") -> None:
    """Check a bid."""
    bid = fields.get(key)
    if bid is not None and (not is_number(bid) or not 0 < float(str(bid)) < inf):
        raise refusal("bid_invalid", within + key)


def _date(values: Values, field: str) -> date | None:
    text = values.get(field)
    if text is None:
        return None
    try:
        day = date.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        day = None
    # Python also reads weeks, and dates without hyphens.
    if day is None or day.isoformat() != text:
        raise refusal("invalid_dates", field)
    return day


def check_new_campaign(account: Account, fields: Values) -> None:
    """Check the objective of a new campaign, and that no part of it has an id."""
    objective, known = fields.get("objective"), _TABLES["objectives"][account.platform]
    if objective is not None and objective not in known:
        raise refusal("objective_not_supported", "objective", known=", ".join(known))
    for part in ("ad", "ad_group"):
        if "id" in nested(fields, part):
            raise refusal("immutable_field:id", f"{part}.id")


def check_video_ad(fields: Values) -> None:
    """Check the ad and ad group of a video campaign."""
    ad, actions = nested(fields, "ad"), _TABLES["calls_to_action"]
    if _IMAGES & set(ad) and not _VIDEOS & set(ad):
        raise refusal("format_not_supported", "ad")
    action, text = ad.get("call_to_action"), ad.get("text")
    if action is not None and action not in actions:
        raise refusal("invalid_call_to_action", "ad.call_to_action", known=", ".join(actions))
    if isinstance(text, str) and len(text) > 100:
        raise refusal("text_too_long", "ad.text", limit=100)
    is_sale = fields.get("objective") in ("SALES", "CATALOG_SALES")
    if "pixel_id" in nested(fields, "ad_group") and not is_sale:
        raise refusal("pixel_not_allowed", "ad_group.pixel_id")


def check_link(fields: Values, field: str, within: str = "") -> None:
    """Check that a link uses HTTPS."""
    link = fields.get(field)
    if isinstance(link, str) and not link.startswith("https://"):
        raise refusal("invalid_url", within + field)


def check_assets(assets: Values) -> None:
    """Check how many assets a dynamic ad has."""
    counts = {kind: len(value) for kind, value in assets.items() if isinstance(value, list)}
    if "images" in counts and not 2 <= counts["images"] <= 10:
        raise refusal("asset_count:images", "assets.images", limit=10)
    for kind, most in _TABLES["most_assets"].items():
        if counts.get(kind, 0) > most:
            raise refusal("asset_count", f"assets.{kind}", limit=most)
    if sum(counts.values()) > _MAX_ASSETS:
        raise refusal("asset_count:all", "assets", limit=_MAX_ASSETS)


def check_keywords(keywords: list[str]) -> None:
    """Check the texts of keywords."""
    if not keywords or not all(map(str.strip, keywords)):
        raise refusal("keywords_empty", "keywords")
    for text in keywords:
        if len(text) > _MAX_CHARACTERS or len(text.split()) > _MAX_WORDS:
            raise refusal("keyword_too_long", "keywords", limit=_MAX_CHARACTERS, words=_MAX_WORDS)
        if _FORBIDDEN & set(text) or not text.isprintable():
            raise refusal("keyword_invalid_chars", "keywords", text=text)
    if len(set(map(plain_keyword, keywords))) < len(keywords):
        raise refusal("keyword_duplicate:given", "keywords")


def plain_keyword(text: str) -> str:
    """A keyword without differences that do not matter: letter case and blanks."""
    return " ".join(text.casefold().split())


def identity_of_keyword(values: Values) -> tuple[str, JSON, bool]:
    """The identity of a keyword, which is unique in its account."""
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
        raise refusal("location_required", "targeting")
    for one, other in ((a, b) for x, y in permutations(facets, 2) for a in x for b in y):
        if other in _TABLES["facets_apart"].get(one, ()):
            raise refusal("incompatible_facets", "targeting", one=one, other=other)
    audience = float(_MAX_AUDIENCE)
    for group in facets:
        for facet, chosen in group.items():
            if facet == "interface_locales" and len(chosen) > 1:
                raise refusal("too_many_facet_values", "targeting", limit=1, facet=facet)
            prefix = _TABLES["facet_prefixes"].get(facet, "")  # other facets take any value
            for value in chosen:
                if not str(value).startswith(prefix):
                    name = "unknown_facet_value"
                    raise refusal(name, "targeting", facet=facet, prefix=prefix, value=value)
        if group and "locations" not in group:
            audience *= min(1.0, _SHARE_OF_A_VALUE * sum(map(len, group.values())))
    if audience < _MIN_AUDIENCE:
        raise refusal("audience_too_small", "targeting", limit=_MIN_AUDIENCE, audience=audience)
