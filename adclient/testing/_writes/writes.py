"""The nine writes: what each would change, as a diff against the live state."""

from collections.abc import Callable

import attrs

from adclient.models import JSON
from adclient.testing._accounts.state import Account, Edit, Entity, Values
from adclient.testing._wire.lookup import found
from adclient.testing._wire.protocol import Asked, Refusal
from adclient.testing._writes import keywords, rules
from adclient.testing._writes.changes import Change, create, no_change, update
from adclient.testing._writes.targeting_rules import check_targeting


def change_of(account: Account, asked: Asked) -> Change:
    """The change that a write asks for."""
    return _WRITES[asked.operation.full_name](account, asked)


def _update_targeting(account: Account, asked: Asked) -> Change:
    return _update_campaign(account, asked, "targeting")


def _update_budget(account: Account, asked: Asked) -> Change:
    return _update_campaign(account, asked, "daily_budget")


def _update_campaign(account: Account, asked: Asked, own: str) -> Change:
    """A change of a campaign by the operation's own argument, by `fields`, or by both."""
    campaign = _campaign(account, asked)
    wanted = dict(asked.object("fields"))
    if own in asked.arguments:
        if own in wanted:
            raise rules.refuse(own, "conflicting_fields", "given twice")
        wanted[own] = asked.arguments[own]
    check_targeting(rules.inner(wanted, "targeting"))
    rules.check_immutable(wanted, campaign.values, "objective")
    rules.check_fields(account, wanted, campaign.values)
    return _updated(campaign, wanted)


def _updated(entity: Entity, wanted: dict[str, JSON]) -> Change:
    rules.check_immutable(wanted, {"id": entity.id}, "id")
    return update(entity, wanted)


def _campaign(account: Account, asked: Asked) -> Entity:
    """The campaign that is to be changed, which must not be over."""
    campaign = found(account, "campaign", asked.text("campaign_id") or "")
    end, today = campaign.text("end_date"), account.clock.today().isoformat()
    if campaign.values.get("serving") == "ENDED" or (end and end < today):
        raise Refusal(409, "campaign_ended", "this campaign has ended")
    return campaign


def _update_creative(account: Account, asked: Asked) -> Change:
    fields = asked.object("fields")
    rules.check_link(fields, "landing_url")
    wanted = asked.text("creative_id")
    if wanted is not None:
        return _updated(found(account, "creative", wanted), fields)
    if not fields:
        raise no_change()
    return create("creative", {"name": "New creative", "status": "PAUSED", **fields})


def _create_video_campaign(account: Account, asked: Asked) -> Change:
    fields, wanted = asked.object("fields"), asked.text("campaign_id")
    current: Values = {} if wanted is None else found(account, "campaign", wanted).values
    rules.check_objective(account, fields)
    rules.check_video_ad({**current, **fields})
    return _create_campaign(account, asked, "New video campaign")


def _create_image_campaign(account: Account, asked: Asked) -> Change:
    fields = asked.object("fields")
    rules.check_objective(account, fields)
    rules.check_image_ad(fields)
    return _create_campaign(account, asked, "New image campaign", *_image_ad_group(fields))


def _image_ad_group(campaign: dict[str, JSON]) -> list[Edit]:
    """The ad group of a campaign's new ad, if it has one, and the ad in it."""
    ad, group = campaign.get("ad"), rules.inner(campaign, "ad_group")
    if not isinstance(ad, dict):
        return []
    start: dict[str, JSON] = {
        "name": campaign.get("name", "New image campaign"),
        "status": "PAUSED",
    }
    made = Edit(kind="ad", after={**start, "format": "IMAGE", **ad})
    values = {**start, "dynamic_creative": False, **group}
    return [Edit(kind="ad_group", after=values, children=(made,))]


def _create_campaign(account: Account, asked: Asked, name: str, *children: Edit) -> Change:
    fields = asked.object("fields")
    rules.check_fields(account, fields, {})
    rules.check_new(fields, "ad", "ad_group")
    wanted = asked.text("campaign_id")
    if wanted is not None:
        return _extend(found(account, "campaign", wanted), fields, children)
    return create("campaign", {"name": name, "status": "PAUSED", **fields}, *children)


def _extend(campaign: Entity, fields: dict[str, JSON], children: tuple[Edit, ...]) -> Change:
    """A further ad group in a campaign that exists, with all that was said of it."""
    groups = campaign.values.get("ad_groups")
    others = {key: value for key, value in fields.items() if key != "ad_group"}
    group = {**others, **rules.inner(fields, "ad_group")}
    if not group:
        raise no_change()
    change = update(campaign, {"ad_groups": [*(groups if isinstance(groups, list) else []), group]})
    within = tuple(child.within({"campaign_id": campaign.id}) for child in children)
    return attrs.evolve(change, edits=(*change.edits, *within))


def _create_dco_ad(account: Account, asked: Asked) -> Change:
    fields, wanted = dict(asked.object("fields")), asked.text("ad_id")
    ad = None if wanted is None else found(account, "ad", wanted)
    if isinstance(fields.get("assets"), dict):
        rules.check_assets(rules.inner(fields, "assets"))
        fields["combinations"] = _combinations(fields["assets"])
    rules.check_link(fields, "link")
    if "ad_group_id" in fields:
        fields |= _place_of_dynamic_ad(account, fields["ad_group_id"], ad)
    if ad is not None:
        return _updated(ad, fields)
    values: dict[str, JSON] = {"name": "New dynamic ad", "status": "PAUSED", "format": "DYNAMIC"}
    return create("ad", {**values, "combinations": 1, **fields})


def _place_of_dynamic_ad(
    account: Account, ad_group_id: JSON, moved: Entity | None
) -> dict[str, JSON]:
    """The campaign of an ad group, which must take a dynamic ad and have no other one yet."""
    if not isinstance(ad_group_id, str):
        return {}
    group = found(account, "ad_group", ad_group_id)
    if moved is not None and moved.text("format") != "DYNAMIC":
        raise rules.refuse("ad_id", "not_dynamic", "this is no dynamic ad")
    if not group.values.get("dynamic_creative"):
        raise rules.refuse("ad_group_id", "not_dynamic", "this ad group takes no dynamic ads")
    inside = [ad for ad in account.of("ad") if ad.values.get("ad_group_id") == ad_group_id]
    if any(ad is not moved for ad in inside):
        message = "this ad group has its one dynamic ad already"
        raise rules.refuse("ad_group_id", "ad_limit_reached", message, 1)
    return {"campaign_id": group.values.get("campaign_id")}


def _combinations(assets: JSON) -> int:
    """In how many ways the assets can be put together."""
    count = 1
    for value in assets.values() if isinstance(assets, dict) else ():
        count *= len(value) if isinstance(value, list) and value else 1
    return count


def _pause(account: Account, asked: Asked) -> Change:
    return update(_campaign(account, asked), {"status": "PAUSED"})


def _remove_themes(account: Account, _: Asked) -> Change:
    groups = [group for group in account.of("asset_group") if group.values.get("search_themes")]
    if not groups:
        raise Refusal(422, "nothing_to_remove", "no automated campaign has search themes")
    if not all(group.values.get("audience_signal") for group in groups):
        message = "an asset group would be left without any signal"
        raise Refusal(409, "cannot_remove_all_signals", message)
    before: list[JSON] = [
        {"asset_group": group.text("name"), "texts": group.values["search_themes"]}
        for group in groups
    ]
    edits = tuple(
        Edit(
            kind="asset_group",
            id=group.id,
            before={"search_themes": group.values["search_themes"]},
            after={"search_themes": []},
        )
        for group in groups
    )
    return Change(field="search_themes", before=before, after=[], edits=edits)


_WRITES: dict[str, Callable[[Account, Asked], Change]] = {
    "alpha.update_campaign_targeting": _update_targeting,
    "alpha.update_campaign_budget": _update_budget,
    "beta.create_video_campaign": _create_video_campaign,
    "alpha.update_creative": _update_creative,
    "gamma.create_image_campaign": _create_image_campaign,
    "delta.update_keyword": keywords.change_of,
    "gamma.create_dco_ad": _create_dco_ad,
    "beta.pause_campaign": _pause,
    "delta.remove_auto_search_themes": _remove_themes,
}
