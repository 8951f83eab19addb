# Generated from ../_async by tools/make_twin.py: change it there.
"""The operations on beta accounts."""

from collections.abc import Mapping

from attrs import AttrsInstance

from adclient._sync.page import Page
from adclient._sync.namespace import Namespace
from adclient._core.operations import (
    CREATE_BETA_VIDEO_CAMPAIGN,
    DETECT_BETA_CREATIVE_FATIGUE,
    LIST_BETA_CAMPAIGNS,
    PAUSE_BETA_CAMPAIGN,
)
from adclient.models import JSON, Campaign, CreativeFatigue, Draft


class Beta(Namespace):
    """The operations on beta accounts."""

    def create_video_campaign(
        self,
        *,
        account_id: str,
        campaign_id: str | None = None,
        fields: Mapping[str, object] | AttrsInstance,
    ) -> Draft:
        """Stage a new video campaign.

        A draft is staged and waits for approval; nothing is changed. Operation 3 of the interface,
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
            >>> draft = client.beta.create_video_campaign(
            ...     account_id="account_b204",
            ...     fields={"name": "Autumn", "objective": "SALES", "daily_budget": 150},
            ... )
            >>> draft.diff.before is None
            True
        """
        return self._engine.stage(
            CREATE_BETA_VIDEO_CAMPAIGN,
            account_id=account_id,
            campaign_id=campaign_id,
            fields=fields,
        )

    def pause_campaign(
        self,
        *,
        account_id: str,
        campaign_id: str,
    ) -> Draft:
        """Stage the pausing of a campaign.

        A draft is staged and waits for approval; nothing is changed. Operation 8 of the interface,
        section 4.

        Args:
            account_id: The connected ad account.
            campaign_id: The campaign to pause.

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
            >>> draft = client.beta.pause_campaign(
            ...     account_id="account_b204", campaign_id="campaign_57a7"
            ... )
            >>> draft.diff.before, draft.diff.after
            ('ENABLED', 'PAUSED')
        """
        return self._engine.stage(
            PAUSE_BETA_CAMPAIGN,
            account_id=account_id,
            campaign_id=campaign_id,
        )

    def list_campaigns(
        self,
        *,
        account_id: str,
        campaign_id: str | None = None,
        date_range: str | None = None,
        cursor: JSON = None,
    ) -> Page[Campaign]:
        """List the campaigns of an account.

        Reads only; it changes no state and touches no spend. Operation 10 of the interface,
        section 4.

        Args:
            account_id: The connected ad account.
            campaign_id: Only this campaign.
            date_range: The days that figures are taken from, such as `LAST_30_DAYS`.
            cursor: A `next` kept from an earlier page, to go on from there.

        Returns:
            A page of `Campaign` items; iterate over it for all of them, page after page.

        Raises:
            InvalidRequest: An argument is of the wrong type; nothing was sent.
            APIError: The service refused, with a subclass for each status.
            TransportError: The service was not reached, or the time is over.
            UnexpectedResponse: The answer is not the documented shape.
            PaginationError: The listing cannot go on from `cursor`, or repeats.

        Example:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().client()
            >>> page = client.beta.list_campaigns(
            ...     account_id="account_b204", date_range="LAST_30_DAYS"
            ... )
            >>> first = page.data[0].name
        """
        return self._engine.read(
            LIST_BETA_CAMPAIGNS,
            account_id=account_id,
            campaign_id=campaign_id,
            date_range=date_range,
            cursor=cursor,
        )

    def detect_creative_fatigue(
        self,
        *,
        account_id: str,
        creative_id: str | None = None,
        cursor: JSON = None,
    ) -> Page[CreativeFatigue]:
        """Find creatives that tire their audience.

        Reads only; it changes no state and touches no spend. Operation 12 of the interface,
        section 4.

        Args:
            account_id: The connected ad account.
            creative_id: Only this creative.
            cursor: A `next` kept from an earlier page, to go on from there.

        Returns:
            A page of `CreativeFatigue` items; iterate over it for all of them, page after page.

        Raises:
            InvalidRequest: An argument is of the wrong type; nothing was sent.
            APIError: The service refused, with a subclass for each status.
            TransportError: The service was not reached, or the time is over.
            UnexpectedResponse: The answer is not the documented shape.
            PaginationError: The listing cannot go on from `cursor`, or repeats.

        Example:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().client()
            >>> page = client.beta.detect_creative_fatigue(
            ...     account_id="account_b204"
            ... )
            >>> first = page.data[0].name
        """
        return self._engine.read(
            DETECT_BETA_CREATIVE_FATIGUE,
            account_id=account_id,
            creative_id=creative_id,
            cursor=cursor,
        )
