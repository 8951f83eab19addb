"""The operations on alpha accounts."""

from decimal import Decimal

from adclient._async.listing import AsyncListing
from adclient._async.namespace import AsyncNamespace
from adclient.models import JSON, Draft, Objective, ObjectLike


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
