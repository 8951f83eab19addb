import pytest
from cases import each_case

from adclient.conventions import Conventions
from adclient.errors import ConfigurationError


@each_case(
    "settings",
    [
        {"read_parameters": "body"},
        {"object_style": "deep_object"},
        {"cursor_parameter": "page[after]"},
        {"follow_next_urls": False},
        {"idempotency_header": "Idempotency-Key"},
        {"rate_limit_scope": "client"},
        {"rate_limit_scope": "call"},
        {"request_id_headers": ["X-Trace"]},
        {"request_id_headers": ()},
        {"end_of_listing": "missing"},
        {"page_size": {"page[size]": 200}},
        {"reads": {"gamma.list_ads": {"cursor_parameter": "page"}}},
        {"reads": {"gamma.list_ads": {"page_size": {"limit": 1}}}},
    ],
)
def test_every_setting_can_be_changed(settings):
    conventions = Conventions(**settings)
    ((name, value),) = settings.items()
    assert getattr(conventions, name) == (tuple(value) if isinstance(value, list) else value)
    assert conventions != Conventions()
    assert hash(conventions) == hash(Conventions(**settings))


@each_case(
    ("name", "values"),
    [
        ("read_parameters", ["path", "", None, True, ["query"], "Query"]),
        ("rate_limit_scope", ["token", "", None, True, "Account", ["account"]]),
        ("object_style", ["form", "", None, {}]),
        ("cursor_parameter", ["", None, 7, b"cursor", "\ud800", "account_id", "date_range"]),
        ("follow_next_urls", ["yes", 1, 0, None]),
        ("continuation", ["cursor", {}, 7]),
        ("idempotency_header", ["", "a b", "a:b", "a\n", 7, "é", b"key"]),
        ("idempotency_header", ["Authorization", "Host", "Content-Length", "content-type"]),
        ("end_of_listing", ["", None, False, "none", ["null"]]),
        ("page_size", [{}, 200, "limit", ["limit", 2], {"limit": 2, "size": 2}, {7: 2}, {"": 2}]),
        ("page_size", [{"limit": size} for size in (0, -1, True, 2.0, "2", None)]),
        ("page_size", [{name: 2} for name in ("cursor", "account_id", "targeting[n]", "\ud800")]),
        ("reads", [None, "gamma.list_ads", {"gamma.list_ads": "page"}, {"gamma.list_ads": None}]),
        ("reads", [{"gamma.list_ads": {"reads": {}}}]),
        ("request_id_headers", ["x-request-id", b"x", ["a b"], [7], [None], [""], None, 7]),
    ],
)
def test_invalid_value_is_refused_by_name(name, values):
    for value in values:
        with pytest.raises(ConfigurationError) as caught:
            Conventions(**{name: value})
        assert caught.value.argument == name
        assert name in str(caught.value)
        assert isinstance(caught.value, ValueError)


def test_caller_cannot_change_what_was_checked():
    size, own = {"limit": 3}, {"cursor_parameter": "page"}
    conventions = Conventions(page_size=size, reads={"gamma.list_ads": own})
    size["limit"], own["cursor_parameter"] = -3, ""
    assert conventions.page_size == {"limit": 3}
    assert conventions.reads["gamma.list_ads"] == {"cursor_parameter": "page"}
