"""The strategies of `adclient.testing.properties` generate only what the fake accepts."""

from hypothesis import given, settings, strategies as st

from adclient import AdClientError, Plan
from adclient.testing import FakeAccount, FakeAdService
from adclient.testing.properties import accounts, changes, faults, profiles

PLATFORMS = (None, "alpha", "beta", "gamma", "delta")


@given(st.lists(accounts(), unique_by=lambda account: account.id))
def test_each_account_can_be_connected(drawn) -> None:
    client = FakeAdService(accounts=drawn).client()
    for account in drawn:
        listed = client.beta.list_campaigns(account_id=account.id)
        assert [campaign.id for campaign in listed] == [each["id"] for each in account.campaigns]
        assert client.delta.analyze_wasted_spend(account_id=account.id).response.status == 200


@given(accounts("account_1", platform="gamma"))
def test_id_and_platform_are_those_that_are_given(account) -> None:
    assert (account.id, account.platform) == ("account_1", "gamma")


def test_each_change_can_be_staged() -> None:
    calls = set()

    @given(st.data(), st.sampled_from(PLATFORMS))
    @settings(max_examples=200, derandomize=True, deadline=None)
    def check(data: st.DataObject, platform) -> None:
        account = data.draw(accounts("account_1", platform=platform))
        change = data.draw(changes(account))
        assert len(Plan.of("p", [change]).changes) == 1
        arguments = dict(change)
        namespace, name = arguments.pop("call").split(".")
        fake = FakeAdService(accounts=[account])
        draft = getattr(getattr(fake.client(), namespace), name)(**arguments)
        assert fake.dashboard.approve(draft).status == "applied"
        calls.add(name)

    check()
    assert len(calls) == 9


@given(changes(FakeAccount("mine", platform="beta", campaigns=[{"name": "without an id"}])))
def test_only_items_with_an_id_are_changed(change) -> None:
    assert change["call"] == "beta.create_video_campaign"


@given(faults(), accounts("account_1"))
def test_no_fault_denies_a_draft(fault, account) -> None:
    fake = FakeAdService(accounts=[account])
    fake.faults.add(fault)
    error = None
    try:
        fake.client().delta.remove_auto_search_themes(account_id="account_1")
    except AdClientError as raised:
        error = raised
    assert error is None or error.outcome_unknown or not fake.drafts


@given(profiles())
def test_each_profile_is_a_working_service(profile) -> None:
    fake = FakeAdService(profile=profile, page_size=10)
    client = fake.client()
    assert len(client.beta.list_campaigns(account_id="account_b204").collect()) > 20
    draft = client.beta.pause_campaign(account_id="account_b204", campaign_id="campaign_57a7")
    fake.dashboard.arm(draft, reviewer="one")
    assert fake.dashboard.confirm(draft, reviewer="another").status == "applied"
