"""The strategies for tests with Hypothesis: every draft that they suggest can be staged."""

from contextlib import suppress
from operator import attrgetter
from tempfile import TemporaryDirectory

from hypothesis import given, settings, strategies as st

from adclient import AdClientError
from adclient.ledger import SQLiteLedger
from adclient.plan import Plan
from adclient.testing import FakeAccount, FakeAdService
from adclient.testing.properties import accounts, changes, faults


@given(st.data(), st.sampled_from([None, "alpha", "beta", "gamma", "delta"]))
def test_each_change_can_be_staged(data, platform) -> None:
    account = data.draw(accounts("account_1", platform=platform))
    assert (account.id, account.platform) == ("account_1", platform)
    stage_and_approve(account, data.draw(changes(account)))


def stage_and_approve(account, change) -> str:
    """Stage a change and approve it; the name of its write."""
    assert len(Plan.of("p", [change]).changes) == 1
    arguments = dict(change)
    fake, name = FakeAdService(accounts=[account]), arguments.pop("call")
    assert fake.dashboard.approve(attrgetter(name)(fake.client())(**arguments)).status == "applied"
    return name


def test_every_write_is_among_the_changes() -> None:
    items = {kind: [{"id": f"{kind}_1"}] for kind in ("campaigns", "ads", "creatives")}
    account, writes = FakeAccount("account_1", keywords=[{"text": "a"}], **items), set()

    @given(changes(account))
    @settings(max_examples=45, derandomize=True)
    def draw(change) -> None:
        writes.add(stage_and_approve(account, change))

    draw()
    assert len(writes) == 9


@given(changes(FakeAccount("mine", platform="beta", campaigns=[{"name": "without an id"}])))
def test_only_items_with_an_id_are_changed(change) -> None:
    assert change["call"] == "beta.create_video_campaign"


@settings(max_examples=40, deadline=None)
@given(accounts(), faults(), st.integers(1, 3))
def test_each_draft_has_an_entry_whatever_happens(account, fault, call) -> None:
    fake = FakeAdService(accounts=[account])
    fake.faults.add(fault, call=call)
    with TemporaryDirectory() as folder:
        ledger = SQLiteLedger(f"{folder}/drafts.db")
        client = fake.client(ledger=ledger)
        with suppress(AdClientError):
            for campaign in client.beta.list_campaigns(account_id=account.id):
                client.beta.pause_campaign(account_id=account.id, campaign_id=campaign.id)
        if fake.drafts:
            known = {entry.draft_id for entry in ledger.entries()}
            lost = [draft for draft in fake.drafts if draft.draft_id not in known]
            assert len(lost) <= len(ledger.unknown())
