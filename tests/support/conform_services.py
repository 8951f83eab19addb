"""A small service for the checks of `adclient.conform`, and ways in which one deviates."""

import json
from collections.abc import Callable
from operator import delitem

import attrs

from adclient import AdClient, Request
from adclient._core.operations import READS
from adclient._core.response import Outcome, RawResponse
from adclient._http.library import ServiceTransport
from adclient.conform import ConformReport, conform
from adclient.testing import FakeAccount, FakeAdService
from adclient.testing._fake.requests import operation_at

ACCOUNT = "account_1"
ADS, BUDGET, PAUSE = "gamma.list_ads", "alpha.update_campaign_budget", "beta.pause_campaign"
# No read shows a campaign of alpha.
ARGUMENTS = {
    name: {"campaign_id": "campaign_1"} for name in ("alpha.update_campaign_targeting", BUDGET)
}
Change = Callable[[FakeAdService, Request, RawResponse], Outcome]


def items(kind: str, count: int = 5) -> list[dict]:
    return [
        {"id": f"{kind}_{n}", "name": f"Name {n}", "status": "ENABLED" if n > 1 else "PAUSED"}
        for n in range(1, count + 1)
    ]


def account(account_id: str = ACCOUNT, count: int = 5, **settings) -> FakeAccount:
    others = [name for name in READS if not name.endswith((".list_campaigns", ".list_ads"))]
    return FakeAccount(
        account_id,
        campaigns=[{**each, "daily_budget": 100} for each in items("campaign", count)],
        ads=items("ad", count),
        reads={name: items("item", count) for name in others},
        **settings,
    )


def small_fake(**settings) -> FakeAdService:
    return FakeAdService(**{"accounts": [account()], "page_size": 2, **settings})


def client_of(fake: FakeAdService, change: Change | None = None, **settings) -> AdClient:
    """A client of a fake whose responses are changed on their way."""

    def handle(request: Request, time_left: float | None) -> Outcome:
        outcome = fake.handle(request, time_left)
        is_whole = change is not None and isinstance(outcome, RawResponse)
        return change(fake, request, outcome) if is_whole else outcome

    clock = fake._responder.clock.for_clients()
    return fake.client(transport=ServiceTransport(handle, clock, random=lambda: 0.5), **settings)


def with_reads(change: Change | None = None, fake: FakeAdService | None = None, **settings):
    """The report on the reads of a service whose responses are changed."""
    return conform(client_of(fake or small_fake(), change, **settings), account_id=ACCOUNT)


def with_drafts(client: AdClient, **settings) -> ConformReport:
    """The report on all operations."""
    settings = {"stage_drafts": ACCOUNT, "arguments": ARGUMENTS, "timeout": 7200, **settings}
    return conform(client, **settings)


def failed(report: ConformReport) -> set[str]:
    return {str(each.check) for each in report.failed}


def seen(report: ConformReport, name: str) -> str:
    """The verdict on a check and what was seen."""
    (result,) = [each for each in report.results if str(each.check) == name]
    return f"{result.verdict}: {result.seen}"


def name_of(request: Request) -> str:
    operation = operation_at(request, "")
    return "" if operation is None else operation.full_name


def edited(name: str, edit: Callable[[dict], object], *, call: int | None = None) -> Change:
    """A change of the JSON in successful responses of an operation, or in one of them."""
    calls = []

    def change(fake: FakeAdService, request: Request, response: RawResponse) -> RawResponse:
        if name_of(request) != name or not response.is_success:
            return response
        calls.append(request)
        if call not in (None, len(calls)):
            return response
        body = json.loads(response.body)
        new = edit(body)
        return attrs.evolve(response, body=json.dumps(body if new is None else new).encode())

    return change


def replaced(name: str, status: int, body: bytes | None = b"{}", *, old: int | None = None):
    """A change of all responses of an operation, or of those with an old status."""

    def change(fake: FakeAdService, request: Request, response: RawResponse) -> RawResponse:
        if name_of(request) != name or old not in (None, response.status):
            return response
        return attrs.evolve(response, status=status, body=response.body if body is None else body)

    return change


def inside(body: dict, path: tuple[str, ...]) -> dict:
    """What is at a path in a body, or the first one of a list there."""
    for step in path:
        body = body[step]
    return body[0] if isinstance(body, list) else body


def put(name: str, value: object, *path: str) -> Callable[[dict], None]:
    """An edit that sets a field of a body, or of what is at a path in it."""

    return lambda body: inside(body, path).update({name: value})


def without(name: str, *path: str) -> Callable[[dict], None]:
    """An edit that removes a field."""
    return lambda body: delitem(inside(body, path), name)
