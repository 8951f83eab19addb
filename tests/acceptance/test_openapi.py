"""Schemathesis against the fake: every response is documented, and none is a crash."""

import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis import GenerationMode
from schemathesis.checks import positive_data_acceptance

from adclient._core.operations import OPERATIONS
from adclient.testing import FakeAdService
from adclient.testing.server import create_app

# Values that exist with the default seed, so that requests pass the first checks.
ACCOUNTS = {
    "alpha": "account_a91f",
    "beta": "account_b204",
    "gamma": "account_c3d8",
    "delta": "account_d118",
}
CAMPAIGNS = {"alpha": "campaign_4c10", "beta": "campaign_57a7"}

plain = schemathesis.openapi.from_asgi("/openapi.json", create_app(FakeAdService()))
knowing = schemathesis.openapi.from_asgi("/openapi.json", create_app(FakeAdService()))
knowing.config.generation.update(modes=[GenerationMode.POSITIVE])


def known(context, given):
    """Return the same parameters with an existing account and campaign."""
    if not isinstance(given, dict):
        return given
    platform = context.operation.path.removeprefix("/v1/").partition("-")[0]
    values = {"account_id": ACCOUNTS[platform], "campaign_id": CAMPAIGNS.get(platform)}
    return {**given, **{name: values[name] for name in given if values.get(name)}}


@knowing.hook
def map_query(context, query):
    return known(context, query)


@knowing.hook
def map_body(context, body):
    return known(context, body)


steady = settings(
    derandomize=True,
    max_examples=15,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@plain.parametrize()
@steady
def test_any_request_has_a_documented_response(case):
    case.call_and_validate()


@knowing.parametrize()
@steady
def test_requests_for_existing_accounts_have_documented_responses(case):
    # Whether they are accepted depends on the account's data, which no schema describes.
    case.call_and_validate(excluded_checks=[positive_data_acceptance])


def test_document_has_each_operation():
    assert plain.statistic.operations.total == len(OPERATIONS)
