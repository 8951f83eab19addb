# Generated from ../_async by tools/make_twin.py: change it there.
"""The operations on delta accounts."""

from collections.abc import Mapping

from attrs import AttrsInstance

from adclient._sync.page import Page
from adclient._sync.namespace import Namespace
from adclient._core.operations import (
    ANALYZE_WASTED_SPEND,
    INFER_BUSINESS_PROFILE,
    REMOVE_DELTA_AUTO_SEARCH_THEMES,
    UPDATE_KEYWORD,
)
from adclient.models import JSON, BusinessProfile, Draft, WastedSpend


class Delta(Namespace):
    """The operations on delta accounts."""

    def update_keyword(
        self,
        *,
        account_id: str,
        keywords: list[str] | tuple[str, ...],
        fields: Mapping[str, object] | AttrsInstance | None = None,
    ) -> Draft:
        """Stage the adding, changing or removing of keywords.

        A draft is staged and waits for approval; nothing is changed. Operation 6 of the interface,
        section 4.

        Args:
            account_id: The connected ad account.
            keywords: The texts of the keywords.
            fields: What to do with them. Any mapping or attrs instance; its inside passes
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
        """Stage the removal of the search themes of automated campaigns.

        A draft is staged and waits for approval; nothing is changed. Operation 9 of the interface,
        section 4.

        Args:
            account_id: The connected ad account.

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
        """Find where an account spends without effect.

        Reads only; it changes no state and touches no spend. Operation 15 of the interface,
        section 4.

        Args:
            account_id: The connected ad account.
            cursor: A `next` kept from an earlier page, to go on from there.

        Returns:
            A page of `WastedSpend` items; iterate over it for all of them, page after page.

        Raises:
            InvalidRequest: An argument is of the wrong type; nothing was sent.
            APIError: The service refused, with a subclass for each status.
            TransportError: The service was not reached, or the time is over.
            UnexpectedResponse: The answer is not the documented shape.
            PaginationError: The listing cannot go on from `cursor`, or repeats.

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
        """Infer what kind of business is behind an account.

        Reads only; it changes no state and touches no spend. Operation 16 of the interface,
        section 4.

        Args:
            account_id: The connected ad account.
            cursor: A `next` kept from an earlier page, to go on from there.

        Returns:
            A page of `BusinessProfile` items; iterate over it for all of them, page after page.

        Raises:
            InvalidRequest: An argument is of the wrong type; nothing was sent.
            APIError: The service refused, with a subclass for each status.
            TransportError: The service was not reached, or the time is over.
            UnexpectedResponse: The answer is not the documented shape.
            PaginationError: The listing cannot go on from `cursor`, or repeats.

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
