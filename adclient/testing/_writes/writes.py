"""The nine writes: what each would change, as a diff against the live state."""

from collections.abc import Callable

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
    campaign = _campaign(account, asked)
    wanted = dict(asked.object("fields"))
    if "targeting" in asked.arguments:
        check_targeting(asked.object("targeting"))
        wanted["targeting"] = asked.object("targeting")
    return _updated_campaign(account, campaign, wanted)


def _update_budget(account: Account, asked: Asked) -> Change:
    campaign = _campaign(account, asked)
    wanted = dict(asked.object("fields"))
    if "daily_budget" in asked.arguments:
        if "daily_budget" in wanted:
            raise rules.refuse("fields.daily_budget", "conflicting_fields", "given twice")
        wanted["daily_budget"] = asked.arguments["daily_budget"]
    return _updated_campaign(account, campaign, wanted)


def _updated_campaign(account: Account, campaign: Entity, wanted: dict[str, JSON]) -> Change:
    rules.check_immutable(wanted, campaign.values, "objective")
    rules.check_fields(account, wanted, campaign.values)
    return _updated(campaign, wanted)


def _updated(entity: Entity, wanted: dict[str, JSON]) -> Change:
    rules.check_immutable(wanted, {"id": entity.id}, "id")
    return update(entity, wanted)


def _campaign(account: Account, asked: Asked) -> Entity:
    """The campaign that is to be changed, which must not be over."""
    campaign = found(account, "campaign", asked.text("campaign_id") or "")
    if campaign.values.get("serving") == "ENDED":
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
    ad = fields.get("ad")
    children = [] if not isinstance(ad, dict) else [Edit(kind="ad", after=_image_ad(ad, fields))]
    return _create_campaign(account, asked, "New image campaign", *children)


def _image_ad(ad: dict[str, JSON], campaign: dict[str, JSON]) -> dict[str, JSON]:
    name = campaign.get("name", "New image campaign")
    return {"name": name, "status": "PAUSED", "format": "IMAGE", **ad}


def _create_campaign(account: Account, asked: Asked, name: str, *children: Edit) -> Change:
    fields = asked.object("fields")
    rules.check_fields(account, fields, {})
    wanted = asked.text("campaign_id")
    if wanted is not None:
        return _extend(found(account, "campaign", wanted), fields)
    return create("campaign", {"name": name, "status": "PAUSED", **fields}, *children)


def _extend(campaign: Entity, fields: dict[str, JSON]) -> Change:
    """A further ad group in a campaign that exists."""
    groups = campaign.values.get("ad_groups")
    group = fields.get("ad_group", fields)
    if not group:
        raise no_change()
    return update(campaign, {"ad_groups": [*(groups if isinstance(groups, list) else []), group]})


def _create_dco_ad(account: Account, asked: Asked) -> Change:
    fields = asked.object("fields")
    assets = fields.get("assets")
    if isinstance(assets, dict):
        rules.check_assets(assets)
    rules.check_link(fields, "link")
    wanted = asked.text("ad_id")
    if wanted is not None:
        return _updated(found(account, "ad", wanted), fields)
    _check_ad_group(account, fields.get("ad_group_id"))
    values: dict[str, JSON] = {"name": "New dynamic ad", "status": "PAUSED", "format": "DYNAMIC"}
    return create("ad", {**values, **fields, "combinations": _combinations(assets)})


def _check_ad_group(account: Account, ad_group_id: JSON) -> None:
    """Check that an ad group, if one is named, takes a dynamic ad and has none yet."""
    if not isinstance(ad_group_id, str):
        return
    group = found(account, "ad_group", ad_group_id)
    if not group.values.get("dynamic_creative"):
        raise rules.refuse("ad_group_id", "not_dynamic", "this ad group takes no dynamic ads")
    if any(ad.values.get("ad_group_id") == ad_group_id for ad in account.of("ad")):
        message = "this ad group has its one dynamic ad already"
        raise rules.refuse("ad_group_id", "ad_limit_reached", message, 1)


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
