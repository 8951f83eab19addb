"""The operations on gamma accounts."""

from adclient._async.listing import AsyncListing
from adclient._async.namespace import AsyncNamespace
from adclient._core.operations import (
    CREATE_GAMMA_DCO_AD,
    CREATE_GAMMA_IMAGE_CAMPAIGN,
    LIST_GAMMA_ADS,
    SEARCH_GAMMA_TARGETING,
)
from adclient.models import JSON, Ad, Draft, ObjectLike, TargetingOption


class AsyncGamma(AsyncNamespace):
    """The operations on gamma accounts."""

    async def create_image_campaign(
        self,
        *,
        account_id: str,
        campaign_id: str | None = None,
        fields: ObjectLike,
    ) -> Draft:
        """Stage a new image campaign.

        A draft is staged and waits for approval; nothing is changed. Operation 5 in section 4 of
        the interface.

        Args:
            account_id: The id of the connected ad account.
            campaign_id: A campaign that the draft refers to; the interface leaves open how.
            fields: The fields of the campaign. A mapping or instance with fields; a None
                inside is sent as null.

        Returns:
            The staged draft, with its diff from before to after. It waits for approval.

        Raises:
            InvalidRequest: An argument has the wrong type; nothing was sent.
            OutcomeUnknown: The draft may have been staged: look in the approval dashboard.
            APIError: The service returned an error status; each has its subclass.
            TransportError: The service was not reached, or `timeout` has passed.

        Example:
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
            CREATE_GAMMA_IMAGE_CAMPAIGN,
            account_id=account_id,
            campaign_id=campaign_id,
            fields=fields,
        )

    async def create_dco_ad(
        self,
        *,
        account_id: str,
        ad_id: str | None = None,
        fields: ObjectLike,
    ) -> Draft:
        """Stage a new ad assembled from assets (dynamic creative optimisation).

        A draft is staged and waits for approval; nothing is changed. Operation 7 in section 4 of
        the interface.

        Args:
            account_id: The id of the connected ad account.
            ad_id: An ad that the draft refers to; the interface leaves open how.
            fields: The fields of the ad. A mapping or instance with fields; a None inside
                is sent as null.

        Returns:
            The staged draft, with its diff from before to after. It waits for approval.

        Raises:
            InvalidRequest: An argument has the wrong type; nothing was sent.
            OutcomeUnknown: The draft may have been staged: look in the approval dashboard.
            APIError: The service returned an error status; each has its subclass.
            TransportError: The service was not reached, or `timeout` has passed.

        Example:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().async_client()
            >>> draft = await client.gamma.create_dco_ad(
            ...     account_id="account_c3d8",
            ...     fields={"name": "Tents", "assets": {"images": ["img_1", "img_2"]}},
            ... )
            >>> draft.status
            'pending_approval'
        """
        return await self._engine.stage(
            CREATE_GAMMA_DCO_AD,
            account_id=account_id,
            ad_id=ad_id,
            fields=fields,
        )

    def search_targeting(
        self,
        *,
        account_id: str,
        targeting: ObjectLike | None = None,
        cursor: JSON = None,
    ) -> AsyncListing[TargetingOption]:
        """Search for targeting options.

        Read-only: it changes no state and touches no spend. Operation 11 in section 4 of the
        interface.

        Args:
            account_id: The id of the connected ad account.
            targeting: What to search for. A mapping or instance with fields, encoded as set by
                `Conventions.object_style`.
            cursor: The `next` of an earlier page, to continue from there.

        Returns:
            A page of `TargetingOption` items; iterate over it for those of all pages.

        Raises:
            InvalidRequest: An argument has the wrong type; nothing was sent.
            APIError: The service returned an error status; each has its subclass.
            TransportError: The service was not reached, or `timeout` has passed.
            UnexpectedResponse: The response does not have the documented shape.
            PaginationError: The listing cannot continue from `cursor`, or repeats.

        Example:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().async_client()
            >>> page = await client.gamma.search_targeting(
            ...     account_id="account_c3d8", targeting={"type": "INTEREST", "query": "hiking"}
            ... )
            >>> first = page.data[0].name
        """
        return self._engine.read(
            SEARCH_GAMMA_TARGETING,
            account_id=account_id,
            targeting=targeting,
            cursor=cursor,
        )

    def list_ads(
        self,
        *,
        account_id: str,
        date_range: str | None = None,
        cursor: JSON = None,
    ) -> AsyncListing[Ad]:
        """List the ads of an account.

        Read-only: it changes no state and touches no spend. Operation 13 in section 4 of the
        interface.

        Args:
            account_id: The id of the connected ad account.
            date_range: The period of the figures, such as `LAST_30_DAYS`.
            cursor: The `next` of an earlier page, to continue from there.

        Returns:
            A page of `Ad` items; iterate over it for those of all pages.

        Raises:
            InvalidRequest: An argument has the wrong type; nothing was sent.
            APIError: The service returned an error status; each has its subclass.
            TransportError: The service was not reached, or `timeout` has passed.
            UnexpectedResponse: The response does not have the documented shape.
            PaginationError: The listing cannot continue from `cursor`, or repeats.

        Example:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().async_client()
            >>> page = await client.gamma.list_ads(
            ...     account_id="account_c3d8", date_range="LAST_30_DAYS"
            ... )
            >>> first = page.data[0].name
        """
        return self._engine.read(
            LIST_GAMMA_ADS,
            account_id=account_id,
            date_range=date_range,
            cursor=cursor,
        )
