# Generated from ../_async by tools/make_twin.py: change it there.
"""The operations on alpha accounts."""

from decimal import Decimal

from adclient._sync.page import Page
from adclient._sync.namespace import Namespace
from adclient._core.operations import (
    EXPLAIN_ALPHA_OBJECTIVES,
    UPDATE_ALPHA_CAMPAIGN_BUDGET,
    UPDATE_ALPHA_CAMPAIGN_TARGETING,
    UPDATE_ALPHA_CREATIVE,
)
from adclient.models import JSON, Draft, Objective, ObjectLike


class Alpha(Namespace):
    """The operations on alpha accounts."""

    def update_campaign_targeting(
        self,
        *,
        account_id: str,
        campaign_id: str,
        targeting: ObjectLike | None = None,
        fields: ObjectLike | None = None,
    ) -> Draft:
        """Stage a change to a campaign's targeting.

        A draft is staged and waits for approval; nothing is changed. Operation 1 in section 4 of
        the interface.

        Args:
            account_id: The id of the connected ad account.
            campaign_id: The campaign to change.
            targeting: The targeting to apply. A mapping or instance with fields; a None
                inside is sent as null.
            fields: Further fields to set on the campaign, passed like `targeting`.

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
            >>> draft = client.alpha.update_campaign_targeting(
            ...     account_id="account_a91f",
            ...     campaign_id="campaign_4c10",
            ...     targeting={"include": {"and": [{"or": {"locations": ["geo:103644278"]}}]}},
            ... )
            >>> draft.diff.field
            'targeting'
        """
        return self._engine.stage(
            UPDATE_ALPHA_CAMPAIGN_TARGETING,
            account_id=account_id,
            campaign_id=campaign_id,
            targeting=targeting,
            fields=fields,
        )

    def update_campaign_budget(
        self,
        *,
        account_id: str,
        campaign_id: str,
        daily_budget: int | float | Decimal | None = None,
        fields: ObjectLike | None = None,
    ) -> Draft:
        """Stage a change to a campaign's daily budget.

        A draft is staged and waits for approval; nothing is changed. Operation 2 in section 4 of
        the interface.

        Args:
            account_id: The id of the connected ad account.
            campaign_id: The campaign to change.
            daily_budget: The new daily budget, in the account's currency. Its digits are sent
                unchanged.
            fields: Further fields to set on the campaign. A mapping or instance with fields;
                a None inside is sent as null.

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
            >>> draft = client.alpha.update_campaign_budget(
            ...     account_id="account_a91f", campaign_id="campaign_4c10", daily_budget=120
            ... )
            >>> draft.diff.field
            'daily_budget'
        """
        return self._engine.stage(
            UPDATE_ALPHA_CAMPAIGN_BUDGET,
            account_id=account_id,
            campaign_id=campaign_id,
            daily_budget=daily_budget,
            fields=fields,
        )

    def update_creative(
        self,
        *,
        account_id: str,
        creative_id: str | None = None,
        fields: ObjectLike | None = None,
    ) -> Draft:
        """Stage a change to a creative, or a new creative.

        A draft is staged and waits for approval; nothing is changed. Operation 4 in section 4 of
        the interface.

        Args:
            account_id: The id of the connected ad account.
            creative_id: The creative to change; the interface leaves open what its absence means.
            fields: The fields to set. A mapping or instance with fields; a None inside is
                sent as null.

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
            >>> draft = client.alpha.update_creative(
            ...     account_id="account_a91f", fields={"headline": "Approvals in one click"}
            ... )
            >>> draft.requires
            'human_two_step_approve'
        """
        return self._engine.stage(
            UPDATE_ALPHA_CREATIVE,
            account_id=account_id,
            creative_id=creative_id,
            fields=fields,
        )

    def explain_objectives(
        self,
        *,
        account_id: str,
        cursor: JSON = None,
    ) -> Page[Objective]:
        """Explain the campaign objectives of an account.

        Read-only: it changes no state and touches no spend. Operation 14 in section 4 of the
        interface.

        Args:
            account_id: The id of the connected ad account.
            cursor: The `next` of an earlier page, to continue from there.

        Returns:
            A page of `Objective` items; iterate over it for those of all pages.

        Raises:
            InvalidRequest: An argument has the wrong type; nothing was sent.
            APIError: The service returned an error status; each has its subclass.
            TransportError: The service was not reached, or `timeout` has passed.
            UnexpectedResponse: The response does not have the documented shape.
            PaginationError: The listing cannot continue from `cursor`, or repeats.

        Example:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().client()
            >>> page = client.alpha.explain_objectives(
            ...     account_id="account_a91f"
            ... )
            >>> first = page.data[0].name
        """
        return self._engine.read(
            EXPLAIN_ALPHA_OBJECTIVES,
            account_id=account_id,
            cursor=cursor,
        )
