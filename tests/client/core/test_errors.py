import inspect
import re

from cases import each_case

from adclient import errors
from adclient._display import notebook
from adclient.errors import (
    AdClientError,
    ErrorDetails,
    OutcomeUnknown,
    for_status,
    with_unknown_outcome,
)

CLASSES = [
    cls for _, cls in inspect.getmembers(errors, inspect.isclass) if issubclass(cls, AdClientError)
]
PUBLIC = [cls for cls in CLASSES if not re.match("OutcomeUnknown.", cls.__name__)]
FACTS = {
    "operation": "alpha.update_campaign_budget",
    "method": "POST",
    "path": "/v1/alpha-ads/update-alpha-campaign-budget",
    "url": "https://ads.example.com/v1/alpha-ads/update-alpha-campaign-budget",
    "status": 503,
    "code": "busy",
    "message": "The service is busy",
    "details": [{"field": "daily_budget"}],
    "request_id": "req_1",
    "attempts": 3,
    "elapsed": 1.25,
    "retry_after": 2.5,
    "body": "…",
    "argument": "daily_budget",
    "rule": "money",
    "draft_id": "draft_7c2e",
    "idempotency_key": "key-1",
    "cursor": {"after": [1]},
}

# The tree of the design, and what each class is besides.
PARENTS = {
    "AdClientError": (Exception, notebook.HTMLRepr),
    "ConfigurationError": (AdClientError, ValueError),
    "InvalidRequest": (AdClientError, ValueError),
    "PolicyRefused": (errors.InvalidRequest,),
    "LedgerError": (AdClientError,),
    "TransportError": (AdClientError,),
    "ConnectionFailed": (errors.TransportError, ConnectionError),
    "ConnectionLost": (errors.TransportError, ConnectionError),
    "CallTimeout": (errors.TransportError, TimeoutError),
    "APIError": (AdClientError,),
    "BadRequest": (errors.APIError,),
    "Unauthenticated": (errors.APIError,),
    "PermissionDenied": (errors.APIError,),
    "NotFound": (errors.APIError,),
    "Conflict": (errors.APIError,),
    "Unprocessable": (errors.APIError,),
    "RateLimited": (errors.APIError,),
    "ServerError": (errors.APIError,),
    "UnexpectedResponse": (AdClientError,),
    "PaginationError": (AdClientError,),
    "OutcomeUnknown": (AdClientError,),
    "OutcomeUnknownConnectionLost": (OutcomeUnknown, errors.ConnectionLost),
    "OutcomeUnknownTimeout": (OutcomeUnknown, errors.CallTimeout),
    "OutcomeUnknownServerError": (OutcomeUnknown, errors.ServerError),
    "OutcomeUnknownAPIError": (OutcomeUnknown, errors.APIError),
    "OutcomeUnknownResponse": (OutcomeUnknown, errors.UnexpectedResponse),
}


def ancestors(cls):
    """What a class must be an instance of, by the tree alone."""
    found = {cls}
    for parent in PARENTS.get(cls.__name__, ()):
        found |= ancestors(parent)
    return found


@each_case("cls", CLASSES)
def test_error_class_has_the_documented_bases(cls):
    assert cls.__bases__ == PARENTS[cls.__name__]
    drawn = ancestors(cls)
    for other in [*CLASSES, ValueError, ConnectionError, TimeoutError]:
        assert issubclass(cls, other) is (other in drawn), other


def test_error_tree_has_every_class():
    assert {cls.__name__ for cls in CLASSES} == PARENTS.keys()


def test_module_docstring_shows_every_class():
    drawn = errors.__doc__.split("```")[1]
    names = re.findall(r"[├└│·─ ]+([A-Z][A-Za-z]+)(?!…)\b(?!…)", drawn)
    assert sorted(name for name in names if name in PARENTS) == sorted(
        cls.__name__ for cls in PUBLIC if cls is not AdClientError
    )
    assert "AdClientError" in drawn
    assert "OutcomeUnknown…" in drawn


def test_every_public_class_can_be_imported():
    import adclient

    assert {cls.__name__ for cls in PUBLIC} <= set(adclient.__all__)


@each_case("cls", CLASSES)
def test_every_detail_is_an_attribute(cls):
    error = cls("text", **FACTS)
    for name, value in FACTS.items():
        assert getattr(error, name) == value


@each_case("cls", CLASSES)
def test_every_attribute_has_a_default(cls):
    error = cls("text")
    assert str(error) == error.message == "text"
    assert (error.attempts, error.elapsed) == (0, 0.0)
    assert error.outcome_unknown is issubclass(cls, OutcomeUnknown)
    for name in FACTS.keys() - {"message", "attempts", "elapsed"}:
        assert getattr(error, name) is None


def test_every_detail_is_documented():
    assert FACTS.keys() == ErrorDetails.__annotations__.keys()
    for name in [*FACTS, "outcome_unknown"]:
        assert re.search(rf"^ +{name}: ", AdClientError.__doc__, re.MULTILINE)


@each_case(
    ("status", "cls"),
    [
        (400, errors.BadRequest),
        (401, errors.Unauthenticated),
        (403, errors.PermissionDenied),
        (404, errors.NotFound),
        (409, errors.Conflict),
        (422, errors.Unprocessable),
        (429, errors.RateLimited),
        (500, errors.ServerError),
        (599, errors.ServerError),
        (499, errors.APIError),
        (600, errors.APIError),
        (300, errors.APIError),
        (408, errors.APIError),
    ],
)
def test_class_for_a_status(status, cls):
    assert for_status(status) is cls


@each_case(
    "cls",
    [
        errors.ConnectionLost,
        errors.CallTimeout,
        errors.ServerError,
        errors.APIError,
        errors.BadRequest,
        errors.RateLimited,
        errors.UnexpectedResponse,
        errors.ConnectionFailed,
    ],
)
def test_outcome_unknown_class_keeps_its_family(cls):
    both = with_unknown_outcome(cls)
    assert issubclass(both, OutcomeUnknown)
    families = [errors.ConnectionLost, errors.CallTimeout, errors.ServerError, errors.APIError]
    for family in [*families, errors.UnexpectedResponse]:
        assert issubclass(both, family) is issubclass(cls, family)
