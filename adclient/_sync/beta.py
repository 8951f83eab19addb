# Generated from ../_async by tools/make_twin.py: change it there.
"""The operations on beta accounts."""

from adclient._sync.page import Page
from adclient._sync.namespace import Namespace
from adclient._core.operations import (
    CREATE_BETA_VIDEO_CAMPAIGN,
    DETECT_BETA_CREATIVE_FATIGUE,
    LIST_BETA_CAMPAIGNS,
    PAUSE_BETA_CAMPAIGN,
)
from adclient.models import JSON, Campaign, CreativeFatigue, Draft, ObjectLike


class Beta(Namespace):
    """The operations on beta accounts."""

    def create_video_campaign(
        self,
        *,
        account_id: str,
        campaign_id: str | None = None,
        fields: ObjectLike,
    ) -> Draft:
        """Stage a new video campaign.

        A draft is staged and waits for approval; nothing is changed. Operation 3 in section 4 of
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
        """Stage the pause of a campaign.

        A draft is staged and waits for approval; nothing is changed. Operation 8 in section 4 of
        the interface.

        Args:
            account_id: The id of the connected ad account.
            campaign_id: The campaign to pause.

        Returns:
            The staged draft, with its diff from before to after. It waits for approval.

        Raises:
            InvalidRequest: An argument has the wrong type; nothing was sent.
            OutcomeUnknown: The draft may have been staged: look in the approval dashboard.
            APIError: The service returned an error status; each has its subclass.
            TransportError: The service was not reached, or `timeout` has passed.

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

        Read-only: it changes no state and touches no spend. Operation 10 in section 4 of the
        interface.

        Args:
            account_id: The id of the connected ad account.
            campaign_id: Return only this campaign.
            date_range: The period of the figures, such as `LAST_30_DAYS`.
            cursor: The `next` of an earlier page, to continue from there.

        Returns:
            A page of `Campaign` items; iterate over it for those of all pages.

        Raises:
            InvalidRequest: An argument has the wrong type; nothing was sent.
            APIError: The service returned an error status; each has its subclass.
            TransportError: The service was not reached, or `timeout` has passed.
            UnexpectedResponse: The response does not have the documented shape.
            PaginationError: The listing cannot continue from `cursor`, or repeats.

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
        """Detect creatives that show fatigue.

        Read-only: it changes no state and touches no spend. Operation 12 in section 4 of the
        interface.

        Args:
            account_id: The id of the connected ad account.
            creative_id: Return only this creative.
            cursor: The `next` of an earlier page, to continue from there.

        Returns:
            A page of `CreativeFatigue` items; iterate over it for those of all pages.

        Raises:
            InvalidRequest: An argument has the wrong type; nothing was sent.
            APIError: The service returned an error status; each has its subclass.
            TransportError: The service was not reached, or `timeout` has passed.
            UnexpectedResponse: The response does not have the documented shape.
            PaginationError: The listing cannot continue from `cursor`, or repeats.

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
