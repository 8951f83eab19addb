"""The four namespaces of a client, each with the operations of one platform."""

from decimal import Decimal
from types import FunctionType
from typing import TYPE_CHECKING

from adclient._async.page import AsyncListing
from adclient._show.records import PublicDir
from adclient._show.signatures import with_advice
from adclient.models import (
    JSON,
    Ad,
    BusinessProfile,
    Campaign,
    CreativeFatigue,
    Draft,
    Objective,
    ObjectLike,
    TargetingOption,
    WastedSpend,
)

if TYPE_CHECKING:
    from adclient._async.engine import AsyncEngine


class AsyncNamespace(PublicDir):
    """The operations of one platform."""

    __slots__ = ("_engine",)

    def __init_subclass__(cls) -> None:
        for name, method in list(vars(cls).items()):
            if isinstance(method, FunctionType):
                setattr(cls, name, with_advice(method))

    def __init__(self, engine: "AsyncEngine") -> None:
        self._engine = engine

    def __repr__(self) -> str:
        return f"<{type(self).__name__} operations at {self._engine.options.base_url}>"


class AsyncAlpha(AsyncNamespace):
    """The operations on alpha accounts, which belong to a professional-network platform.

    Examples:
        >>> from adclient.testing import FakeAdService
        >>> client = FakeAdService().async_client()
        >>> page = await client.alpha.explain_objectives(account_id="account_a91f")
        >>> len(page.data)
        7
    """

    async def update_campaign_targeting(
        self,
        *,
        account_id: str,
        campaign_id: str,
        targeting: ObjectLike | None = None,
        fields: ObjectLike | None = None,
    ) -> Draft:
        """Stage a change to a campaign's targeting.

        The draft waits for approval; nothing is changed until a human approves it.
        Sends `POST /v1/alpha-ads/update-alpha-campaign-targeting`.

        Args:
            account_id: The id of the connected ad account.
            campaign_id: The campaign to change.
            targeting: The targeting to apply. A mapping, or an instance of an attrs class, a
                dataclass or a pydantic model. None is not sent; a None inside is sent as null.
            fields: Further fields to set on the campaign. Passed like `targeting`.

        Returns:
            The staged draft, with the value before and after in its `diff`.

        Raises:
            InvalidRequest: An argument has the wrong type, or the policy of the client refuses the
                call; nothing was sent.
            OutcomeUnknown: The call failed, but a draft may have been staged: look in the approval
                dashboard before you repeat it.
            APIError: The service returned an error status. The common ones have subclasses, such
                as `NotFound`.
            TransportError: The service was not reached, or sent no complete response in `timeout`.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().async_client()
            >>> draft = await client.alpha.update_campaign_targeting(
            ...     account_id="account_a91f",
            ...     campaign_id="campaign_4c10",
            ...     targeting={"include": {"and": [{"or": {"locations": ["geo:103644278"]}}]}},
            ... )
            >>> draft.diff.field
            'targeting'
        """
        return await self._engine.stage(
            "alpha.update_campaign_targeting", account_id, campaign_id, targeting, fields
        )

    async def update_campaign_budget(
        self,
        *,
        account_id: str,
        campaign_id: str,
        daily_budget: int | float | Decimal | None = None,
        fields: ObjectLike | None = None,
    ) -> Draft:
        """Stage a change to a campaign's daily budget.

        The draft waits for approval; nothing is changed until a human approves it.
        Sends `POST /v1/alpha-ads/update-alpha-campaign-budget`.

        Args:
            account_id: The id of the connected ad account.
            campaign_id: The campaign to change.
            daily_budget: The new daily budget, in the account's currency. A finite number, whose
                digits are sent unchanged; None is not sent.
            fields: Further fields to set on the campaign. A mapping, or an instance of an attrs
                class, a dataclass or a pydantic model. None is not sent; a None inside is sent as
                null.

        Returns:
            The staged draft, with the value before and after in its `diff`.

        Raises:
            InvalidRequest: An argument has the wrong type, or the policy of the client refuses the
                call; nothing was sent.
            OutcomeUnknown: The call failed, but a draft may have been staged: look in the approval
                dashboard before you repeat it.
            APIError: The service returned an error status. The common ones have subclasses, such
                as `NotFound`.
            TransportError: The service was not reached, or sent no complete response in `timeout`.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().async_client()
            >>> draft = await client.alpha.update_campaign_budget(
            ...     account_id="account_a91f", campaign_id="campaign_4c10", daily_budget=120
            ... )
            >>> draft.diff.field
            'daily_budget'
        """
        return await self._engine.stage(
            "alpha.update_campaign_budget", account_id, campaign_id, daily_budget, fields
        )

    async def update_creative(
        self, *, account_id: str, creative_id: str | None = None, fields: ObjectLike | None = None
    ) -> Draft:
        """Stage a change to a creative, or a new creative.

        The draft waits for approval; nothing is changed until a human approves it.
        Sends `POST /v1/alpha-ads/update-alpha-creative`.

        Args:
            account_id: The id of the connected ad account.
            creative_id: The creative to change. None is not sent; the interface does not say what
                that means, and the fake then stages a new creative.
            fields: The fields to set. A mapping, or an instance of an attrs class, a dataclass or a
                pydantic model. None is not sent; a None inside is sent as null.

        Returns:
            The staged draft, with the value before and after in its `diff`.

        Raises:
            InvalidRequest: An argument has the wrong type, or the policy of the client refuses the
                call; nothing was sent.
            OutcomeUnknown: The call failed, but a draft may have been staged: look in the approval
                dashboard before you repeat it.
            APIError: The service returned an error status. The common ones have subclasses, such
                as `NotFound`.
            TransportError: The service was not reached, or sent no complete response in `timeout`.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().async_client()
            >>> draft = await client.alpha.update_creative(
            ...     account_id="account_a91f", fields={"headline": "Approvals in one click"}
            ... )
            >>> draft.requires
            'human_two_step_approve'
        """
        return await self._engine.stage("alpha.update_creative", account_id, creative_id, fields)

    def explain_objectives(
        self, *, account_id: str, cursor: JSON = None
    ) -> AsyncListing[Objective]:
        """Explain the campaign objectives of an account.

        Read-only: it changes no state and touches no spend.
        Sends `GET /v1/alpha-ads/explain-alpha-objectives`.

        Args:
            account_id: The id of the connected ad account.
            cursor: The `next` of an earlier page, to continue after that page; None for the first.

        Returns:
            A listing of `Objective` items; await it for one page, or iterate over all items.

        Raises:
            InvalidRequest: An argument has the wrong type, or the policy of the client refuses the
                call; nothing was sent.
            APIError: The service returned an error status. The common ones have subclasses, such
                as `NotFound`.
            TransportError: The service was not reached, or sent no complete response in `timeout`.
            UnexpectedResponse: The response does not have the documented shape.
            PaginationError: The listing cannot continue: its `next` repeats, or leads elsewhere.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().async_client()
            >>> page = await client.alpha.explain_objectives(account_id="account_a91f")
            >>> page.data[0]
            <Objective objective_awareness, AWARENESS, ENABLED, 7 extra fields>
        """
        return self._engine.read("alpha.explain_objectives", cursor, account_id)


class AsyncBeta(AsyncNamespace):
    """The operations on beta accounts, which belong to a short-video platform.

    Examples:
        >>> from adclient.testing import FakeAdService
        >>> client = FakeAdService().async_client()
        >>> page = await client.beta.list_campaigns(account_id="account_b204")
        >>> len(page.data)
        50
    """

    async def create_video_campaign(
        self, *, account_id: str, campaign_id: str | None = None, fields: ObjectLike
    ) -> Draft:
        """Stage a new video campaign.

        The draft waits for approval; nothing is changed until a human approves it.
        Sends `POST /v1/beta-ads/create-beta-video-campaign`.

        Args:
            account_id: The id of the connected ad account.
            campaign_id: A campaign that the draft refers to. The interface does not say what it
                means here; None is not sent.
            fields: The fields of the campaign. A mapping, or an instance of an attrs class, a
                dataclass or a pydantic model. A None inside is sent as null.

        Returns:
            The staged draft, with the value before and after in its `diff`.

        Raises:
            InvalidRequest: An argument has the wrong type, or the policy of the client refuses the
                call; nothing was sent.
            OutcomeUnknown: The call failed, but a draft may have been staged: look in the approval
                dashboard before you repeat it.
            APIError: The service returned an error status. The common ones have subclasses, such
                as `NotFound`.
            TransportError: The service was not reached, or sent no complete response in `timeout`.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().async_client()
            >>> draft = await client.beta.create_video_campaign(
            ...     account_id="account_b204",
            ...     fields={"name": "Autumn", "objective": "SALES", "daily_budget": 150},
            ... )
            >>> draft.diff.before is None
            True
        """
        return await self._engine.stage(
            "beta.create_video_campaign", account_id, campaign_id, fields
        )

    async def pause_campaign(self, *, account_id: str, campaign_id: str) -> Draft:
        """Stage the pause of a campaign.

        The draft waits for approval; nothing is changed until a human approves it.
        Sends `POST /v1/beta-ads/pause-beta-campaign`.

        Args:
            account_id: The id of the connected ad account.
            campaign_id: The campaign to pause.

        Returns:
            The staged draft, with the value before and after in its `diff`.

        Raises:
            InvalidRequest: An argument has the wrong type, or the policy of the client refuses the
                call; nothing was sent.
            OutcomeUnknown: The call failed, but a draft may have been staged: look in the approval
                dashboard before you repeat it.
            APIError: The service returned an error status. The common ones have subclasses, such
                as `NotFound`.
            TransportError: The service was not reached, or sent no complete response in `timeout`.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().async_client()
            >>> draft = await client.beta.pause_campaign(
            ...     account_id="account_b204", campaign_id="campaign_57a7"
            ... )
            >>> draft.diff.before, draft.diff.after
            ('ENABLED', 'PAUSED')
        """
        return await self._engine.stage("beta.pause_campaign", account_id, campaign_id)

    def list_campaigns(
        self,
        *,
        account_id: str,
        campaign_id: str | None = None,
        date_range: str | None = None,
        cursor: JSON = None,
    ) -> AsyncListing[Campaign]:
        """List the campaigns of an account.

        Read-only: it changes no state and touches no spend.
        Sends `GET /v1/beta-ads/list-beta-campaigns`.

        Args:
            account_id: The id of the connected ad account.
            campaign_id: Return only this campaign; None for all campaigns.
            date_range: The period of the figures, such as `LAST_30_DAYS`. The interface names no
                other value; None lets the service choose.
            cursor: The `next` of an earlier page, to continue after that page; None for the first.

        Returns:
            A listing of `Campaign` items; await it for one page, or iterate over all items.

        Raises:
            InvalidRequest: An argument has the wrong type, or the policy of the client refuses the
                call; nothing was sent.
            APIError: The service returned an error status. The common ones have subclasses, such
                as `NotFound`.
            TransportError: The service was not reached, or sent no complete response in `timeout`.
            UnexpectedResponse: The response does not have the documented shape.
            PaginationError: The listing cannot continue: its `next` repeats, or leads elsewhere.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().async_client()
            >>> page = await client.beta.list_campaigns(
            ...     account_id="account_b204", date_range="LAST_30_DAYS"
            ... )
            >>> page.data[0]
            <Campaign campaign_57a7, ..., ENABLED, 11 extra fields>
        """
        return self._engine.read("beta.list_campaigns", cursor, account_id, campaign_id, date_range)

    def detect_creative_fatigue(
        self, *, account_id: str, creative_id: str | None = None, cursor: JSON = None
    ) -> AsyncListing[CreativeFatigue]:
        """Detect creatives that show fatigue.

        Read-only: it changes no state and touches no spend.
        Sends `GET /v1/beta-ads/detect-beta-creative-fatigue`.

        Args:
            account_id: The id of the connected ad account.
            creative_id: Return only this creative; None for all creatives.
            cursor: The `next` of an earlier page, to continue after that page; None for the first.

        Returns:
            A listing of `CreativeFatigue` items; await it for one page, or iterate over all items.

        Raises:
            InvalidRequest: An argument has the wrong type, or the policy of the client refuses the
                call; nothing was sent.
            APIError: The service returned an error status. The common ones have subclasses, such
                as `NotFound`.
            TransportError: The service was not reached, or sent no complete response in `timeout`.
            UnexpectedResponse: The response does not have the documented shape.
            PaginationError: The listing cannot continue: its `next` repeats, or leads elsewhere.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().async_client()
            >>> page = await client.beta.detect_creative_fatigue(account_id="account_b204")
            >>> page.data[0]
            <CreativeFatigue fatigue_1b7b, ..., FATIGUED, 14 extra fields>
        """
        return self._engine.read("beta.detect_creative_fatigue", cursor, account_id, creative_id)


class AsyncGamma(AsyncNamespace):
    """The operations on gamma accounts, which belong to a social-media platform.

    Examples:
        >>> from adclient.testing import FakeAdService
        >>> client = FakeAdService().async_client()
        >>> page = await client.gamma.list_ads(account_id="account_c3d8")
        >>> len(page.data)
        50
    """

    async def create_image_campaign(
        self, *, account_id: str, campaign_id: str | None = None, fields: ObjectLike
    ) -> Draft:
        """Stage a new image campaign.

        The draft waits for approval; nothing is changed until a human approves it.
        Sends `POST /v1/gamma-ads/create-gamma-image-campaign`.

        Args:
            account_id: The id of the connected ad account.
            campaign_id: A campaign that the draft refers to. The interface does not say what it
                means here; None is not sent.
            fields: The fields of the campaign. A mapping, or an instance of an attrs class, a
                dataclass or a pydantic model. A None inside is sent as null.

        Returns:
            The staged draft, with the value before and after in its `diff`.

        Raises:
            InvalidRequest: An argument has the wrong type, or the policy of the client refuses the
                call; nothing was sent.
            OutcomeUnknown: The call failed, but a draft may have been staged: look in the approval
                dashboard before you repeat it.
            APIError: The service returned an error status. The common ones have subclasses, such
                as `NotFound`.
            TransportError: The service was not reached, or sent no complete response in `timeout`.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().async_client()
            >>> draft = await client.gamma.create_image_campaign(
            ...     account_id="account_c3d8",
            ...     fields={"name": "Autumn", "objective": "TRAFFIC", "daily_budget": 80},
            ... )
            >>> draft.diff.before is None
            True
        """
        return await self._engine.stage(
            "gamma.create_image_campaign", account_id, campaign_id, fields
        )

    async def create_dco_ad(
        self, *, account_id: str, ad_id: str | None = None, fields: ObjectLike
    ) -> Draft:
        """Stage a new ad assembled from assets (dynamic creative optimisation).

        The draft waits for approval; nothing is changed until a human approves it.
        Sends `POST /v1/gamma-ads/create-gamma-dco-ad`.

        Args:
            account_id: The id of the connected ad account.
            ad_id: An ad that the draft refers to. The interface does not say what it means here;
                None is not sent.
            fields: The fields of the ad. A mapping, or an instance of an attrs class, a dataclass
                or a pydantic model. A None inside is sent as null.

        Returns:
            The staged draft, with the value before and after in its `diff`.

        Raises:
            InvalidRequest: An argument has the wrong type, or the policy of the client refuses the
                call; nothing was sent.
            OutcomeUnknown: The call failed, but a draft may have been staged: look in the approval
                dashboard before you repeat it.
            APIError: The service returned an error status. The common ones have subclasses, such
                as `NotFound`.
            TransportError: The service was not reached, or sent no complete response in `timeout`.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().async_client()
            >>> draft = await client.gamma.create_dco_ad(
            ...     account_id="account_c3d8",
            ...     fields={"name": "Tents", "assets": {"images": ["img_1", "img_2"]}},
            ... )
            >>> draft.status
            'pending_approval'
        """
        return await self._engine.stage("gamma.create_dco_ad", account_id, ad_id, fields)

    def search_targeting(
        self, *, account_id: str, targeting: ObjectLike | None = None, cursor: JSON = None
    ) -> AsyncListing[TargetingOption]:
        """Search for targeting options.

        Read-only: it changes no state and touches no spend.
        Sends `GET /v1/gamma-ads/search-gamma-targeting`.

        Args:
            account_id: The id of the connected ad account.
            targeting: What to search for. A mapping, or an instance of an attrs class, a dataclass
                or a pydantic model. `Conventions.object_style` sets how it is encoded; None is not
                sent.
            cursor: The `next` of an earlier page, to continue after that page; None for the first.

        Returns:
            A listing of `TargetingOption` items; await it for one page, or iterate over all items.

        Raises:
            InvalidRequest: An argument has the wrong type, or the policy of the client refuses the
                call; nothing was sent.
            APIError: The service returned an error status. The common ones have subclasses, such
                as `NotFound`.
            TransportError: The service was not reached, or sent no complete response in `timeout`.
            UnexpectedResponse: The response does not have the documented shape.
            PaginationError: The listing cannot continue: its `next` repeats, or leads elsewhere.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().async_client()
            >>> page = await client.gamma.search_targeting(
            ...     account_id="account_c3d8", targeting={"type": "INTEREST", "query": "hiking"}
            ... )
            >>> page.data[0]
            <TargetingOption opt_6f01, Hiking, ENABLED, 4 extra fields>
        """
        return self._engine.read("gamma.search_targeting", cursor, account_id, targeting)

    def list_ads(
        self, *, account_id: str, date_range: str | None = None, cursor: JSON = None
    ) -> AsyncListing[Ad]:
        """List the ads of an account.

        Read-only: it changes no state and touches no spend.
        Sends `GET /v1/gamma-ads/list-gamma-ads`.

        Args:
            account_id: The id of the connected ad account.
            date_range: The period of the figures, such as `LAST_30_DAYS`. The interface names no
                other value; None lets the service choose.
            cursor: The `next` of an earlier page, to continue after that page; None for the first.

        Returns:
            A listing of `Ad` items; await it for one page, or iterate over all items.

        Raises:
            InvalidRequest: An argument has the wrong type, or the policy of the client refuses the
                call; nothing was sent.
            APIError: The service returned an error status. The common ones have subclasses, such
                as `NotFound`.
            TransportError: The service was not reached, or sent no complete response in `timeout`.
            UnexpectedResponse: The response does not have the documented shape.
            PaginationError: The listing cannot continue: its `next` repeats, or leads elsewhere.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().async_client()
            >>> page = await client.gamma.list_ads(
            ...     account_id="account_c3d8", date_range="LAST_30_DAYS"
            ... )
            >>> page.data[0]
            <Ad ad_799a, SPR26 · Trail Shoes · Summit light · v1, ENABLED, 10 extra fields>
        """
        return self._engine.read("gamma.list_ads", cursor, account_id, date_range)


class AsyncDelta(AsyncNamespace):
    """The operations on delta accounts, which belong to a search platform.

    Examples:
        >>> from adclient.testing import FakeAdService
        >>> client = FakeAdService().async_client()
        >>> page = await client.delta.analyze_wasted_spend(account_id="account_d118")
        >>> len(page.data)
        10
    """

    async def update_keyword(
        self,
        *,
        account_id: str,
        keywords: list[str] | tuple[str, ...],
        fields: ObjectLike | None = None,
    ) -> Draft:
        """Stage the addition, change or removal of keywords.

        The draft waits for approval; nothing is changed until a human approves it.
        Sends `POST /v1/delta-ads/update-keyword`.

        Args:
            account_id: The id of the connected ad account.
            keywords: The texts of the keywords to add, change or remove.
            fields: What to do with the keywords. A mapping, or an instance of an attrs class, a
                dataclass or a pydantic model. None is not sent; a None inside is sent as null. The
                interface does not name its keys.

        Returns:
            The staged draft, with the value before and after in its `diff`.

        Raises:
            InvalidRequest: An argument has the wrong type, or the policy of the client refuses the
                call; nothing was sent.
            OutcomeUnknown: The call failed, but a draft may have been staged: look in the approval
                dashboard before you repeat it.
            APIError: The service returned an error status. The common ones have subclasses, such
                as `NotFound`.
            TransportError: The service was not reached, or sent no complete response in `timeout`.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().async_client()
            >>> draft = await client.delta.update_keyword(
            ...     account_id="account_d118",
            ...     keywords=["outdoor jacket"],
            ...     fields={"action": "PAUSE"},
            ... )
            >>> draft.diff.field
            'keywords'
        """
        return await self._engine.stage("delta.update_keyword", account_id, keywords, fields)

    async def remove_auto_search_themes(self, *, account_id: str) -> Draft:
        """Stage the removal of search themes from automated campaigns.

        The draft waits for approval; nothing is changed until a human approves it.
        Sends `DELETE /v1/delta-ads/remove-delta-auto-search-themes`.

        Args:
            account_id: The id of the connected ad account.

        Returns:
            The staged draft, with the value before and after in its `diff`.

        Raises:
            InvalidRequest: An argument has the wrong type, or the policy of the client refuses the
                call; nothing was sent.
            OutcomeUnknown: The call failed, but a draft may have been staged: look in the approval
                dashboard before you repeat it.
            APIError: The service returned an error status. The common ones have subclasses, such
                as `NotFound`.
            TransportError: The service was not reached, or sent no complete response in `timeout`.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().async_client()
            >>> draft = await client.delta.remove_auto_search_themes(account_id="account_d118")
            >>> draft.diff.field
            'search_themes'
        """
        return await self._engine.stage("delta.remove_auto_search_themes", account_id)

    def analyze_wasted_spend(
        self, *, account_id: str, cursor: JSON = None
    ) -> AsyncListing[WastedSpend]:
        """Analyze the wasted spend of an account.

        Read-only: it changes no state and touches no spend.
        Sends `GET /v1/delta-ads/analyze-wasted-spend`.

        Args:
            account_id: The id of the connected ad account.
            cursor: The `next` of an earlier page, to continue after that page; None for the first.

        Returns:
            A listing of `WastedSpend` items; await it for one page, or iterate over all items.

        Raises:
            InvalidRequest: An argument has the wrong type, or the policy of the client refuses the
                call; nothing was sent.
            APIError: The service returned an error status. The common ones have subclasses, such
                as `NotFound`.
            TransportError: The service was not reached, or sent no complete response in `timeout`.
            UnexpectedResponse: The response does not have the documented shape.
            PaginationError: The listing cannot continue: its `next` repeats, or leads elsewhere.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().async_client()
            >>> page = await client.delta.analyze_wasted_spend(account_id="account_d118")
            >>> page.data[0]
            <WastedSpend waste_0001, AUTO · All Pages, CRITICAL, 11 extra fields>
        """
        return self._engine.read("delta.analyze_wasted_spend", cursor, account_id)

    def infer_business_profile(
        self, *, account_id: str, cursor: JSON = None
    ) -> AsyncListing[BusinessProfile]:
        """Infer the business profile of an account.

        Read-only: it changes no state and touches no spend.
        Sends `GET /v1/delta-ads/infer-business-profile`.

        Args:
            account_id: The id of the connected ad account.
            cursor: The `next` of an earlier page, to continue after that page; None for the first.

        Returns:
            A listing of `BusinessProfile` items; await it for one page, or iterate over all items.

        Raises:
            InvalidRequest: An argument has the wrong type, or the policy of the client refuses the
                call; nothing was sent.
            APIError: The service returned an error status. The common ones have subclasses, such
                as `NotFound`.
            TransportError: The service was not reached, or sent no complete response in `timeout`.
            UnexpectedResponse: The response does not have the documented shape.
            PaginationError: The listing cannot continue: its `next` repeats, or leads elsewhere.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().async_client()
            >>> page = await client.delta.infer_business_profile(account_id="account_d118")
            >>> page.data[0]
            <BusinessProfile profile_0001, vertical, CONFIRMED, 3 extra fields>
        """
        return self._engine.read("delta.infer_business_profile", cursor, account_id)
