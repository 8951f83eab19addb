"""Who may call the service, and what for."""

from collections.abc import Mapping

import attrs

from adclient._core.request import Request
from adclient.testing._wire.protocol import Refusal


@attrs.frozen
class Credentials:
    """The tokens of the service, and the header that carries one; without a token all may pass."""

    token: str | None = attrs.field(repr=False)
    read_only_token: str | None = attrs.field(repr=False)
    key_header: str | None

    def headers(self, _: Request) -> Mapping[str, str]:
        """What a client sends to prove itself."""
        return {} if self.token is None else {self._header: self._shown(self.token)}

    def checked(self, request: Request) -> bool:
        """Whether a request may write; one that may not even read is refused."""
        if self.token is None:
            return True
        shown = request.headers.get(self._header.lower())
        if shown == self._shown(self.token):
            return True
        if self.read_only_token is not None and shown == self._shown(self.read_only_token):
            return False
        raise Refusal(401, "unauthenticated", "the token is missing or not valid")

    @property
    def _header(self) -> str:
        return self.key_header or "authorization"

    def _shown(self, token: str) -> str:
        return token if self.key_header else f"Bearer {token}"
