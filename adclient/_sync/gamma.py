# Generated from ../_async by tools/make_twin.py: change it there.
"""The operations on gamma accounts."""

from adclient._sync.page import Page
from adclient._sync.namespace import Namespace
from adclient.models import JSON, Ad, Draft, ObjectLike, TargetingOption


class Gamma(Namespace):
    """The operations on gamma accounts, which belong to a social-media platform.

    Examples:
        >>> from adclient.testing import FakeAdService
        >>> client = FakeAdService().client()
        >>> page = client.gamma.list_ads(account_id="account_c3d8")
        >>> len(page.data)
        50
    """

    def create_image_campaign(
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
            >>> client = FakeAdService().client()
            >>> draft = client.gamma.create_image_campaign(
            ...     account_id="account_c3d8",
            ...     fields={"name": "Autumn", "objective": "TRAFFIC", "daily_budget": 80},
            ... )
            >>> draft.diff.before is None
            True
        """
        return self._engine.stage(
            "gamma.create_image_campaign", account_id, campaign_id, fields
        )

    def create_dco_ad(
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
            >>> client = FakeAdService().client()
            >>> draft = client.gamma.create_dco_ad(
            ...     account_id="account_c3d8",
            ...     fields={"name": "Tents", "assets": {"images": ["img_1", "img_2"]}},
            ... )
            >>> draft.status
            'pending_approval'
        """
        return self._engine.stage("gamma.create_dco_ad", account_id, ad_id, fields)

    def search_targeting(
        self, *, account_id: str, targeting: ObjectLike | None = None, cursor: JSON = None
    ) -> Page[TargetingOption]:
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
            A page of `TargetingOption` items; iterating over it continues through all later pages.

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
            >>> page = client.gamma.search_targeting(
            ...     account_id="account_c3d8", targeting={"type": "INTEREST", "query": "hiking"}
            ... )
            >>> page.data[0]
            <TargetingOption opt_6f01, Hiking, ENABLED, 4 extra fields>
        """
        return self._engine.read("gamma.search_targeting", cursor, account_id, targeting)

    def list_ads(
        self, *, account_id: str, date_range: str | None = None, cursor: JSON = None
    ) -> Page[Ad]:
        """List the ads of an account.

        Read-only: it changes no state and touches no spend.
        Sends `GET /v1/gamma-ads/list-gamma-ads`.

        Args:
            account_id: The id of the connected ad account.
            date_range: The period of the figures, such as `LAST_30_DAYS`. The interface names no
                other value; None lets the service choose.
            cursor: The `next` of an earlier page, to continue after that page; None for the first.

        Returns:
            A page of `Ad` items; iterating over it continues through all later pages.

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
            >>> page = client.gamma.list_ads(
            ...     account_id="account_c3d8", date_range="LAST_30_DAYS"
            ... )
            >>> page.data[0]
            <Ad ad_799a, SPR26 · Trail Shoes · Summit light · v1, ENABLED, 10 extra fields>
        """
        return self._engine.read("gamma.list_ads", cursor, account_id, date_range)
