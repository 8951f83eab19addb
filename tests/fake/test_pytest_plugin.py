"""The pytest plugin, in projects as a user has them."""

import inspect
import sys
import textwrap

import pytest

# What a run inside this process imports is dropped after it, which must not be half of adclient.
import adclient.testing  # noqa: F401
from adclient import pytest_plugin as plugin

# Fixtures, both kinds of loops, and a class under unittest, without any configuration.
USERS_TESTS = """
import asyncio
import os
import unittest

import pytest

from adclient import AdClient, AsyncAdClient, ConfigurationError
from adclient.testing import FakeAdService

PAUSE = {"account_id": "account_b204", "campaign_id": "campaign_57a7"}
kept = []


@pytest.fixture
def staged(ad_client):
    kept.append(ad_client)
    return ad_client.beta.pause_campaign(**PAUSE)


def test_staged_draft_is_pending(fake_ad_service, staged):
    assert isinstance(fake_ad_service, FakeAdService)
    (draft,) = fake_ad_service.dashboard.pending()
    assert draft.draft_id == staged.draft_id


def test_each_test_has_its_own_service(fake_ad_service):
    assert fake_ad_service.drafts == ()
    with pytest.raises(ConfigurationError, match="closed"):
        kept[0].beta.pause_campaign(**PAUSE)


def test_client_from_the_environment_reaches_the_fake(
    ad_environment, fake_ad_service, monkeypatch
):
    AdClient().beta.pause_campaign(**PAUSE)
    monkeypatch.setenv("ADCLIENT_TOKEN", "t0ken")
    asyncio.run(AsyncAdClient().beta.pause_campaign(**PAUSE))
    assert ad_environment is fake_ad_service
    assert len(fake_ad_service.drafts) == 2


def test_environment_is_restored():
    assert os.environ["ADCLIENT_BASE_URL"] == "https://ads.example.com"
    assert "ADCLIENT_TOKEN" not in os.environ


class OldStyle(unittest.IsolatedAsyncioTestCase):
    @pytest.fixture(autouse=True)
    def clients(self, ad_client, async_ad_client):
        self.client, self.async_client = ad_client, async_ad_client

    async def test_unittest_class_uses_both_clients(self):
        one = self.client.beta.pause_campaign(**PAUSE)
        other = await self.async_client.beta.pause_campaign(**PAUSE)
        assert one.draft_id != other.draft_id


def sizes(client):
    first = client.beta.list_campaigns(account_id="account_b7e0")
    return [len(page.data) for page in first.pages()]


@pytest.mark.ad_service(page_size=3, token="s3cret")
class TestMarkedClass:
    def test_marker_of_the_class_applies(self, ad_client):
        assert sizes(ad_client) == [3, 1]

    @pytest.mark.ad_service(page_size=2)
    def test_marker_of_the_test_overrides_the_class(self, ad_client, fake_ad_service):
        assert sizes(ad_client) == [2, 2]
        assert "authorization" in fake_ad_service.requests[0].headers
"""
FIXTURES = ("fake_ad_service", "ad_client", "async_ad_client", "ad_environment")
TITLE = "*- Requests to the fake ad service -*"
# Plugins that we have, and that a user may not have.
OTHERS = "-p no:randomly -p no:hypothesispytest -p no:respx -p no:pytest_cov"


@pytest.fixture
def project(pytester, monkeypatch):
    """A user's project; its pytest loads the plugin anew, so that all of it is measured."""
    monkeypatch.delitem(sys.modules, "adclient.pytest_plugin")
    pytester.makeini(f"[pytest]\naddopts = {OTHERS} --strict-markers -W error\n")
    return pytester


def test_fixtures_and_markers_work_in_sync_async_and_unittest_tests(project, monkeypatch):
    monkeypatch.setenv("ADCLIENT_BASE_URL", "https://ads.example.com")
    monkeypatch.delenv("ADCLIENT_TOKEN", raising=False)
    docstrings = [inspect.cleandoc(getattr(plugin, name).__doc__) for name in FIXTURES]
    examples = [doc.split("```")[1].removeprefix("python") for doc in docstrings]
    project.makepyfile(USERS_TESTS, test_examples="\n".join(map(textwrap.dedent, examples)))
    project.runpytest().assert_outcomes(passed=7 + len(FIXTURES))
    project.runpytest("--markers").stdout.fnmatch_lines(["@pytest.mark.ad_service(*options):*"])
    listed = project.runpytest("--fixtures").stdout
    listed.fnmatch_lines_random([f"{name} -- *pytest_plugin.py:*" for name in FIXTURES])


def test_marker_without_effect_is_a_warning_and_a_wrong_one_an_error(project):
    project.makepyfile("""
        import pytest

        from adclient.testing import FakeAdService

        pytestmark = pytest.mark.ad_service(fail_on_unmet_faults=True)

        @pytest.mark.ad_service("halden")
        def test_positional(ad_client):
            pass

        @pytest.mark.ad_service(page_size=2)
        def test_uses_no_fixture():
            pass

        @pytest.mark.ad_service(page_size=2)
        class TestOwn:
            @pytest.fixture
            def fake_ad_service(self):
                return FakeAdService()

            def test_overrides_the_fixture(self, ad_client):
                pass

            def test_without_a_fake(self):
                pass

        def test_effective(request):
            request.getfixturevalue("ad_client")

        @pytest.fixture
        def fake_ad_service(fake_ad_service):
            return fake_ad_service.snapshot()
    """)
    result = project.runpytest("-W", "default")
    result.assert_outcomes(passed=4, errors=1, warnings=2)
    result.stdout.fnmatch_lines(["*ad_service takes keyword arguments only*"])
    text = "*ad_service has no effect: the test uses "
    result.stdout.fnmatch_lines([f"{text}no fixture*", f"{text}a fake_ad_service of its own"])


def test_report_of_a_failure_shows_the_last_20_requests(project):
    project.makepyfile("""
        import pytest

        from adclient.testing import Fault

        @pytest.mark.ad_service(token="s3cret")
        def test_it(ad_client, fake_ad_service):
            for _ in range(46):
                ad_client.beta.list_campaigns(account_id="account_b7e0")
            fake_ad_service.faults.add(Fault.dropped())
            list(ad_client.beta.list_campaigns(account_id="account_b204"))
            creative = {"account_id": "account_a91f", "creative_id": "creative_2f70"}
            ad_client.alpha.update_creative(**creative, fields={"headline": "long " * 99})
            assert False
    """)
    result = project.runpytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            TITLE,
            "… 30 earlier",
            "GET */list-beta-campaigns -> no response account_id=account_b204",
            "GET */list-beta-campaigns -> 200 account_id=account_b204 cursor=*",
            "POST */update-alpha-creative -> 201 account_id=account_a91f *headline*…",
        ]
    )
    shown = result.stdout.str().partition("Requests to the fake ad service")[2]
    assert shown.count(" -> ") == 20
    assert "s3cret" not in shown
    assert "authorization" not in shown.lower()
    assert all(len(line) <= 300 for line in shown.splitlines())


def test_unmet_fault_fails_a_test_that_asks_for_it(project):
    project.makepyfile("""
        import pytest

        from adclient.testing import Fault

        pytestmark = pytest.mark.ad_service(fail_on_unmet_faults=True)

        def test_met(fake_ad_service, ad_client):
            fake_ad_service.faults.add(Fault.status(503), operation="beta.list_campaigns")
            ad_client.beta.list_campaigns(account_id="account_b204")

        def test_unmet(fake_ad_service, ad_client):
            test_met(fake_ad_service, ad_client)
            fake_ad_service.faults.add(Fault.refused(), operation="gamma.list_ads")

    """)
    result = project.runpytest()
    result.assert_outcomes(passed=1, failed=1)
    title, shown = "*_ test_unmet _*", "Fault(*connection refused*"
    result.stdout.fnmatch_lines([title, "no request met these faults:", shown])
    result.stdout.no_fnmatch_line("*pytest_plugin.py*")
