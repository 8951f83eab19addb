"""The fake behind clients whose settings come from the environment."""

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Self

from adclient._http.in_process import InProcess, at_fake_host
from adclient.options import ENV_BASE_URL, ENV_TOKEN
from adclient.testing._router import Tokens
from adclient.transports import UniversalTransport

VARIABLES = (ENV_BASE_URL, ENV_TOKEN)


class InEnvironment:
    """The part of a fake service for code that makes its own clients."""

    base_url: str
    transport: UniversalTransport
    _tokens: Tokens

    @contextmanager
    def as_environment(self) -> Generator[Self, None, None]:
        """Let code that calls `AdClient()` or `AsyncAdClient()` reach this fake, unchanged.

        Inside the block, `ADCLIENT_BASE_URL` and `ADCLIENT_TOKEN` are those of the fake. Clients
        with its address send to it, in this process and by its clock. Clients with another
        `base_url=`, or with `http_client=` or `transport=`, do not. A client that was made inside
        the block keeps its fake afterwards.

        Blocks can be nested; the innermost one applies. The environment belongs to the whole
        process, with all its threads, and is restored at the end of the block. So do not enter
        blocks in several threads at once; in pytest, use the fixture `ad_environment`.

        Returns:
            A context manager whose value is the fake.

        Examples:
            >>> from adclient import AdClient
            >>> from adclient.testing import FakeAdService
            >>> def pause(campaign_id: str) -> str:  # code to be tested
            ...     with AdClient() as client:
            ...         draft = client.beta.pause_campaign(
            ...             account_id="account_b204", campaign_id=campaign_id
            ...         )
            ...     return draft.draft_id
            >>> with FakeAdService().as_environment() as fake:
            ...     draft_id = pause("campaign_57a7")
            >>> fake.drafts[0].draft_id == draft_id
            True
        """
        assert isinstance(self.transport, InProcess)
        before = {name: os.environ.get(name) for name in VARIABLES}
        _set(dict(zip(VARIABLES, (self.base_url, self._tokens.token), strict=True)))
        try:
            with at_fake_host(self.transport):
                yield self
        finally:
            _set(before)


def _set(variables: Mapping[str, str | None]) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
