"""The arguments of a client, by keyword or from a service file."""

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, TypedDict

from adclient._core.auth import AsyncAuth, AsyncTokenSource
from adclient._show.signatures import deferred
from adclient._show.tracebacks import bare
from adclient.conventions import Conventions
from adclient.errors import ConfigurationError
from adclient.options import RetryPolicy
from adclient.transports import AsyncHTTPClient, AsyncTransport

if TYPE_CHECKING:
    import ssl

    from adclient import extend as _extend, hooks as _hooks, ledger as _ledger, policy as _policy
else:
    _hooks = deferred("adclient.Hooks")
    ssl = deferred("ssl.SSLContext")
    _extend = deferred("adclient.extend.Gate")
    _ledger = deferred("adclient.ledger.Ledger")
    _policy = deferred("adclient.policy.Policy")


class AsyncClientSettings(TypedDict, total=False):
    """The arguments of a client by keyword, as in its constructor."""

    base_url: str | None
    token: AsyncTokenSource | None
    auth: AsyncAuth | None
    conventions: Conventions | None
    timeout: float | None
    max_retries: int | None
    retry: RetryPolicy | None
    headers: Mapping[str, str] | None
    hooks: "_hooks.Hooks | None"
    policy: "_policy.Policy | None"
    ledger: "_ledger.Ledger | None"
    actor: str | None
    gate: "_extend.Gate | None"
    max_concurrency: int | None
    proxy: str | None
    verify: "bool | str | PathLike[str] | ssl.SSLContext"
    http_client: AsyncHTTPClient | None
    transport: AsyncTransport | None


def with_service(path: str | PathLike[str] | None, given: dict[str, Any]) -> dict[str, Any]:
    """The arguments that are given, which are moved, and those of a service file."""
    from adclient._service.arguments import HiddenArguments, client_arguments

    try:
        return client_arguments(path, HiddenArguments(given))
    except ConfigurationError as refused:
        raise bare(refused) from None
    finally:
        given.clear()
