"""The nine writes: what each would change, as a diff against the live state.

A draft changes exactly what the request names; all values inside `fields` are accepted.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import date
from decimal import Decimal
from functools import partial

from adclient._values.json_values import differ
from adclient.models import JSON
from adclient.testing._fake.accounts import Account, Edit, Entity, Kind, ProposedChange, Values
from adclient.testing._fake.requests import ParsedRequest, is_number, nested
from adclient.testing._fake.responses import http_error, not_found

_KEYWORD_STATUS = {"PAUSE": "PAUSED", "ENABLE": "ENABLED"}
KEYWORD_ACTIONS = ("ADD", "REMOVE", "UPDATE", *_KEYWORD_STATUS)
_NEW_KEYWORD: Values = {"match_type": "BROAD", "status": "ENABLED", "cpc_bid": None}
_SUBJECT = ("text", "match_type")
"""The fields of a keyword that every diff shows."""


def _create(kind: Kind, values: dict[str, JSON]) -> ProposedChange:
    """A new entity."""
    if "id" in values:
        raise http_error("immutable_field", "id")
    edit = Edit(kind=kind, after=values)
    return ProposedChange(kind, None, values, (edit,))


def _update(entity: Entity, wanted: Values) -> ProposedChange:
    """A change of an entity, which keeps its id."""
    if wanted.get("id", entity.id) != entity.id:
        raise http_error("immutable_field", "id")
    return entity.update(wanted)


def _update_campaign(
    account: Account, request: ParsedRequest, *, own: str, value: JSON = None
) -> ProposedChange:
    """A change by the operation's own argument, by `fields`, or by both; or to a fixed value."""
    campaign = named(account, request, "campaign")
    assert campaign is not None, "these operations require a campaign_id"
    wanted: dict[str, JSON] = {own: value} if value else dict(request.object("fields"))
    if own in request.arguments:
        wanted[own] = request.arguments[own]
    return _update(campaign, wanted or {own: campaign.values.get(own)})


def named(account: Account, request: ParsedRequest, kind: Kind) -> Entity | None:
    """The entity that a request names, which the account must have; None if it names none."""
    entity_id = request.text(f"{kind}_id")
    entity = None if entity_id is None else account.find(kind, entity_id)
    if entity is None and entity_id is not None:
        raise not_found(f"{kind}_id", kind, entity_id)
    return entity


def _update_or_create(
    account: Account, request: ParsedRequest, *, kind: Kind, name: str
) -> ProposedChange:
    """A change of a creative or ad, or a new one."""
    fields, entity = request.object("fields"), named(account, request, kind)
    if entity is not None:
        return _update(entity, fields)
    return _create(kind, {"name": name, "status": "PAUSED", **fields})


def _create_campaign(account: Account, request: ParsedRequest, *, medium: str) -> ProposedChange:
    """A new campaign, or another ad group in a campaign that exists."""
    fields, campaign = request.object("fields"), named(account, request, "campaign")
    if campaign is None:
        return _create("campaign", {"name": f"New {medium} campaign", "status": "PAUSED", **fields})
    groups = campaign.values.get("ad_groups")
    others = {key: value for key, value in fields.items() if key != "ad_group"}
    group = {**others, **nested(fields, "ad_group")}
    return campaign.update({"ad_groups": [*(groups if isinstance(groups, list) else []), group]})


def _remove_themes(account: Account, _: ParsedRequest) -> ProposedChange:
    groups = [each for each in account.all("asset_group") if each.values.get("search_themes")]
    before: list[JSON] = [
        {"asset_group": group.name, "texts": group.values["search_themes"]} for group in groups
    ]
    edits = [edit for group in groups for edit in group.update({"search_themes": []}).edits]
    return ProposedChange("search_themes", before, [], tuple(edits))


def _update_keyword(account: Account, request: ParsedRequest) -> ProposedChange:
    """The change of the named keywords; without a known action they are added."""
    texts, values = request.texts("keywords"), dict(request.object("fields"))
    action = values.pop("action", "ADD")
    if action not in KEYWORD_ACTIONS:
        values["action"], action = action, "ADD"
    if action == "ADD":
        made = [_create("keyword", {"text": text, **_NEW_KEYWORD, **values}) for text in texts]
        return _keyword_change([edit for each in made for edit in each.edits])
    # For an update, a match type is a new value; otherwise it selects the keywords.
    match_type = None if action == "UPDATE" else values.pop("match_type", None)
    keywords = _keywords(account, texts, match_type)
    if action == "REMOVE":
        return _keyword_change([Edit(kind="keyword", id=k.id, before=k.values) for k in keywords])
    if action in _KEYWORD_STATUS:
        values["status"] = _KEYWORD_STATUS[str(action)]
    updates = [_update(keyword, values) for keyword in keywords]
    updates = [each for each in updates if differ(each.before, each.after)] or updates
    return _keyword_change([edit for each in updates for edit in each.edits], keywords)


def _keyword_change(edits: list[Edit], keywords: Iterable[Entity] = ()) -> ProposedChange:
    """A change whose diff lists the keywords before and after; of updated ones, what changes."""
    subjects = {
        keyword.id: {key: keyword.values[key] for key in _SUBJECT if key in keyword.values}
        for keyword in keywords
    }

    def shown(edit: Edit, values: Values) -> JSON:
        subject = subjects.get(edit.id or "", {})
        return subject | {key: value for key, value in values.items() if key != "id"}

    before = [shown(edit, edit.before) for edit in edits if edit.before is not None]
    after = [shown(edit, edit.after) for edit in edits if edit.after is not None]
    return ProposedChange("keywords", before, after, tuple(edits))


def plain_keyword(text: str) -> str:
    """A keyword without differences that do not matter: letter case and blanks."""
    return " ".join(text.casefold().split())


def _keywords(account: Account, texts: Sequence[str], match_type: JSON) -> list[Entity]:
    """The keywords with some texts, and a match type if one is given."""
    found: dict[str, Entity] = {}
    for text in texts:
        matching = {
            keyword.id: keyword
            for keyword in account.all("keyword")
            if plain_keyword(keyword.name) == plain_keyword(text)
            and match_type in (None, keyword.values.get("match_type"))
        }
        if not matching:
            raise not_found("keywords", "keyword", text)
        found |= matching
    return list(found.values())


WRITES: dict[str, Callable[[Account, ParsedRequest], ProposedChange]] = {
    "alpha.update_campaign_targeting": partial(_update_campaign, own="targeting"),
    "alpha.update_campaign_budget": partial(_update_campaign, own="daily_budget"),
    "beta.create_video_campaign": partial(_create_campaign, medium="video"),
    "alpha.update_creative": partial(_update_or_create, kind="creative", name="New creative"),
    "gamma.create_image_campaign": partial(_create_campaign, medium="image"),
    "delta.update_keyword": _update_keyword,
    "gamma.create_dco_ad": partial(_update_or_create, kind="ad", name="New dynamic ad"),
    "beta.pause_campaign": partial(_update_campaign, own="status", value="PAUSED"),
    "delta.remove_auto_search_themes": _remove_themes,
}


# What the interface does not state, for `Profile(business_rules=True)`.

_MIN_IMAGES, _MAX_IMAGES = 2, 10
# The smallest daily budget in each currency, and its decimals.
_CURRENCIES = {"USD": (20, 2), "EUR": (20, 2), "GBP": (15, 2), "JPY": (2500, 0)}


def check_write(
    account: Account, request: ParsedRequest, change: ProposedChange, today: date
) -> None:
    """Refuse a change that breaks a rule."""
    match request.operation.full_name:
        case "delta.update_keyword":
            _check_keywords(account, request, change)
        case "delta.remove_auto_search_themes":
            groups = [account.find(edit.kind, edit.id or "") for edit in change.edits]
            if not all(group and group.values.get("audience_signal") for group in groups):
                raise http_error("cannot_remove_all_signals")
        case "gamma.create_dco_ad":
            images = nested(request.object("fields"), "assets").get("images")
            if isinstance(images, list) and not _MIN_IMAGES <= len(images) <= _MAX_IMAGES:
                raise http_error("asset_count", "assets.images", limit=_MAX_IMAGES)
        case _:
            _check_campaign(account, request, change, today)
    if not differ(change.before, change.after):
        raise http_error("no_change")


def _check_campaign(
    account: Account, request: ParsedRequest, change: ProposedChange, today: date
) -> None:
    """Refuse the change of a campaign that has ended, and budgets that the currency rules out."""
    if campaign := change.target:
        end = campaign.text("end_date")
        if campaign.text("serving") == "ENDED" or (end and end < today.isoformat()):
            raise http_error("campaign_ended")
    budget = {**request.object("fields"), **request.arguments}.get("daily_budget")
    currency = account.given.currency
    least, digits = _CURRENCIES.get(currency, (0, 2))
    if is_number(budget) and Decimal(str(budget)) % Decimal(1).scaleb(-digits):
        name = "not_multiple_of_currency_unit"
        raise http_error(name, "daily_budget", limit=digits, currency=currency)
    if is_number(budget) and budget < least:
        raise http_error("budget_below_minimum", "daily_budget", limit=least, currency=currency)


def _check_keywords(account: Account, request: ParsedRequest, change: ProposedChange) -> None:
    """Refuse keywords that exist, and unknown actions."""
    if request.object("fields").get("action", "ADD") not in KEYWORD_ACTIONS:
        raise http_error("unknown_action", "action", known=", ".join(KEYWORD_ACTIONS))
    there = {_identity(keyword.values) for keyword in account.all("keyword")}
    for edit in change.edits:
        if edit.id is None and edit.after is not None and _identity(edit.after) in there:
            raise http_error("keyword_duplicate", "keywords", text=edit.after["text"])


def _identity(values: Values) -> tuple[str, str, bool]:
    """The part of a keyword that is unique in an account."""
    text = plain_keyword(str(values.get("text")))
    return text, str(values.get("match_type")), bool(values.get("negative"))
