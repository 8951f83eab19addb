# Generated from ../_async by tools/make_twin.py: change it there.
"""The operations on beta accounts."""

from adclient._sync.page import Page
from adclient._sync.namespace import Namespace
from adclient.models import JSON, Campaign, CreativeFatigue, Draft, ObjectLike


class Beta(Namespace):
    """The operations on beta accounts, which belong to a short-video platform.

    Examples:
        >>> from adclient.testing import FakeAdService
        >>> client = FakeAdService().client()
        >>> page = client.beta.list_campaigns(account_id="account_b204")
        >>> len(page.data)
        50
    """

    def create_video_campaign(
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
            >>> client = FakeAdService().client()
            >>> draft = client.beta.create_video_campaign(
            ...     account_id="account_b204",
            ...     fields={"name": "Autumn", "objective": "SALES", "daily_budget": 150},
            ... )
            >>> draft.diff.before is None
            True
        """
        return self._engine.stage(
            "beta.create_video_campaign", account_id, campaign_id, fields
        )

    def pause_campaign(self, *, account_id: str, campaign_id: str) -> Draft:
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
            >>> client = FakeAdService().client()
            >>> draft = client.beta.pause_campaign(
            ...     account_id="account_b204", campaign_id="campaign_57a7"
            ... )
            >>> draft.diff.before, draft.diff.after
            ('ENABLED', 'PAUSED')
        """
        return self._engine.stage("beta.pause_campaign", account_id, campaign_id)

    def list_campaigns(
        self,
        *,
        account_id: str,
        campaign_id: str | None = None,
        date_range: str | None = None,
        cursor: JSON = None,
    ) -> Page[Campaign]:
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
            A page of `Campaign` items; iterating over it continues through all later pages.

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
            >>> client = FakeAdService().client()
            >>> page = client.beta.list_campaigns(
            ...     account_id="account_b204", date_range="LAST_30_DAYS"
            ... )
            >>> page.data[0]
            <Campaign campaign_57a7, ..., ENABLED, 11 extra fields>
        """
        return self._engine.read("beta.list_campaigns", cursor, account_id, campaign_id, date_range)

    def detect_creative_fatigue(
        self, *, account_id: str, creative_id: str | None = None, cursor: JSON = None
    ) -> Page[CreativeFatigue]:
        """Detect creatives that show fatigue.

        Read-only: it changes no state and touches no spend.
        Sends `GET /v1/beta-ads/detect-beta-creative-fatigue`.

        Args:
            account_id: The id of the connected ad account.
            creative_id: Return only this creative; None for all creatives.
            cursor: The `next` of an earlier page, to continue after that page; None for the first.

        Returns:
            A page of `CreativeFatigue` items; iterating over it continues through all later pages.

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
            >>> client = FakeAdService().client()
            >>> page = client.beta.detect_creative_fatigue(account_id="account_b204")
            >>> page.data[0]
            <CreativeFatigue fatigue_1b7b, ..., FATIGUED, 14 extra fields>
        """
        return self._engine.read("beta.detect_creative_fatigue", cursor, account_id, creative_id)
