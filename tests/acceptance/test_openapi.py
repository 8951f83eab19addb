"""Schemathesis against the fake: every response is documented, and none is a crash."""

import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis import GenerationMode
from schemathesis.checks import positive_data_acceptance

from adclient.testing import FakeAdService
from adclient.testing.server import create_app

# Values that exist with the default seed, so that requests pass the first checks.
IDS = {"alpha": "a91f", "beta": "b204", "gamma": "c3d8", "delta": "d118"}
ACCOUNTS = {platform: f"account_{name}" for platform, name in IDS.items()}
CAMPAIGNS = {"alpha": "campaign_4c10", "beta": "campaign_57a7"}

plain, knowing = (
    schemathesis.openapi.from_asgi("/openapi.json", create_app(FakeAdService())) for _ in range(2)
)
knowing.config.generation.update(modes=[GenerationMode.POSITIVE])


@knowing.hook("map_query")
@knowing.hook("map_body")
def known(context, given):
    """Return the same parameters with an existing account and campaign."""
    if not isinstance(given, dict):
        return given
    platform = context.operation.path.removeprefix("/v1/").partition("-")[0]
    values = {"account_id": ACCOUNTS[platform], "campaign_id": CAMPAIGNS.get(platform)}
    return {**given, **{name: values[name] for name in given if values.get(name)}}


alike = {"derandomize": True, "max_examples": 15, "deadline": None, "database": None}
steady = settings(suppress_health_check=list(HealthCheck), **alike)


@plain.parametrize()
@steady
def test_any_request_has_a_documented_response(case):
    case.call_and_validate()


@knowing.parametrize()
@steady
def test_requests_for_existing_accounts_have_documented_responses(case):
    # Whether they are accepted depends on the account's data, which no schema describes.
    case.call_and_validate(excluded_checks=[positive_data_acceptance])
