"""The sixteen operations as data, in the order of section 4 of the interface.

All code that sends, checks, documents, fakes or tests an operation reads it here.
"""

from typing import Literal, NamedTuple

import attrs

from adclient.models import (
    Ad,
    BusinessProfile,
    Campaign,
    CreativeFatigue,
    Draft,
    Item,
    Objective,
    TargetingOption,
    WastedSpend,
)

ParameterType = Literal["id", "text", "object", "number", "texts"]


class Parameter(NamedTuple):
    """One parameter of an operation; `about` describes it to models, unless its name does."""

    name: str
    type: ParameterType
    about: str = ""
    required: bool = False


@attrs.frozen(eq=False, repr=False)  # one object for each operation, so it is its own key
class Operation:
    """One operation of the service; `about` is a sentence, `result` is `Draft` or a class of items.

    `full_name` is how a user calls it, such as `alpha.update_campaign_budget`. `target` is the
    parameter that names a campaign, creative or ad, if there is one.
    """

    full_name: str
    namespace: str
    name: str
    method: str
    path: str
    about: str
    result: type[Draft | Item]
    parameters: tuple[Parameter, ...]
    names: tuple[str, ...]
    target: str | None
    is_write: bool

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle and copy as the one object of its name; clients keep what they know by it."""
        return _named, (self.full_name,)


def _row(
    full_name: str, endpoint: str, result: type[Draft | Item], about: str, *further: Parameter
) -> Operation:
    """An operation with an account, which all have, and further parameters.

    `endpoint` is its method and what follows `/v1/…-ads/` in its path.
    """
    namespace, _, name = full_name.partition(".")
    method, _, last = endpoint.partition(" ")
    parameters = (_ACCOUNT, *further)
    return Operation(
        full_name=full_name,
        namespace=namespace,
        name=name,
        method=method,
        path=f"/v1/{namespace}-ads/{last}",
        about=about,
        result=result,
        parameters=parameters,
        names=tuple(parameter.name for parameter in parameters),
        target=next((parameter.name for parameter in further if parameter.type == "id"), None),
        is_write=result is Draft,
    )


_ACCOUNT = Parameter("account_id", "id", required=True)
_CAMPAIGN = Parameter("campaign_id", "id", required=True)
_ANY_CAMPAIGN = Parameter("campaign_id", "id")
_CREATIVE = Parameter("creative_id", "id")
_AD = Parameter("ad_id", "id")
_TARGETING = Parameter("targeting", "object", "The targeting to apply")
_SEARCHED = Parameter("targeting", "object", "What to search for")
_BUDGET = Parameter("daily_budget", "number", "The new daily budget, in the account's currency")
_KEYWORDS = Parameter(
    "keywords", "texts", "The texts of the keywords to add, change or remove", required=True
)
_DATE_RANGE = Parameter("date_range", "text", "The period of the figures, such as LAST_30_DAYS")
_FIELDS = Parameter("fields", "object", "The fields to set")
_MORE_FIELDS = Parameter("fields", "object", "Further fields to set on the campaign")
_KEYWORD_FIELDS = Parameter("fields", "object", "What to do with the keywords")
_CAMPAIGN_FIELDS = Parameter("fields", "object", "The fields of the campaign", required=True)
_AD_FIELDS = Parameter("fields", "object", "The fields of the ad", required=True)

OPERATIONS = (
    _row("alpha.update_campaign_targeting", "POST update-alpha-campaign-targeting", Draft,
         "Stage a change to a campaign's targeting.", _CAMPAIGN, _TARGETING, _MORE_FIELDS),
    _row("alpha.update_campaign_budget", "POST update-alpha-campaign-budget", Draft,
         "Stage a change to a campaign's daily budget.", _CAMPAIGN, _BUDGET, _MORE_FIELDS),
    _row("beta.create_video_campaign", "POST create-beta-video-campaign", Draft,
         "Stage a new video campaign.", _ANY_CAMPAIGN, _CAMPAIGN_FIELDS),
    _row("alpha.update_creative", "POST update-alpha-creative", Draft,
         "Stage a change to a creative, or a new creative.", _CREATIVE, _FIELDS),
    _row("gamma.create_image_campaign", "POST create-gamma-image-campaign", Draft,
         "Stage a new image campaign.", _ANY_CAMPAIGN, _CAMPAIGN_FIELDS),
    _row("delta.update_keyword", "POST update-keyword", Draft,
         "Stage the addition, change or removal of keywords.", _KEYWORDS, _KEYWORD_FIELDS),
    _row("gamma.create_dco_ad", "POST create-gamma-dco-ad", Draft,
         "Stage a new ad assembled from assets (dynamic creative optimisation).", _AD, _AD_FIELDS),
    _row("beta.pause_campaign", "POST pause-beta-campaign", Draft,
         "Stage the pause of a campaign.", _CAMPAIGN),
    _row("delta.remove_auto_search_themes", "DELETE remove-delta-auto-search-themes", Draft,
         "Stage the removal of search themes from automated campaigns."),
    _row("beta.list_campaigns", "GET list-beta-campaigns", Campaign,
         "List the campaigns of an account.", _ANY_CAMPAIGN, _DATE_RANGE),
    _row("gamma.search_targeting", "GET search-gamma-targeting", TargetingOption,
         "Search for targeting options.", _SEARCHED),
    _row("beta.detect_creative_fatigue", "GET detect-beta-creative-fatigue", CreativeFatigue,
         "Detect creatives that show fatigue.", _CREATIVE),
    _row("gamma.list_ads", "GET list-gamma-ads", Ad,
         "List the ads of an account.", _DATE_RANGE),
    _row("alpha.explain_objectives", "GET explain-alpha-objectives", Objective,
         "Explain the campaign objectives of an account."),
    _row("delta.analyze_wasted_spend", "GET analyze-wasted-spend", WastedSpend,
         "Analyze the wasted spend of an account."),
    _row("delta.infer_business_profile", "GET infer-business-profile", BusinessProfile,
         "Infer the business profile of an account."),
)  # fmt: skip
BY_NAME = {operation.full_name: operation for operation in OPERATIONS}
READS = {name: operation for name, operation in BY_NAME.items() if not operation.is_write}


def _named(full_name: str) -> Operation:
    return BY_NAME[full_name]
