"""The operations on delta accounts."""

from adclient._async.listing import AsyncListing
from adclient._async.namespace import AsyncNamespace
from adclient.models import JSON, BusinessProfile, Draft, ObjectLike, WastedSpend


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
