"""The connected accounts of a fake service."""

from copy import deepcopy

import attrs

from adclient.testing._accounts.account import FakeAccount, build_account
from adclient.testing._accounts.state import Account
from adclient.testing._accounts.story import STORY, story_account


@attrs.define(slots=False)
class Accounts:
    """The accounts that were added, and those of the story, each loaded when it is asked for."""

    seed: str
    has_story: bool
    _connected: dict[str, Account] = attrs.field(init=False, factory=dict[str, Account])

    def get(self, account_id: str) -> Account | None:
        """An account with its data, or None if no such account is connected."""
        if self.has_story and account_id in STORY and account_id not in self._connected:
            self._connected[account_id] = deepcopy(story_account(account_id, self.seed))
        return self._connected.get(account_id)

    def add(self, given: FakeAccount) -> None:
        """Connect an account."""
        if not isinstance(given, FakeAccount):
            raise ValueError(f"account must be a FakeAccount, not {type(given).__name__}")
        if self.get(given.id) is not None:
            raise ValueError(f"there is already an account {given.id}")
        self._connected[given.id] = build_account(given, self.seed)
