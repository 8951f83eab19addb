# Generated from ../_async by tools/make_twin.py: change it there.
"""The operations on delta accounts."""

from adclient._sync.page import Page
from adclient._sync.namespace import Namespace
from adclient._core.operations import (
    ANALYZE_WASTED_SPEND,
    INFER_BUSINESS_PROFILE,
    REMOVE_DELTA_AUTO_SEARCH_THEMES,
    UPDATE_KEYWORD,
)
from adclient.models import JSON, BusinessProfile, Draft, ObjectLike, WastedSpend


class Delta(Namespace):
    """The operations on delta accounts."""

    def update_keyword(
        self,
        *,
        account_id: str,
        keywords: list[str] | tuple[str, ...],
        fields: ObjectLike | None = None,
    ) -> Draft:
        """Stage the addition, change or removal of keywords.

        A draft is staged and waits for approval; nothing is changed. Operation 6 in section 4 of
        the interface.

        Args:
            account_id: The id of the connected ad account.
            keywords: The keyword texts.
            fields: What to do with them. A mapping or instance with fields; a None inside
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
            >>> client = FakeAdService().client()
            >>> draft = client.delta.update_keyword(
            ...     account_id="account_d118",
            ...     keywords=["outdoor jacket"],
            ...     fields={"action": "PAUSE"},
            ... )
            >>> draft.diff.field
            'keywords'
        """
        return self._engine.stage(
            UPDATE_KEYWORD,
            account_id=account_id,
            keywords=keywords,
            fields=fields,
        )

    def remove_auto_search_themes(
        self,
        *,
        account_id: str,
    ) -> Draft:
        """Stage the removal of search themes from automated campaigns.

        A draft is staged and waits for approval; nothing is changed. Operation 9 in section 4 of
        the interface.

        Args:
            account_id: The id of the connected ad account.

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
            >>> draft = client.delta.remove_auto_search_themes(
            ...     account_id="account_d118"
            ... )
            >>> draft.diff.field
            'search_themes'
        """
        return self._engine.stage(
            REMOVE_DELTA_AUTO_SEARCH_THEMES,
            account_id=account_id,
        )

    def analyze_wasted_spend(
        self,
        *,
        account_id: str,
        cursor: JSON = None,
    ) -> Page[WastedSpend]:
        """Analyze the wasted spend of an account.

        Read-only: it changes no state and touches no spend. Operation 15 in section 4 of the
        interface.

        Args:
            account_id: The id of the connected ad account.
            cursor: The `next` of an earlier page, to continue from there.

        Returns:
            A page of `WastedSpend` items; iterate over it for those of all pages.

        Raises:
            InvalidRequest: An argument has the wrong type; nothing was sent.
            APIError: The service returned an error status; each has its subclass.
            TransportError: The service was not reached, or `timeout` has passed.
            UnexpectedResponse: The response does not have the documented shape.
            PaginationError: The listing cannot continue from `cursor`, or repeats.

        Example:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().client()
            >>> page = client.delta.analyze_wasted_spend(
            ...     account_id="account_d118"
            ... )
            >>> first = page.data[0].name
        """
        return self._engine.read(
            ANALYZE_WASTED_SPEND,
            account_id=account_id,
            cursor=cursor,
        )

    def infer_business_profile(
        self,
        *,
        account_id: str,
        cursor: JSON = None,
    ) -> Page[BusinessProfile]:
        """Infer the business profile of an account.

        Read-only: it changes no state and touches no spend. Operation 16 in section 4 of the
        interface.

        Args:
            account_id: The id of the connected ad account.
            cursor: The `next` of an earlier page, to continue from there.

        Returns:
            A page of `BusinessProfile` items; iterate over it for those of all pages.

        Raises:
            InvalidRequest: An argument has the wrong type; nothing was sent.
            APIError: The service returned an error status; each has its subclass.
            TransportError: The service was not reached, or `timeout` has passed.
            UnexpectedResponse: The response does not have the documented shape.
            PaginationError: The listing cannot continue from `cursor`, or repeats.

        Example:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().client()
            >>> page = client.delta.infer_business_profile(
            ...     account_id="account_d118"
            ... )
            >>> first = page.data[0].name
        """
        return self._engine.read(
            INFER_BUSINESS_PROFILE,
            account_id=account_id,
            cursor=cursor,
        )
