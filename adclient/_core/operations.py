"""The sixteen operations as data, in the order of section 4 of the interface.

All code that sends, checks, documents, fakes or tests an operation reads it here.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import Literal, NamedTuple, Required, TypedDict

import attrs

from adclient.models import (
    Ad,
    BusinessProfile,
    Campaign,
    CreativeFatigue,
    Draft,
    Item,
    Objective,
    ObjectLike,
    TargetingOption,
    WastedSpend,
)


class Arguments(TypedDict, total=False):
    """The arguments of a call, by parameter; each operation has some of them."""

    account_id: Required[str]
    campaign_id: str | None
    creative_id: str | None
    ad_id: str | None
    targeting: ObjectLike | None
    fields: ObjectLike | None
    daily_budget: int | float | Decimal | None
    keywords: Sequence[str]
    date_range: str | None


ParameterType = Literal["id", "text", "object", "number", "texts"]


class Parameter(NamedTuple):
    """One parameter of an operation; `about` describes it to models, unless its name does."""

    name: str
    type: ParameterType
    about: str = ""
    required: bool = False


_TARGETS = ("campaign_id", "creative_id", "ad_id")


@attrs.frozen(eq=False, repr=False)  # one object for each operation, so it is its own key
class Operation:
    """One operation of the service; `about` is a sentence, `result` is `Draft` or a class of items.

    `full_name` is how a user calls it, such as `alpha.update_campaign_budget`, `endpoint` its
    method and path, and `target` the parameter that names a campaign, creative or ad, if there is
    one.
    """

    full_name: str
    endpoint: str
    about: str
    result: type[Draft | Item]
    parameters: tuple[Parameter, ...]
    namespace: str = attrs.field(init=False)
    name: str = attrs.field(init=False)
    method: str = attrs.field(init=False)
    path: str = attrs.field(init=False)
    is_write: bool = attrs.field(init=False)
    target: str | None = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        namespace, _, name = self.full_name.partition(".")
        method, _, path = self.endpoint.partition(" ")
        names = (parameter.name for parameter in self.parameters)
        target = next((each for each in names if each in _TARGETS), None)
        derived: dict[str, object] = {"namespace": namespace, "name": name, "method": method}
        derived |= {"path": path, "is_write": self.result is Draft, "target": target}
        for field, value in derived.items():
            object.__setattr__(self, field, value)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle and copy as the one object of its name; clients keep what they know by it."""
        return _named, (self.full_name,)


_ACCOUNT = Parameter("account_id", "id", required=True)
_CAMPAIGN = Parameter("campaign_id", "id")
_CREATIVE = Parameter("creative_id", "id")
_AD = Parameter("ad_id", "id")
_TARGETING = Parameter("targeting", "object", "The targeting to apply")
_SEARCHED = _TARGETING._replace(about="What to search for")
_FIELDS = Parameter("fields", "object", "The fields to set")
_FURTHER_FIELDS = _FIELDS._replace(about="Further fields to set on the campaign")
_FIELDS_OF_KEYWORDS = _FIELDS._replace(about="What to do with the keywords")
_BUDGET = Parameter("daily_budget", "number", "The new daily budget, in the account's currency")
_KEYWORDS = Parameter(
    "keywords", "texts", "The texts of the keywords to add, change or remove", True
)
_DATE_RANGE = Parameter("date_range", "text", "The period of the figures, such as LAST_30_DAYS")
_CAMPAIGN_REQUIRED = _CAMPAIGN._replace(required=True)
_FIELDS_OF_CAMPAIGN = Parameter("fields", "object", "The fields of the campaign", True)
_FIELDS_OF_AD = Parameter("fields", "object", "The fields of the ad", True)

UPDATE_ALPHA_CAMPAIGN_TARGETING = Operation(
    "alpha.update_campaign_targeting",
    "POST /v1/alpha-ads/update-alpha-campaign-targeting",
    "Stage a change to a campaign's targeting.",
    Draft,
    (_ACCOUNT, _CAMPAIGN_REQUIRED, _TARGETING, _FURTHER_FIELDS),
)
UPDATE_ALPHA_CAMPAIGN_BUDGET = Operation(
    "alpha.update_campaign_budget",
    "POST /v1/alpha-ads/update-alpha-campaign-budget",
    "Stage a change to a campaign's daily budget.",
    Draft,
    (_ACCOUNT, _CAMPAIGN_REQUIRED, _BUDGET, _FURTHER_FIELDS),
)
CREATE_BETA_VIDEO_CAMPAIGN = Operation(
    "beta.create_video_campaign",
    "POST /v1/beta-ads/create-beta-video-campaign",
    "Stage a new video campaign.",
    Draft,
    (_ACCOUNT, _CAMPAIGN, _FIELDS_OF_CAMPAIGN),
)
UPDATE_ALPHA_CREATIVE = Operation(
    "alpha.update_creative",
    "POST /v1/alpha-ads/update-alpha-creative",
    "Stage a change to a creative, or a new creative.",
    Draft,
    (_ACCOUNT, _CREATIVE, _FIELDS),
)
CREATE_GAMMA_IMAGE_CAMPAIGN = Operation(
    "gamma.create_image_campaign",
    "POST /v1/gamma-ads/create-gamma-image-campaign",
    "Stage a new image campaign.",
    Draft,
    (_ACCOUNT, _CAMPAIGN, _FIELDS_OF_CAMPAIGN),
)
UPDATE_KEYWORD = Operation(
    "delta.update_keyword",
    "POST /v1/delta-ads/update-keyword",
    "Stage the addition, change or removal of keywords.",
    Draft,
    (_ACCOUNT, _KEYWORDS, _FIELDS_OF_KEYWORDS),
)
CREATE_GAMMA_DCO_AD = Operation(
    "gamma.create_dco_ad",
    "POST /v1/gamma-ads/create-gamma-dco-ad",
    "Stage a new ad assembled from assets (dynamic creative optimisation).",
    Draft,
    (_ACCOUNT, _AD, _FIELDS_OF_AD),
)
PAUSE_BETA_CAMPAIGN = Operation(
    "beta.pause_campaign",
    "POST /v1/beta-ads/pause-beta-campaign",
    "Stage the pause of a campaign.",
    Draft,
    (_ACCOUNT, _CAMPAIGN_REQUIRED),
)
REMOVE_DELTA_AUTO_SEARCH_THEMES = Operation(
    "delta.remove_auto_search_themes",
    "DELETE /v1/delta-ads/remove-delta-auto-search-themes",
    "Stage the removal of search themes from automated campaigns.",
    Draft,
    (_ACCOUNT,),
)
LIST_BETA_CAMPAIGNS = Operation(
    "beta.list_campaigns",
    "GET /v1/beta-ads/list-beta-campaigns",
    "List the campaigns of an account.",
    Campaign,
    (_ACCOUNT, _CAMPAIGN, _DATE_RANGE),
)
SEARCH_GAMMA_TARGETING = Operation(
    "gamma.search_targeting",
    "GET /v1/gamma-ads/search-gamma-targeting",
    "Search for targeting options.",
    TargetingOption,
    (_ACCOUNT, _SEARCHED),
)
DETECT_BETA_CREATIVE_FATIGUE = Operation(
    "beta.detect_creative_fatigue",
    "GET /v1/beta-ads/detect-beta-creative-fatigue",
    "Detect creatives that show fatigue.",
    CreativeFatigue,
    (_ACCOUNT, _CREATIVE),
)
LIST_GAMMA_ADS = Operation(
    "gamma.list_ads",
    "GET /v1/gamma-ads/list-gamma-ads",
    "List the ads of an account.",
    Ad,
    (_ACCOUNT, _DATE_RANGE),
)
EXPLAIN_ALPHA_OBJECTIVES = Operation(
    "alpha.explain_objectives",
    "GET /v1/alpha-ads/explain-alpha-objectives",
    "Explain the campaign objectives of an account.",
    Objective,
    (_ACCOUNT,),
)
ANALYZE_WASTED_SPEND = Operation(
    "delta.analyze_wasted_spend",
    "GET /v1/delta-ads/analyze-wasted-spend",
    "Analyze the wasted spend of an account.",
    WastedSpend,
    (_ACCOUNT,),
)
INFER_BUSINESS_PROFILE = Operation(
    "delta.infer_business_profile",
    "GET /v1/delta-ads/infer-business-profile",
    "Infer the business profile of an account.",
    BusinessProfile,
    (_ACCOUNT,),
)

OPERATIONS: tuple[Operation, ...] = (
    UPDATE_ALPHA_CAMPAIGN_TARGETING,
    UPDATE_ALPHA_CAMPAIGN_BUDGET,
    CREATE_BETA_VIDEO_CAMPAIGN,
    UPDATE_ALPHA_CREATIVE,
    CREATE_GAMMA_IMAGE_CAMPAIGN,
    UPDATE_KEYWORD,
    CREATE_GAMMA_DCO_AD,
    PAUSE_BETA_CAMPAIGN,
    REMOVE_DELTA_AUTO_SEARCH_THEMES,
    LIST_BETA_CAMPAIGNS,
    SEARCH_GAMMA_TARGETING,
    DETECT_BETA_CREATIVE_FATIGUE,
    LIST_GAMMA_ADS,
    EXPLAIN_ALPHA_OBJECTIVES,
    ANALYZE_WASTED_SPEND,
    INFER_BUSINESS_PROFILE,
)

READS = {operation.full_name: operation for operation in OPERATIONS if not operation.is_write}


def _named(full_name: str) -> Operation:
    return {operation.full_name: operation for operation in OPERATIONS}[full_name]
