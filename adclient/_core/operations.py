"""The sixteen operations as data, in the order of section 4 of the interface.

All code that sends, checks, documents, fakes or tests an operation reads it here.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Generic, Literal, NamedTuple, Required, TypedDict, TypeVar

import attrs

from adclient.models import (
    JSON,
    Ad,
    BusinessProfile,
    Campaign,
    CreativeFatigue,
    Draft,
    Objective,
    ObjectLike,
    Result,
    TargetingOption,
    WastedSpend,
)

R = TypeVar("R", bound=Result, covariant=True)
ItemT = TypeVar("ItemT", covariant=True)


@attrs.frozen(kw_only=True, eq=False, repr=False)
class PageBody(Result, Generic[ItemT]):
    """The response of a read operation: one page of its items.

    `page` is what the object of that name holds besides `next`.
    """

    data: tuple[ItemT, ...]
    next: JSON
    page: Mapping[str, JSON]
    extra: Mapping[str, JSON]


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
    """One parameter of an operation."""

    name: str
    type: ParameterType
    required: bool = False


_TARGETS = ("campaign_id", "creative_id", "ad_id")


@attrs.frozen(eq=False, repr=False)  # one object for each operation, so it is its own key
class Operation(Generic[R]):
    """One operation of the service; `result` is the class of its result.

    `full_name` is how a user calls it, such as `alpha.update_campaign_budget`, and `target` the
    parameter that names a campaign, creative or ad, if there is one.
    """

    namespace: Literal["alpha", "beta", "gamma", "delta"]
    name: str
    method: Literal["GET", "POST", "DELETE"]
    path: str
    result: type[R]
    parameters: tuple[Parameter, ...]
    is_write: bool = attrs.field(init=False)
    full_name: str = attrs.field(init=False)
    target: str | None = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "is_write", self.result is Draft)
        object.__setattr__(self, "full_name", f"{self.namespace}.{self.name}")
        names = (parameter.name for parameter in self.parameters)
        object.__setattr__(self, "target", next((n for n in names if n in _TARGETS), None))

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle and copy as the one object of its name; clients keep what they know by it."""
        return _named, (self.full_name,)


_ACCOUNT = Parameter("account_id", "id", required=True)
_CAMPAIGN = Parameter("campaign_id", "id")
_CREATIVE = Parameter("creative_id", "id")
_AD = Parameter("ad_id", "id")
_TARGETING = Parameter("targeting", "object")
_FIELDS = Parameter("fields", "object")
_BUDGET = Parameter("daily_budget", "number")
_KEYWORDS = Parameter("keywords", "texts", required=True)
_DATE_RANGE = Parameter("date_range", "text")
_CAMPAIGN_REQUIRED = _CAMPAIGN._replace(required=True)
_FIELDS_REQUIRED = _FIELDS._replace(required=True)

UPDATE_ALPHA_CAMPAIGN_TARGETING = Operation(
    "alpha",
    "update_campaign_targeting",
    "POST",
    "/v1/alpha-ads/update-alpha-campaign-targeting",
    Draft,
    (_ACCOUNT, _CAMPAIGN_REQUIRED, _TARGETING, _FIELDS),
)
UPDATE_ALPHA_CAMPAIGN_BUDGET = Operation(
    "alpha",
    "update_campaign_budget",
    "POST",
    "/v1/alpha-ads/update-alpha-campaign-budget",
    Draft,
    (_ACCOUNT, _CAMPAIGN_REQUIRED, _BUDGET, _FIELDS),
)
CREATE_BETA_VIDEO_CAMPAIGN = Operation(
    "beta",
    "create_video_campaign",
    "POST",
    "/v1/beta-ads/create-beta-video-campaign",
    Draft,
    (_ACCOUNT, _CAMPAIGN, _FIELDS_REQUIRED),
)
UPDATE_ALPHA_CREATIVE = Operation(
    "alpha",
    "update_creative",
    "POST",
    "/v1/alpha-ads/update-alpha-creative",
    Draft,
    (_ACCOUNT, _CREATIVE, _FIELDS),
)
CREATE_GAMMA_IMAGE_CAMPAIGN = Operation(
    "gamma",
    "create_image_campaign",
    "POST",
    "/v1/gamma-ads/create-gamma-image-campaign",
    Draft,
    (_ACCOUNT, _CAMPAIGN, _FIELDS_REQUIRED),
)
UPDATE_KEYWORD = Operation(
    "delta",
    "update_keyword",
    "POST",
    "/v1/delta-ads/update-keyword",
    Draft,
    (_ACCOUNT, _KEYWORDS, _FIELDS),
)
CREATE_GAMMA_DCO_AD = Operation(
    "gamma",
    "create_dco_ad",
    "POST",
    "/v1/gamma-ads/create-gamma-dco-ad",
    Draft,
    (_ACCOUNT, _AD, _FIELDS_REQUIRED),
)
PAUSE_BETA_CAMPAIGN = Operation(
    "beta",
    "pause_campaign",
    "POST",
    "/v1/beta-ads/pause-beta-campaign",
    Draft,
    (_ACCOUNT, _CAMPAIGN_REQUIRED),
)
REMOVE_DELTA_AUTO_SEARCH_THEMES = Operation(
    "delta",
    "remove_auto_search_themes",
    "DELETE",
    "/v1/delta-ads/remove-delta-auto-search-themes",
    Draft,
    (_ACCOUNT,),
)
LIST_BETA_CAMPAIGNS = Operation(
    "beta",
    "list_campaigns",
    "GET",
    "/v1/beta-ads/list-beta-campaigns",
    PageBody[Campaign],
    (_ACCOUNT, _CAMPAIGN, _DATE_RANGE),
)
SEARCH_GAMMA_TARGETING = Operation(
    "gamma",
    "search_targeting",
    "GET",
    "/v1/gamma-ads/search-gamma-targeting",
    PageBody[TargetingOption],
    (_ACCOUNT, _TARGETING),
)
DETECT_BETA_CREATIVE_FATIGUE = Operation(
    "beta",
    "detect_creative_fatigue",
    "GET",
    "/v1/beta-ads/detect-beta-creative-fatigue",
    PageBody[CreativeFatigue],
    (_ACCOUNT, _CREATIVE),
)
LIST_GAMMA_ADS = Operation(
    "gamma",
    "list_ads",
    "GET",
    "/v1/gamma-ads/list-gamma-ads",
    PageBody[Ad],
    (_ACCOUNT, _DATE_RANGE),
)
EXPLAIN_ALPHA_OBJECTIVES = Operation(
    "alpha",
    "explain_objectives",
    "GET",
    "/v1/alpha-ads/explain-alpha-objectives",
    PageBody[Objective],
    (_ACCOUNT,),
)
ANALYZE_WASTED_SPEND = Operation(
    "delta",
    "analyze_wasted_spend",
    "GET",
    "/v1/delta-ads/analyze-wasted-spend",
    PageBody[WastedSpend],
    (_ACCOUNT,),
)
INFER_BUSINESS_PROFILE = Operation(
    "delta",
    "infer_business_profile",
    "GET",
    "/v1/delta-ads/infer-business-profile",
    PageBody[BusinessProfile],
    (_ACCOUNT,),
)

OPERATIONS: tuple[Operation[Result], ...] = (
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


def _named(full_name: str) -> Operation[Result]:
    return {operation.full_name: operation for operation in OPERATIONS}[full_name]
