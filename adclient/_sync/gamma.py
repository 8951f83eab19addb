# Generated from ../_async by tools/make_twin.py: change it there.
"""The operations on gamma accounts."""

from collections.abc import Mapping

from attrs import AttrsInstance

from adclient._sync.page import Page
from adclient._sync.namespace import Namespace
from adclient._core.operations import (
    CREATE_GAMMA_DCO_AD,
    CREATE_GAMMA_IMAGE_CAMPAIGN,
    LIST_GAMMA_ADS,
    SEARCH_GAMMA_TARGETING,
)
from adclient.models import JSON, Ad, Draft, TargetingOption


class Gamma(Namespace):
    """The operations on gamma accounts."""

    def create_image_campaign(
        self,
        *,
        account_id: str,
        campaign_id: str | None = None,
        fields: Mapping[str, object] | AttrsInstance,
    ) -> Draft:
        """Stage a new image campaign.

        A draft is staged and waits for approval; nothing is changed. Operation 5 of the interface,
        section 4.

        Args:
            account_id: The connected ad account.
            campaign_id: A campaign that the draft refers to; the interface does not say how.
            fields: The fields of the campaign. Any mapping or attrs instance; its inside passes
                untouched, and a None in it is sent as null.

        Returns:
            The staged draft, with its diff from before to after. It waits for approval.

        Raises:
            InvalidRequest: An argument is of the wrong type; nothing was sent.
            OutcomeUnknown: The draft may have been staged without our knowing.
            APIError: The service refused, with a subclass for each status.
            TransportError: The service was not reached, or the time is over.

        Example:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().client()
            >>> draft = client.gamma.create_image_campaign(
            ...     account_id="account_c3d8",
            ...     fields={"name": "Autumn", "objective": "TRAFFIC", "daily_budget": 80},
            ... )
            >>> draft.diff.before is None
            True
        """
        return self._engine.stage(
            CREATE_GAMMA_IMAGE_CAMPAIGN,
            account_id=account_id,
            campaign_id=campaign_id,
            fields=fields,
        )

    def create_dco_ad(
        self,
        *,
        account_id: str,
        ad_id: str | None = None,
        fields: Mapping[str, object] | AttrsInstance,
    ) -> Draft:
        """Stage a new ad that is put together from assets (dynamic creative optimisation).

        A draft is staged and waits for approval; nothing is changed. Operation 7 of the interface,
        section 4.

        Args:
            account_id: The connected ad account.
            ad_id: An ad that the draft refers to; the interface does not say how.
            fields: The fields of the ad. Any mapping or attrs instance; its inside passes
                untouched, and a None in it is sent as null.

        Returns:
            The staged draft, with its diff from before to after. It waits for approval.

        Raises:
            InvalidRequest: An argument is of the wrong type; nothing was sent.
            OutcomeUnknown: The draft may have been staged without our knowing.
            APIError: The service refused, with a subclass for each status.
            TransportError: The service was not reached, or the time is over.

        Example:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().client()
            >>> draft = client.gamma.create_dco_ad(
            ...     account_id="account_c3d8",
            ...     fields={"name": "Tents", "assets": {"images": ["img_1", "img_2"]}},
            ... )
            >>> draft.status
            'pending_approval'
        """
        return self._engine.stage(
            CREATE_GAMMA_DCO_AD,
            account_id=account_id,
            ad_id=ad_id,
            fields=fields,
        )

    def search_targeting(
        self,
        *,
        account_id: str,
        targeting: Mapping[str, object] | AttrsInstance | None = None,
        cursor: JSON = None,
    ) -> Page[TargetingOption]:
        """Search for targeting options.

        Reads only; it changes no state and touches no spend. Operation 11 of the interface,
        section 4.

        Args:
            account_id: The connected ad account.
            targeting: What to search for. Any mapping or attrs instance; it is sent as one JSON
                value, or as `Conventions.object_style` says.
            cursor: A `next` kept from an earlier page, to go on from there.

        Returns:
            A page of `TargetingOption` items; iterate over it for all of them, page after page.

        Raises:
            InvalidRequest: An argument is of the wrong type; nothing was sent.
            APIError: The service refused, with a subclass for each status.
            TransportError: The service was not reached, or the time is over.
            UnexpectedResponse: The answer is not the documented shape.
            PaginationError: The listing cannot go on from `cursor`, or repeats.

        Example:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().client()
            >>> page = client.gamma.search_targeting(
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
    ) -> Page[Ad]:
        """List the ads of an account.

        Reads only; it changes no state and touches no spend. Operation 13 of the interface,
        section 4.

        Args:
            account_id: The connected ad account.
            date_range: The days that figures are taken from, such as `LAST_30_DAYS`.
            cursor: A `next` kept from an earlier page, to go on from there.

        Returns:
            A page of `Ad` items; iterate over it for all of them, page after page.

        Raises:
            InvalidRequest: An argument is of the wrong type; nothing was sent.
            APIError: The service refused, with a subclass for each status.
            TransportError: The service was not reached, or the time is over.
            UnexpectedResponse: The answer is not the documented shape.
            PaginationError: The listing cannot go on from `cursor`, or repeats.

        Example:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().client()
            >>> page = client.gamma.list_ads(
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
