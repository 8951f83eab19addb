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


def test_client_of_the_last_test_is_closed():
    with pytest.raises(ConfigurationError, match="closed"):
        kept[0].beta.pause_campaign(**PAUSE)


def test_each_test_has_its_own_service(fake_ad_service):
    assert fake_ad_service.drafts == ()


def test_clients_of_one_test_share_its_service(fake_ad_service, ad_client, async_ad_client):
    ad_client.beta.pause_campaign(**PAUSE)
    asyncio.run(async_ad_client.beta.pause_campaign(**PAUSE))
    assert len(fake_ad_service.drafts) == 2


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


@pytest.mark.anyio
async def test_async_client_works_in_an_async_test(async_ad_client, anyio_backend):
    assert (await async_ad_client.beta.pause_campaign(**PAUSE)).diff.after == "PAUSED"


class OldStyle(unittest.IsolatedAsyncioTestCase):
    @pytest.fixture(autouse=True)
    def clients(self, ad_client, async_ad_client):
        self.client, self.async_client = ad_client, async_ad_client

    async def test_unittest_class_uses_both_clients(self):
        one = self.client.beta.pause_campaign(**PAUSE)
        other = await self.async_client.beta.pause_campaign(**PAUSE)
        assert one.draft_id != other.draft_id

"""

MARKED_TESTS = """
import pytest

pytestmark = pytest.mark.ad_service(page_size=7, token="s3cret")


def sizes(client):
    first = client.beta.list_campaigns(account_id="account_b7e0")
    return [len(page.data) for page in first.pages()]


def test_marker_of_the_module_applies(ad_client):
    assert sizes(ad_client) == [4]


@pytest.mark.ad_service(page_size=3)
class TestMarkedClass:
    def test_marker_of_the_class_overrides_the_module(self, ad_client):
        assert sizes(ad_client) == [3, 1]

    @pytest.mark.ad_service(page_size=2)
    def test_marker_of_the_test_overrides_the_class(self, ad_client, fake_ad_service):
        assert sizes(ad_client) == [2, 2]
        assert "authorization" in fake_ad_service.requests[0].headers
"""


# Plugins that we have, and that a user may not have.
OTHERS = "-p no:randomly -p no:hypothesispytest -p no:respx -p no:pytest_cov"


@pytest.fixture
def project(pytester, monkeypatch):
    """A user's project; its pytest loads the plugin anew, so that all of it is measured."""
    monkeypatch.delitem(sys.modules, "adclient.pytest_plugin")
    pytester.makeini(f"[pytest]\naddopts = {OTHERS} --strict-markers -W error\n")
    return pytester


@pytest.mark.parametrize("run", ["runpytest", "runpytest_subprocess"])
def test_fixtures_and_markers_work_in_sync_async_and_unittest_tests(project, run, monkeypatch):
    monkeypatch.setenv("ADCLIENT_BASE_URL", "https://ads.example.com")
    monkeypatch.delenv("ADCLIENT_TOKEN", raising=False)
    project.makepyfile(USERS_TESTS, test_marked=MARKED_TESTS)
    getattr(project, run)().assert_outcomes(passed=12)


FIXTURES = ("fake_ad_service", "ad_client", "async_ad_client", "ad_environment")


def test_marker_and_fixtures_are_listed(project):
    project.runpytest("--markers").stdout.fnmatch_lines(["@pytest.mark.ad_service(*options):*"])
    listed = project.runpytest("--fixtures").stdout
    listed.fnmatch_lines_random([f"{name} -- *pytest_plugin.py:*" for name in FIXTURES])


def test_examples_in_the_docstrings_of_fixtures_pass(project):
    docstrings = [inspect.cleandoc(getattr(plugin, name).__doc__) for name in FIXTURES]
    examples = [doc.split("```")[1].removeprefix("python") for doc in docstrings]
    project.makepyfile("\n".join(map(textwrap.dedent, examples)))
    project.runpytest().assert_outcomes(passed=4)


def test_wrong_marker_option_is_named(project):
    project.makepyfile("""
        import pytest

        @pytest.mark.ad_service(pagesize=2)
        def test_it(ad_client):
            pass
    """)
    result = project.runpytest()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["E *unexpected keyword argument 'pagesize'*"])


def test_marker_takes_keyword_arguments_only(project):
    project.makepyfile("""
        import pytest

        @pytest.mark.ad_service("halden")
        def test_it(ad_client):
            pass
    """)
    project.runpytest().stdout.fnmatch_lines(["*ad_service takes keyword arguments only*"])


def test_report_of_a_failure_shows_the_last_20_requests(project):
    project.makepyfile("""
        import pytest

        from adclient import Request
        from adclient.testing import Fault

        @pytest.mark.ad_service(token="s3cret")
        def test_it(ad_client, fake_ad_service):
            for _ in range(46):
                ad_client.beta.list_campaigns(account_id="account_b7e0")
            fake_ad_service.handle(Request(method="POST", url="https://x.test/v2", body=b"[1]"))
            fake_ad_service.faults.add(Fault.dropped())
            list(ad_client.beta.list_campaigns(account_id="account_b204"))
            ad_client.alpha.update_creative(
                account_id="account_a91f",
                creative_id="creative_2f70",
                fields={"headline": "long " * 99},
            )
            assert False
    """)
    result = project.runpytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*- Requests to the fake ad service -*",
            "… 31 earlier",
            "POST /v2 → 401*",
            "GET /v1/beta-ads/list-beta-campaigns → no response account_id=account_b204",
            "GET /v1/beta-ads/list-beta-campaigns → 200 account_id=account_b204",
            "GET /v1/beta-ads/list-beta-campaigns → 200 account_id=account_b204 cursor=*",
            "POST /v1/*/update-alpha-creative → 201 account_id=account_a91f *headline*…",
        ]
    )
    shown = result.stdout.str().partition("Requests to the fake ad service")[2]
    assert shown.count(" → ") == 20
    assert "s3cret" not in shown
    assert "authorization" not in shown.lower()
    assert all(len(line) <= 300 for line in shown.splitlines())


def test_every_failure_with_a_service_shows_its_requests_and_no_other(project):
    project.makepyfile("""
        import pytest

        def ask(client):
            client.beta.list_campaigns(account_id="account_0000")

        @pytest.fixture(params=["before", "after"])
        def around(ad_client, request):
            if request.param == "before":
                ask(ad_client)
            yield
            ask(ad_client)

        def test_error_in_setup_or_teardown(around):
            pass

        def test_passes(ad_client):
            ad_client.beta.list_campaigns(account_id="account_b204")

        def test_fails():
            assert False

        def test_asks_nothing(ad_client):
            assert False
    """)
    project.makepyfile(
        test_overridden="""
        import pytest

        from adclient.testing import FakeAdService

        @pytest.fixture(scope="module")
        def fake_ad_service():
            return FakeAdService(page_size=2)

        def test_it(ad_client):
            ad_client.beta.list_campaigns(account_id="account_b204")
            assert False
    """
    )
    result = project.runpytest("-rA")
    result.assert_outcomes(passed=2, failed=3, errors=2)
    title = "*- Requests to the fake ad service -*"
    result.stdout.fnmatch_lines(
        [title, "GET * → 404 *", title, "GET * → 404 *", title, "none", title, "GET * → 200 *"]
    )
    assert result.stdout.str().count("Requests to the fake ad service") == 4


def test_service_is_released_after_its_test(project):
    project.makepyfile("""
        import gc
        import weakref

        seen = []

        def test_it(fake_ad_service):
            seen.append(weakref.ref(fake_ad_service))

        def test_it_is_gone():
            gc.collect()
            assert seen[0]() is None
    """)
    project.runpytest().assert_outcomes(passed=2)


def test_unused_plugin_imports_nothing_more(project, monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # other plugins may import httpx
    project.makepyfile("""
        import sys

        def test_it():
            ours = {name for name in sys.modules if name.startswith("adclient")}
            assert ours == {"adclient", "adclient._version", "adclient.pytest_plugin"}
            assert not {"httpx", "attrs", "cattrs"} & sys.modules.keys()
    """)
    project.runpytest_subprocess("-p", "adclient.pytest_plugin").assert_outcomes(passed=1)


def test_unmet_fault_fails_a_test_that_asks_for_it(project):
    project.makepyfile("""
        import pytest

        from adclient.testing import Fault

        pytestmark = pytest.mark.ad_service(fail_on_unmet_faults=True)

        def read(fake, client):
            fake.faults.add(Fault.status(503), operation="beta.list_campaigns")
            client.beta.list_campaigns(account_id="account_b204")

        def test_met(fake_ad_service, ad_client):
            read(fake_ad_service, ad_client)

        def test_unmet(fake_ad_service, ad_client):
            read(fake_ad_service, ad_client)
            fake_ad_service.faults.add(Fault.refused(), operation="gamma.list_ads")

        @pytest.mark.ad_service(fail_on_unmet_faults=False)
        def test_that_does_not_ask(fake_ad_service):
            fake_ad_service.faults.add(Fault.refused())

        def test_without_a_service():
            pass
    """)
    result = project.runpytest()
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(
        ["*_ test_unmet _*", "no request met these faults:", "Fault(*connection refused*"]
    )
    result.stdout.no_fnmatch_line("*pytest_plugin.py*")
