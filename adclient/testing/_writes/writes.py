"""The nine writes: what each would change, as a diff against the live state.

Of the values inside `fields`, only a few are checked; all others are accepted.
"""

from collections.abc import Callable, Iterable
from decimal import Decimal
from functools import partial
from math import prod

from adclient.models import JSON
from adclient.testing._accounts.state import Account, Edit, Entity, Kind, ProposedChange, Values
from adclient.testing._http.requests import ParsedRequest, is_number, nested
from adclient.testing._http.responses import http_error, not_found

_BUDGETS = {"daily_budget": 1, "lifetime_budget": 7}
"""The minimum of each budget, in multiples of that of a daily one."""
_MIN_IMAGES, _MAX_IMAGES = 2, 10
_KEYWORD_STATUS = {"PAUSE": "PAUSED", "ENABLE": "ENABLED"}
_KEYWORD_ACTIONS = ("ADD", "REMOVE", "UPDATE", *_KEYWORD_STATUS)
_NEW_KEYWORD: Values = {"match_type": "BROAD", "status": "ENABLED", "cpc_bid": None}
_SUBJECT = ("text", "match_type")
"""The fields of a keyword that every diff shows; of added or removed ones, also the next."""
_SHOWN = ("status", "cpc_bid")


def _create(kind: Kind, values: dict[str, JSON]) -> ProposedChange:
    """A new entity."""
    if "id" in values:
        raise http_error("immutable_field", "id")
    edit = Edit(kind=kind, after=values)
    return ProposedChange(field=kind, before=None, after=values, edits=(edit,))


def _update_campaign(account: Account, request: ParsedRequest, *, own: str) -> ProposedChange:
    """A change of a campaign by the operation's own argument, by `fields`, or by both."""
    campaign, wanted = _running_campaign(account, request), dict(request.object("fields"))
    if own in request.arguments:
        wanted[own] = request.arguments[own]
    _check_budgets(account, wanted)
    return campaign.update(wanted)


def _check_budgets(account: Account, fields: Values) -> None:
    """Check the budgets that a write would set on a campaign."""
    currency = account.currency
    for field, factor in _BUDGETS.items():
        budget, least = fields.get(field), currency.min_budget * factor
        if budget is None:
            continue
        if not is_number(budget) or budget <= 0:
            raise http_error("budget_invalid", field)
        exact = Decimal(str(budget)) * currency.minor
        if exact != exact.to_integral_value():
            name = "not_multiple_of_currency_unit"
            raise http_error(name, field, limit=currency.digits, currency=currency.code)
        if budget < least:
            raise http_error("budget_below_minimum", field, limit=least, currency=currency.code)


def _running_campaign(account: Account, request: ParsedRequest) -> Entity:
    """The campaign of a request; one that has ended is refused."""
    campaign = account.get("campaign", request.text("campaign_id") or "")
    end, today = campaign.text("end_date"), account.clock.today().isoformat()
    if campaign.text("serving") == "ENDED" or (end and end < today):
        raise http_error("campaign_ended")
    return campaign


def _named(account: Account, request: ParsedRequest, kind: Kind) -> Entity | None:
    """The entity that a request names; None if it names none."""
    entity_id = request.text(f"{kind}_id")
    return None if entity_id is None else account.get(kind, entity_id)


def _update_creative(account: Account, request: ParsedRequest) -> ProposedChange:
    fields, creative = request.object("fields"), _named(account, request, "creative")
    if creative is not None:
        return creative.update(fields)
    if not fields:
        raise http_error("no_change")
    return _create("creative", {"name": "New creative", "status": "PAUSED", **fields})


def _create_campaign(account: Account, request: ParsedRequest, *, medium: str) -> ProposedChange:
    """A new campaign, or another ad group in a campaign that exists."""
    fields, campaign = request.object("fields"), _named(account, request, "campaign")
    _check_budgets(account, fields)
    if campaign is None:
        return _create("campaign", {"name": f"New {medium} campaign", "status": "PAUSED", **fields})
    groups = campaign.values.get("ad_groups")
    others = {key: value for key, value in fields.items() if key != "ad_group"}
    group = {**others, **nested(fields, "ad_group")}
    if not group:
        raise http_error("no_change")
    return campaign.update({"ad_groups": [*(groups if isinstance(groups, list) else []), group]})


def _create_dco_ad(account: Account, request: ParsedRequest) -> ProposedChange:
    fields, ad = dict(request.object("fields")), _named(account, request, "ad")
    if isinstance(fields.get("assets"), dict):
        assets = nested(fields, "assets")
        images = assets.get("images")
        if isinstance(images, list) and not _MIN_IMAGES <= len(images) <= _MAX_IMAGES:
            raise http_error("asset_count", "assets.images", limit=_MAX_IMAGES)
        counts = (len(value) for value in assets.values() if isinstance(value, list) and value)
        fields["combinations"] = prod(counts)
    ad_group_id = fields.get("ad_group_id")
    if isinstance(ad_group_id, str):
        group = account.get("ad_group", ad_group_id)
        fields["campaign_id"] = group.values.get("campaign_id")
    if ad is not None:
        return ad.update(fields)
    values: dict[str, JSON] = {"name": "New dynamic ad", "status": "PAUSED", "format": "DYNAMIC"}
    return _create("ad", {**values, "combinations": 1, **fields})


def _remove_themes(account: Account, _: ParsedRequest) -> ProposedChange:
    groups = [group for group in account.all("asset_group") if group.values.get("search_themes")]
    if not groups:
        raise http_error("nothing_to_remove")
    if not all(group.values.get("audience_signal") for group in groups):
        raise http_error("cannot_remove_all_signals")
    before: list[JSON] = []
    edits: list[Edit] = []
    for group in groups:
        themes = group.values["search_themes"]
        before.append({"asset_group": group.text("name"), "texts": themes})
        old: Values = {"search_themes": themes}
        edits.append(Edit(kind=group.kind, id=group.id, before=old, after={"search_themes": []}))
    return ProposedChange(field="search_themes", before=before, after=[], edits=tuple(edits))


def _update_keyword(account: Account, request: ParsedRequest) -> ProposedChange:
    """The change of the named keywords; without an action they are added."""
    texts, fields = request.texts("keywords"), request.object("fields")
    plain = [plain_keyword(text) for text in texts]
    if not all(plain) or not plain:
        raise http_error("keywords_empty", "keywords")
    if len(set(plain)) < len(plain):
        raise http_error("keyword_duplicate:given", "keywords")
    action = fields.get("action", "ADD")
    if action not in _KEYWORD_ACTIONS:
        raise http_error("unknown_action", "action", known=", ".join(_KEYWORD_ACTIONS))
    values = {key: fields[key] for key in fields if key not in ("action", "ad_group_id")}
    if action == "ADD":
        made: list[Values] = [{"text": text, **_NEW_KEYWORD, **values} for text in texts]
        there = {_identity(keyword.values) for keyword in account.all("keyword")}
        for each in made:
            if _identity(each) in there:
                raise http_error("keyword_duplicate", "keywords", text=each["text"])
        shown = [_shown(each, (*_SHOWN, *values)) for each in made]
        return _keyword_change([], shown, [Edit(kind="keyword", after=each) for each in made])
    # For an update, a match type is a new value; otherwise it selects the keywords.
    match_type = None if action == "UPDATE" else values.pop("match_type", None)
    keywords = [keyword for text in texts for keyword in _keywords(account, text, match_type)]
    if action == "REMOVE":
        removed = [_shown(each.values, _SHOWN) for each in keywords]
        edits = [Edit(kind="keyword", id=each.id, before=each.values) for each in keywords]
        return _keyword_change(removed, [], edits)
    if action in _KEYWORD_STATUS:
        values["status"] = _KEYWORD_STATUS[str(action)]
    return _set_on_keywords(keywords, values)


def plain_keyword(text: str) -> str:
    """A keyword without differences that do not matter: letter case and blanks."""
    return " ".join(text.casefold().split())


def _identity(values: Values) -> tuple[str, str, bool]:
    """The part of a keyword that is unique in an account."""
    text = plain_keyword(str(values.get("text")))
    return text, str(values.get("match_type")), bool(values.get("negative"))


def _keywords(account: Account, text: str, match_type: JSON) -> list[Entity]:
    """The keywords with a text, and a match type if one is given."""
    matching = [
        keyword
        for keyword in account.all("keyword")
        if plain_keyword(keyword.text("text")) == plain_keyword(text)
        and match_type in (None, keyword.values["match_type"])
    ]
    if not matching:
        raise not_found("keywords", "keyword", repr(text))
    return matching


def _set_on_keywords(keywords: list[Entity], values: Values) -> ProposedChange:
    """A change whose diff lists the keywords before and after."""
    before: list[JSON] = []
    after: list[JSON] = []
    edits: list[Edit] = []
    for keyword in keywords:
        new = {**keyword.values, **values}
        if new != keyword.values:
            old = {key: keyword.values.get(key) for key in values}
            before.append(_shown(keyword.values, values))
            after.append(_shown(new, values))
            edits.append(Edit(kind="keyword", id=keyword.id, before=old, after=values))
    if not edits:
        raise http_error("no_change")
    return _keyword_change(before, after, edits)


def _keyword_change(before: list[JSON], after: list[JSON], edits: list[Edit]) -> ProposedChange:
    return ProposedChange(field="keywords", before=before, after=after, edits=tuple(edits))


def _shown(values: Values, keys: Iterable[str]) -> JSON:
    """A keyword in a diff: its identity and some of its values."""
    return {key: values.get(key) for key in (*_SUBJECT, *keys)}


WRITES: dict[str, Callable[[Account, ParsedRequest], ProposedChange]] = {
    "alpha.update_campaign_targeting": partial(_update_campaign, own="targeting"),
    "alpha.update_campaign_budget": partial(_update_campaign, own="daily_budget"),
    "beta.create_video_campaign": partial(_create_campaign, medium="video"),
    "alpha.update_creative": _update_creative,
    "gamma.create_image_campaign": partial(_create_campaign, medium="image"),
    "delta.update_keyword": _update_keyword,
    "gamma.create_dco_ad": _create_dco_ad,
    "beta.pause_campaign": lambda account, request: _running_campaign(account, request).update(
        {"status": "PAUSED"}
    ),
    "delta.remove_auto_search_themes": _remove_themes,
}
