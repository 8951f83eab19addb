"""The seven reads: the items of an account, or those that it was given for a read."""

from collections.abc import Mapping, Sequence
from typing import cast

from adclient.models import JSON
from adclient.testing._fake import load
from adclient.testing._fake.accounts import ENTITIES_OF, Account, Kind, Values
from adclient.testing._fake.requests import ParsedRequest
from adclient.testing._fake.responses import http_error
from adclient.testing._fake.writes import named, plain_keyword

_LAST_DAYS = ("LAST_7_DAYS", "LAST_14_DAYS", "LAST_30_DAYS", "LAST_90_DAYS")
DATE_RANGES = ("TODAY", "YESTERDAY", *_LAST_DAYS, "THIS_MONTH", "LAST_MONTH")
_DEFAULT_RANGE = "LAST_30_DAYS"
# What the listings of the story show of an entity, and the figures of one that has never run.
_SHOWN: Mapping[Kind, Values] = load("shown.json")
_OF_CAMPAIGNS = ("id", "name", "status", "daily_budget", "lifetime_budget", "end_date")


def listed(account: Account, request: ParsedRequest) -> Sequence[Values]:
    """All items of a read."""
    name = request.operation.full_name
    if name in ENTITIES_OF:
        return _entities(account, request, ENTITIES_OF[name])
    items = cast("Sequence[Values]", account.given.reads[name])
    creative_id = request.text("creative_id")
    if creative_id is not None:
        items = [each for each in items if creative_id == each.get("creative_id", each["id"])]
        if not items:
            named(account, request, "creative")
    if not account.is_story:
        return items
    match name:
        case "gamma.search_targeting":
            return _options(items, request.object("targeting"))
        case "alpha.explain_objectives":
            return [{**each, "campaigns": _campaigns_with(account, each["name"])} for each in items]
        case _:
            return [each for each in items if _is_true(account, each)]


def _entities(account: Account, request: ParsedRequest, kind: Kind) -> Sequence[Values]:
    """The entity that a request names, or all of a kind, with their figures in a date range."""
    entity = named(account, request, kind)
    ranges = cast("Mapping[str, Mapping[str, Values]]", account.given.figures)
    figures = ranges.get(request.text("date_range") or "", ranges.get(_DEFAULT_RANGE, {}))
    items: list[Values] = [
        {**each.values, **figures[each.id]} if each.id in figures else each.values
        for each in ([entity] if entity else account.all(kind))
    ]
    if not account.is_story:
        return items
    shown = _SHOWN[kind].items()
    return [{key: item.get(key, default) for key, default in shown} for item in items]


def _options(options: Sequence[Values], targeting: Values) -> Sequence[Values]:
    """The targeting options of a type, or that a query finds; else the top of their tree."""
    kind, query = targeting.get("type"), targeting.get("query")
    found: list[Values] = []
    for option in options:
        terms = option.get("terms")
        texts = [option["name"], *(terms if isinstance(terms, list) else [])]
        if isinstance(query, str):
            is_hit = any(query.lower() in str(text).lower() for text in texts)
        else:
            is_hit = kind is not None or not option["path"]
        if is_hit and kind in (None, option["type"]):
            found.append({key: value for key, value in option.items() if key != "terms"})
    return found


def _campaigns_with(account: Account, objective: JSON) -> list[JSON]:
    return [
        {key: campaign.values.get(key) for key in _OF_CAMPAIGNS}
        for campaign in account.all("campaign")
        if campaign.values.get("objective") == objective
    ]


def _is_true(account: Account, finding: Values) -> bool:
    """Check if nobody has paused, removed or excluded what a finding is about."""
    if finding.get("entity_type") == "search_term":
        excluded = (each for each in account.all("keyword") if each.values.get("negative"))
        return plain_keyword(str(finding["name"])) not in {plain_keyword(e.name) for e in excluded}
    ids = [finding[key] for key in ("campaign_id", "entity_id") if finding.get(key)]
    entities = [each for entity_id in ids for each in account.with_id(str(entity_id))]
    is_running = all(each.text("status") == "ENABLED" for each in entities)
    themes = any(each.values.get("search_themes") for each in account.all("asset_group"))
    is_about_themes = "remove_auto_search_themes" in str(finding.get("suggested_action"))
    return len(entities) == len(ids) and is_running and (themes or not is_about_themes)


def check_read(account: Account, request: ParsedRequest) -> None:
    """Refuse a date range that neither the story nor the account has."""
    name, ranges = request.text("date_range"), [*DATE_RANGES, *account.given.figures]
    if name is not None and name not in ranges:
        known = ", ".join(dict.fromkeys(ranges))
        raise http_error("unknown_date_range", "date_range", reason="unknown", known=known)
