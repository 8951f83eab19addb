"""The accounts of the fake service, each made when it is first asked for."""

from collections.abc import Callable

from adclient.testing._accounts import seed_alpha, seed_beta, seed_delta, seed_gamma
from adclient.testing._accounts.state import Account
from adclient.testing._clock import FakeClock

_MAKERS: dict[str, Callable[[str], Account]] = {
    "account_a91f": seed_alpha.demand_gen,
    "account_a5d2": seed_alpha.dealers,
    "account_5a5b": seed_alpha.paused_by_breaker,
    "account_b204": seed_beta.video,
    "account_b7e0": seed_beta.video_japan,
    "account_f403": seed_beta.disconnected,
    "account_c3d8": seed_gamma.social,
    "account_c95a": seed_gamma.social_europe,
    "account_e000": seed_gamma.empty,
    "account_d118": seed_delta.search,
    "account_d7f2": seed_delta.search_clean,
    "account_d4c4": seed_delta.search_by_themes,
    "account_5a5a": seed_delta.over_plan,
}


class Accounts:
    """The connected accounts."""

    def __init__(self, seed: str, clock: FakeClock) -> None:
        self._seed = seed
        self._clock = clock
        self._made: dict[str, Account] = {}

    def get(self, account_id: str) -> Account | None:
        """An account with its data, or None if no such account is connected."""
        if account_id not in self._made:
            make = _MAKERS.get(account_id)
            if make is None:
                return None
            self._made[account_id] = account = make(self._seed)
            account.clock = self._clock
        return self._made[account_id]
