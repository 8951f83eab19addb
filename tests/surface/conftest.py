import os

import pytest

_OURS = ("adclient_", "http_proxy", "https_proxy", "all_proxy", "no_proxy", "ssl_cert")


@pytest.fixture(autouse=True)
def _no_settings_in_the_environment(monkeypatch):
    for name in list(os.environ):
        if name.lower().startswith(_OURS):
            monkeypatch.delenv(name)
