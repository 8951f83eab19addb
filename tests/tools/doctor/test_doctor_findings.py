"""What the doctor finds out besides paging: accounts, credentials, searches; and the code."""

import httpx
from cases import each_case
from doctor_services import ACCOUNT, Listing, Service, examined

# Accounts.

NO_BETA = "beta.list_campaigns and 1 other: not accepted: 404 no such account"
NO_BETA += "; pass an account of beta with `--account`"
IN_BODY = NO_BETA.replace("not accepted", "the account is refused in the body")
BODY, BETA = Listing(place="body"), ("beta.list_campaigns", "beta.detect_creative_fatigue")


@each_case(
    ("service", "accounts", "problem"),
    (Service(), [ACCOUNT, "other"], "other was not used for any read; examine it alone"),
    (Service(foreign=("beta",)), ACCOUNT, NO_BETA),
    # It reads the body, so a query gets no account of its own.
    (Service(foreign=("beta",), listing=BODY), ACCOUNT, NO_BETA),
    (Service(foreign=("beta",), others=dict.fromkeys(BETA, BODY)), ACCOUNT, IN_BODY),
)
def test_account_that_does_not_fit_is_a_problem(service, accounts, problem) -> None:
    assert examined(service, account_id=accounts).problems == (problem,)


def test_first_of_several_empty_accounts_is_taken() -> None:
    service = Service(account="empty", listing=Listing(count=0))
    assert examined(Service(account="empty"))["read parameters"].certainty == "observed"
    report = examined(service, account_id=["one", "two"])
    assert {each.account_id for each in report.service.listings.values()} == {"one"}


# Credentials, searches and headers.


def public(request, items, more):
    """Without credentials, there are no items."""
    return (items, more) if "authorization" in request.headers else ([], None)


def failing(request, response):
    """Without credentials, it fails."""
    return response if "authorization" in request.headers else httpx.Response(500)


KEY, TOKEN = {"auth": lambda _: {"X-Api-Key": "sesame"}}, {"token": "sesame"}
CALLED = {"token": lambda: "sesame"}
TENANT = {"headers": {"x-tenant": "t"}}
NEEDED, NEEDLESS = "needed, and those given work", "none needed for reads"
UNKNOWN = "those given are accepted; whether they are needed is unknown"


@each_case(
    ("service", "given", "certainty", "conclusion"),
    (Service(header="x-api-key"), TOKEN, "observed", "the given ones are refused"),
    (Service(header="x-api-key"), {}, "observed", "needed"),
    (Service(header="authorization", secret="Bearer sesame"), CALLED, "observed", NEEDED),
    (Service(header="x-api-key", tenant="t"), KEY | TENANT, "observed", NEEDED),
    (Service(tenant="t"), TOKEN | TENANT, "observed", NEEDLESS),
    (Service(listing=Listing(count=0)), {}, "likely", NEEDLESS),
    (Service(turn=public), TOKEN, "likely", NEEDED),
    (Service(change=failing), TOKEN, "not observed", UNKNOWN),
)
def test_credentials_are_needed_or_not(service, given, certainty, conclusion) -> None:
    found = examined(service, **given)["credentials"]
    assert (found.certainty, found.conclusion) == (certainty, conclusion)


def as_words(text, query, items):
    """Takes the whole text for words to search for, and ignores brackets."""
    return [item for item in items if text is None or text in item["name"]]


def as_any_word(text, query, items):
    """The same by every word; but it understands brackets."""
    if text is None:
        return [item for item in items if query in (None, item["name"])]
    return [item for item in items if item["name"].split()[1] in text] + items[:2]


@each_case("search", as_words, as_any_word)
def test_targeting_without_a_clear_effect_is_not_observed(search) -> None:
    assert examined(Service(search=search))["objects"].certainty == "not observed"
    report = examined(Service(search=as_words), targeting={"type": "X"})
    assert "no style of the targeting has an effect" in report.problems[0]
    assert examined(Service(), targeting={"query": "Name 22"}).problems == ()


DEFAULT = ("x-request-id", "request-id")


@each_case(
    ("headers", "certainty", "names"),
    ({"x-request-id": "r{}"}, "observed", DEFAULT),
    ({"x-request-id": "0", "request-id": "r{}"}, "observed", ("request-id",)),
    ({"x-amzn-requestid": "r{}", "cf-ray": "r{}"}, "observed", ("x-amzn-requestid", "cf-ray")),
    ({"x-request-id": "always the same"}, "likely", DEFAULT),
)
def test_header_with_a_new_value_each_time_is_the_request_id(headers, certainty, names) -> None:
    report = examined(Service(headers=headers))
    assert report["request id"].certainty == certainty
    assert tuple(report.conventions().request_id_headers) == names
