"""The pytest plugin of adclient: a fake service and its clients as fixtures.

It is not part of `adclient.testing`, and imports that only in fixtures, because pytest loads its
plugins at every start, even for tests that do not use adclient.
"""

import warnings
from collections.abc import Generator
from typing import TYPE_CHECKING, Any, cast

import pytest

if TYPE_CHECKING:
    from adclient import AdClient, AsyncAdClient
    from adclient.testing import FakeAdService

_SERVICE: "pytest.StashKey[FakeAdService]" = pytest.StashKey()
_IS_MARKED = pytest.StashKey[bool]()
_MEETS_FAULTS = "fail_on_unmet_faults"


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line(
        "markers",
        "ad_service(**options): options of the FakeAdService behind fake_ad_service, "
        "ad_client, async_ad_client and ad_environment, such as page_size=2; "
        f"{_MEETS_FAULTS}=True fails a test in which an added fault met no request.",
    )


@pytest.fixture
def fake_ad_service(request: pytest.FixtureRequest) -> "FakeAdService":
    """A fake of the ad management service, new for each test.

    The marker `ad_service` sets its options.

    Returns:
        A `FakeAdService`, which is also behind the other fixtures of the test.

    Examples:
        ```python
        import pytest

        @pytest.mark.ad_service(page_size=5)
        def test_pages_have_five_items(fake_ad_service):
            page = fake_ad_service.client().gamma.list_ads(account_id="account_c3d8")
            assert len(page.data) == 5
        ```
    """
    from adclient.testing import FakeAdService

    request.node.stash[_IS_MARKED] = True
    options = _options_of(request.node)
    options.pop(_MEETS_FAULTS, None)
    return FakeAdService(**options)


@pytest.fixture
def ad_client(fake_ad_service: "FakeAdService") -> "Generator[AdClient, None, None]":
    """A client of the fake service, closed after the test.

    Yields:
        An `AdClient` of `fake_ad_service`.

    Examples:
        ```python
        def test_pause_waits_for_approval(ad_client, fake_ad_service):
            ad_client.beta.pause_campaign(account_id="account_b204", campaign_id="campaign_57a7")
            assert fake_ad_service.drafts[0].status == "pending_approval"
        ```
    """
    with fake_ad_service.client() as client:
        yield client


@pytest.fixture
def async_ad_client(fake_ad_service: "FakeAdService") -> "AsyncAdClient":
    """An async client of the fake service, for any event loop.

    It opens no connection, and its state for an event loop ends with that loop.

    Returns:
        An `AsyncAdClient` of `fake_ad_service`.

    Examples:
        ```python
        import asyncio

        def test_themes_are_removed(async_ad_client):
            call = async_ad_client.delta.remove_auto_search_themes(account_id="account_d118")
            assert asyncio.run(call).diff.after == []
        ```
    """
    return fake_ad_service.async_client()


@pytest.fixture
def ad_environment(
    fake_ad_service: "FakeAdService", monkeypatch: pytest.MonkeyPatch
) -> "Generator[FakeAdService, None, None]":
    """The fake service, behind every client whose settings come from the environment.

    Yields:
        The same `FakeAdService` as `fake_ad_service`.

    Examples:
        ```python
        from adclient import AdClient

        def pause(campaign_id):  # the code to be tested
            with AdClient() as client:
                client.beta.pause_campaign(account_id="account_b204", campaign_id=campaign_id)

        def test_code_stages_a_draft(ad_environment):
            pause("campaign_57a7")
            assert len(ad_environment.drafts) == 1
        ```
    """
    from adclient.testing._fake.service import ENVIRONMENT

    # So that monkeypatch restores these last, even if the test sets them too.
    for name in ENVIRONMENT:
        monkeypatch.setenv(name, "")
    with fake_ad_service.as_environment():
        yield fake_ad_service


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    """Remember the fake service, also that of a fixture which overrides the one above."""
    value = yield
    if fixturedef.argname == fake_ad_service.__name__:
        request.node.stash[_SERVICE] = cast("FakeAdService", value)
    return value


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Warn of a marker without effect; fail if a fault met no request, and the marker forbids that.

    Not of a marker of a class or module, which also has tests without a fake.
    """
    yield
    service, options = _fake_behind(item), _options_of(item)
    is_own = any(marker.name == "ad_service" for marker in item.own_markers)
    is_ignored = is_own if service is None else options.keys() - {_MEETS_FAULTS}
    if is_ignored and _IS_MARKED not in item.stash:
        uses = "no fixture of adclient" if service is None else "a fake_ad_service of its own"
        text = f"@pytest.mark.ad_service has no effect: the test uses {uses}"
        warnings.warn(pytest.PytestWarning(text), stacklevel=1)
    if service is not None and service.faults.unmet and options.get(_MEETS_FAULTS):
        unmet = "\n".join(map(repr, service.faults.unmet))
        pytest.fail(f"no request met these faults:\n{unmet}", pytrace=False)


def _options_of(node: pytest.Item) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for marker in node.iter_markers("ad_service"):
        if marker.args:
            pytest.fail("@pytest.mark.ad_service takes keyword arguments only", pytrace=False)
        options = {**marker.kwargs, **options}  # the marker closest to the test wins
    return options


def _fake_behind(item: pytest.Item) -> "FakeAdService | None":
    nodes = reversed(item.listchain())
    return next((node.stash[_SERVICE] for node in nodes if _SERVICE in node.stash), None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show the requests to the fake service in the report of a failure."""
    report = yield
    service = _fake_behind(item)
    if service is not None and report.failed:
        from adclient.testing._fake.requests import report as report_of

        report.sections.append(("Requests to the fake ad service", report_of(service.requests)))
    if _SERVICE in item.stash and call.when == "teardown":
        # pytest keeps items until the end of the session; they should not keep their services.
        del item.stash[_SERVICE]
    return report
