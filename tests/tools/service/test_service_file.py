"""Service files: what they contain, and the clients that are made from them."""

import json
import re
import warnings

import anyio
import httpx
import pytest
from cases import each_case
from clients import (
    SECRET,
    Service,
    a_draft,
    a_page,
    close,
    each_client_class,
    everything,
    read,
    sync_and_async,
    wait,
    write,
)
from hypothesis import given, strategies as st

from adclient import (
    AdClient,
    AdClientError,
    ConfigurationError,
    Conventions,
    Policy,
    PolicyRefused,
    SQLiteLedger,
)
from adclient._command import main
from adclient._core.operations import READS
from adclient._service import model
from adclient._service.reading import CONTINUATIONS, read_service
from adclient._service.writing import text_of
from adclient.conventions import ReadConventions
from adclient.testing import FakeAdService

# What is written is read again.

names = st.text(max_size=8)
counts = st.none() | st.integers(0, 99)
low, high = st.none() | st.integers(0, 9), st.none() | st.integers(9, 99)
forms = st.sampled_from(["boolean", "integer", "number", "string", "array", "object", "null"])


def shapes(inner):
    return st.builds(
        model.Shape,
        types=st.lists(forms, max_size=2).map(tuple),
        is_optional=st.booleans(),
        minimum=low | st.decimals(-99, 9, allow_nan=False, places=2),
        maximum=high | st.decimals(9, 99, allow_nan=False, places=2),
        decimals=counts,
        min_length=low,
        max_length=high,
        format=st.none() | st.sampled_from(["date", "uri"]),
        distinct=counts,
        values=st.lists(names, max_size=2).map(tuple),
        reference=st.none() | names,
        items=st.none() | inner,
        properties=st.dictionaries(names, inner, max_size=2),
    )


tables = st.dictionaries(names, shapes(shapes(st.just(model.Shape()))), max_size=2)
reads = st.sampled_from([*READS])
settings = {
    "read_parameters": st.sampled_from(["query", "body"]),
    "object_style": st.sampled_from(["json", "deep_object"]),
    "cursor_parameter": st.sampled_from(["after", "page[after]", "ä"]),
    "follow_next_urls": st.booleans(),
    "continuation": st.sampled_from([*CONTINUATIONS.values()]),
    "end_of_listing": st.sampled_from(["null", "missing", "empty", "false"]),
    "page_size": st.sampled_from([None, {"limit": 200}, {"page[size]": 1}]),
}
conventions = st.builds(
    Conventions,
    **settings,
    request_id_headers=st.lists(st.sampled_from(["x-request-id", "x-id"]), max_size=2),
    reads=st.dictionaries(reads, st.fixed_dictionaries({}, optional=settings), max_size=2),
)
listings = st.builds(
    model.Listing,
    account_id=names,
    count=st.integers(0, 9),
    is_complete=st.booleans(),
    page_size=st.none() | st.integers(1, 9),
    next=st.none()
    | st.builds(
        model.Next,
        form=st.sampled_from(["string", "number", "object", "URL"]),
        parameters=st.lists(names, max_size=2).map(tuple),
        host=st.none() | st.sampled_from(["same", "other", "relative"]),
        key=st.none() | names,
    ),
    item=tables,
    page=tables.filter(lambda table: "next" not in table),
    extra=tables.filter(lambda table: table.keys().isdisjoint({"data", "page"})),
)
services = st.builds(
    model.Service,
    url=st.just("https://ads.example.com"),
    accounts=st.lists(names, max_size=2).map(tuple),
    auth=st.none()
    | st.builds(model.AuthShape, scheme=names, env=names.filter(bool), file=st.none()),
    headers=st.just({}) | st.just({"x-tenant": "acme"}),
    ca_file=st.none() | names,
    proxy=st.none() | st.just("http://proxy.example.com:3128"),
    policy=st.none() | names,
    ledger=st.none() | names,
    conventions=st.just(Conventions()) | conventions,
    certainty=st.dictionaries(
        st.sampled_from([*ReadConventions.__annotations__, "gamma.list_ads.continuation"]),
        st.sampled_from(["observed", "likely", "not observed"]),
        max_size=3,
    ),
    errors=st.none()
    | st.just(model.ErrorShape())
    | st.builds(model.ErrorShape, body=names, statuses=st.just({"x": 404})),
    listings=st.dictionaries(reads, listings, max_size=2),
)


@given(service=services)
def test_what_is_written_is_read_again(tmp_path_factory, service) -> None:
    path = tmp_path_factory.getbasetemp() / "service.toml"
    path.write_text(text_of(service), "utf-8")
    assert read_service(path) == service


@each_case("read", [None, "gamma.list_ads"])
@each_case("has_table", [True, False])
def test_suggestion_is_a_comment_that_can_be_taken_in_use(tmp_path, read, has_table) -> None:
    path = tmp_path / "service.toml"
    setting, size = {"cursor_parameter": "after"} if has_table else {}, {"page_size": {"limit": 20}}
    tables = [each if read is None else {"reads": {read: each}} for each in (setting, size)]
    tables.append({**setting, **size} if read is None else {"reads": {read: {**setting, **size}}})
    before, suggested, after = tables if has_table else ({}, *tables[1:])
    service = model.Service(
        url="https://ads.example.com",
        conventions=Conventions(**before),
        listings={"gamma.list_ads": model.Listing(account_id="a")},
    )
    path.write_text(text_of(service, suggested), "utf-8")
    assert read_service(path) == service
    path.write_text(re.sub("(?m)^# (?=\\[|page_size)", "", path.read_text("utf-8")), "utf-8")
    assert read_service(path).conventions == Conventions(**after)


def test_read_can_have_no_page_size(tmp_path) -> None:
    path = tmp_path / "service.toml"
    own = {"gamma.list_ads": {"page_size": None}}
    settings = Conventions(page_size={"limit": 200}, reads=own)
    service = model.Service(url="https://ads.example.com", conventions=settings)
    path.write_text(text_of(service), "utf-8")
    assert "page_size = { limit = 200 }\n" in path.read_text("utf-8")
    assert 'page_size = "none"\n' in path.read_text("utf-8")
    assert read_service(path) == service


HEAD = 'format = 1\nurl = "https://ads.example.com"\n'
ADS = f'{HEAD}[conventions.reads."gamma.list_ads"]\n'
LISTING = f'{HEAD}[listings."gamma.list_ads"]\naccount_id = "a"\n[listings."gamma.list_ads"'
WRONG = [
    ("# nothing", "the file has none", ""),
    ("format = 2", "expected format = 1", "format"),
    ("format = 1", "url is missing", "url"),
    ('format = 1\nurl = "ads.example.com"', "base_url must start with http", "url"),
    (f'{HEAD}token = "{SECRET}"', "token is not a key here", ""),
    (f'{HEAD}[auth]\ntoken = "{SECRET}"', "token is not a key here: expected scheme", "auth"),
    ('format = true\nurl = "https://ads.example.com"', "expected format = 1", "format"),
    (f"{HEAD}[auth]", "expected either env", "auth"),
    (f'{HEAD}[auth]\nenv = ""', "expected either env", "auth"),
    (f'{HEAD}[auth]\nfile = ""', "expected either env", "auth"),
    (f'{HEAD}ledger = "postgresql://u:{SECRET}@h/db"', "use PGPASSWORD", "ledger"),
    (f'{HEAD}ledger = "postgresql://h/db?user=u&password={SECRET}"', "use PGPASSWORD", "ledger"),
    (
        f'format = 1\nurl = "https://u:{SECRET}@ads.example.com"',
        "must not contain a user name",
        "url",
    ),
    (f'{HEAD}[auth]\nenv = "A"\nfile = "b"', "expected either env", "auth"),
    (f'{HEAD}[auth]\nenv = "A"\nheader = "a b"', "header", "header"),
    (f'{HEAD}proxy = "http://u:{SECRET}@p.example.com:1"', "holds no secrets", "proxy"),
    (f'{HEAD}[headers]\nauthorization = "{SECRET}"', "authorization is set by", "headers"),
    (f"{HEAD}conventions = 3", "expected a table", "conventions"),
    (
        f'{HEAD}[conventions]\n\ncursor_paramter = "a"',
        "did you mean cursor_parameter?",
        "conventions",
    ),
    (f"{HEAD}[conventions]\npage_size = 200", "page_size must be one whole number", "page_size"),
    (
        f"{ADS}\npage_size = {{ limit = 2.5 }}",
        "gamma.list_ads: conventions: page_size must",
        "page_size",
    ),
    (f'{HEAD}[conventions]\nread_parameters = "header"', "'query' or 'body'", "read_parameters"),
    (
        f'{HEAD}[conventions]\ncontinuation = "os.system"',
        "'dict' or 'query_of_url'",
        "continuation",
    ),
    (
        f'{HEAD}[conventions.reads."gamma.ads"]\nend_of_listing = "null"',
        "gamma.ads is none of",
        "gamma.ads",
    ),
    (
        f"{ADS}rate_limit_scope = 'call'",
        "rate_limit_scope is none of read_parameters",
        "rate_limit_scope",
    ),
    (f"{ADS}\ncursor_paramter = 'a'", "did you mean cursor_parameter?", "cursor_paramter"),
    (
        f"{ADS}\nend_of_listing = 'nil'",
        "gamma.list_ads: conventions: end_of_listing must",
        "end_of_listing",
    ),
    (
        f"{ADS}continuation = 'os.system'",
        "gamma.list_ads: expected 'none' or 'dict'",
        "continuation",
    ),
    (
        f'{HEAD}[conventions]\nreads = {{ "gamma.list_ads" = 3 }}',
        "expected a table",
        "gamma.list_ads",
    ),
    (f"{HEAD}[conventions]\nreads = 3", "reads must be settings", "reads"),
    (f'{HEAD}[conventions]\ncontinuation = ["dict"]', "'dict' or 'query_of_url'", "continuation"),
    (f'{HEAD}[certainty]\ncursor = "likely"', "cursor is none of", "cursor"),
    (
        f'{HEAD}[certainty]\ncursor_parameter = "sure"',
        "expected one of observed, likely, not observed",
        "cursor_parameter",
    ),
    (f'{HEAD}[listings."gamma.ads"]\naccount_id = "a"', "gamma.ads is none of", "gamma.ads"),
    (f'{HEAD}[listings."gamma.list_ads"]\ncount = 3', "account_id is missing", "account_id"),
    (
        f'{HEAD}[listings."gamma.list_ads"]\naccount_id = 3',
        "expected text, got a number",
        "account_id",
    ),
    (
        f'{HEAD}[listings."gamma.list_ads"]\naccount_id = "a"\n'
        '[listings."gamma.list_ads".item]\nid = { types = ["text"] }',
        "expected one of boolean, integer",
        "types 1",
    ),
    *[
        (f"{LISTING}.item]\nid = {{ minimum = 9, {shape} }}", problem, place)
        for shape, problem, place in (
            ("maximum = 8", "minimum is above maximum", "minimum"),
            ("maximum = inf", "expected a finite number", "maximum"),
            ("maximum = nan", "expected a finite number", "maximum"),
            ("min_length = 2, max_length = 1", "min_length is above max_length", "min_length"),
            ("decimals = -1", "expected 0 or more", "decimals"),
            ("distinct = -1", "expected 0 or more", "distinct"),
        )
    ],
    (f"{LISTING}.page]\n\nnext = {{}}", "next is not a field that page describes", "next"),
    (f"{LISTING}.extra]\n\ndata = {{}}", "data is not a field that extra describes", "data"),
    (f"{LISTING}.extra]\n\npage = {{}}", "page is not a field that extra describes", "page"),
    (f'{HEAD}[listings."gamma.list_ads"]\naccount_id = "a"\ncount = -1', "0 or more", "count"),
    (
        f'{HEAD}[listings."gamma.list_ads"]\naccount_id = "a"\npage_size = 0',
        "1 or more",
        "page_size",
    ),
    (f"{HEAD}[errors]\n\nstatuses = {{ unauthenticated = 42 }}", "from 200 to 599", "statuses"),
]


@each_case(("text", "problem", "place"), WRONG)
def test_wrong_file_is_refused_with_the_place_in_it(tmp_path, text, problem, place) -> None:
    path = tmp_path / "service.toml"
    path.write_text(text)
    with pytest.raises(ConfigurationError) as caught:
        AdClient.from_service(path)
    told = str(caught.value)
    assert problem in told
    [where] = re.findall(rf"^{re.escape(str(path))}(?:, ([^:]+))?: ", told)
    assert re.findall(r'"[^"]+"|[^."]+', where)[-1:] in ([], [place], [f'"{place}"'])
    assert bool(where) == bool(place)
    assert SECRET not in told


# Clients.

FILE = """\
format = 1
url = "https://ads.example.com/prefix"

[auth]
env = "ADS_KEY"
scheme = ""
header = "X-Api-Key"

[headers]
x-tenant = "acme"

[conventions]
cursor_parameter = "token"

[conventions.reads."gamma.list_ads"]
cursor_parameter = "page"
"""


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv("ADS_KEY", SECRET)
    path = tmp_path / "service.toml"
    path.write_text(FILE)
    return path


@pytest.mark.parametrize("is_named", [False, True], ids=["path", "environment"])
@sync_and_async
async def test_client_of_a_file_sends_what_the_file_says(
    client_kind, path, is_named, monkeypatch
) -> None:
    service = Service(a_page("a", 2), a_page("b"), a_page("c", "z"), a_page("d"))
    given = {"transport": service.transport, "headers": {"x-job": "7"}}
    if is_named:
        monkeypatch.setenv("ADCLIENT_SERVICE", str(path))
        client = client_kind.client(**given)
    else:
        client = client_kind.client.from_service(path, **given)
    await everything(await wait(client.gamma.list_ads(account_id="a")))
    await everything(await wait(client.beta.list_campaigns(account_id="a")))
    assert service.queries[1::2] == ["account_id=a&page=2", "account_id=a&token=z"]
    for request in service.requests:
        assert str(request.url).startswith("https://ads.example.com/prefix/v1/")
        assert request.headers["x-api-key"] == SECRET
        assert (request.headers["x-tenant"], request.headers["x-job"]) == ("acme", "7")
        assert "authorization" not in request.headers
    await close(client)


@sync_and_async
async def test_explicit_arguments_win_over_the_file(client_kind, path, monkeypatch) -> None:
    monkeypatch.delenv("ADS_KEY")  # it is not needed
    service = Service(a_page("a", "z"), a_page("b"))
    client = client_kind.client.from_service(
        path,
        base_url="https://other.example.com",
        token="mine",
        headers={"x-tenant": "other"},
        conventions=Conventions(cursor_parameter="after"),
        transport=service.transport,
        timeout=7,
    )
    await everything(await wait(read(client)))
    assert service.queries == ["account_id=a", "account_id=a&after=z"]
    headers = service.requests[0].headers
    assert (headers["authorization"], headers["x-tenant"]) == ("Bearer mine", "other")
    assert service.requests[0].url.host == "other.example.com"
    assert "timeout 7 s" in repr(client)
    await close(client)


@each_client_class
def test_environment_with_two_services_is_refused(client_class, path, monkeypatch) -> None:
    monkeypatch.setenv("ADCLIENT_SERVICE", str(path))
    monkeypatch.setenv("ADCLIENT_BASE_URL", "https://ads.example.com")
    with pytest.raises(ConfigurationError, match="are both set"):
        client_class()
    # Neither has an effect on a client that is told where to go.
    assert "credentials: none" in repr(client_class("https://other.example.com"))
    assert "credentials: auth" in repr(client_class.from_service(path))


@each_client_class
def test_headers_that_are_no_mapping_are_refused(client_class, path) -> None:
    with pytest.raises(ConfigurationError, match="headers: expected a mapping"):
        client_class.from_service(path, headers=[("a", "b")])


@each_client_class
def test_missing_file_or_secret_is_refused(client_class, path, monkeypatch) -> None:
    with pytest.raises(ConfigurationError, match="pass its path, or set ADCLIENT_SERVICE"):
        client_class.from_service()
    monkeypatch.delenv("ADS_KEY")
    with pytest.raises(ConfigurationError, match="ADS_KEY is not set"):
        client_class.from_service(path)
    monkeypatch.setenv("ADS_KEY", f"{SECRET}\nx")
    with pytest.raises(ConfigurationError) as caught:
        client_class.from_service(path)
    assert SECRET not in str(caught.value)


AUTH = """\
[auth]
file = "key"
scheme = "{scheme}"
"""
SENT = [
    ("Bearer", "abc", "Bearer abc"),
    ("Token", "abc", "Token abc"),
    ("Basic", "user:pässword", "Basic dXNlcjpww6Rzc3dvcmQ="),
    ("Basic", "dXNlcjpw", "Basic dXNlcjpw"),
    ("", "abc", "abc"),
]


@pytest.mark.parametrize(("scheme", "secret", "sent"), SENT)
@sync_and_async
async def test_secret_of_a_file_is_sent_as_its_scheme_asks(
    client_kind, tmp_path, scheme, secret, sent
) -> None:
    path, key = tmp_path / "service.toml", tmp_path / "key"
    path.write_text(HEAD + AUTH.format(scheme=scheme))
    key.write_text(f"{secret}\n", "utf-8")
    service = Service(a_page(), a_page())
    client = client_kind.client.from_service(path, transport=service.transport)
    await wait(read(client))
    assert service.requests[0].headers["authorization"] == sent
    key.write_text("renewed")  # it is read for each request
    await wait(read(client))
    assert service.requests[1].headers["authorization"].endswith("renewed")
    key.unlink()
    with pytest.raises(ConfigurationError, match="cannot be read: No such file"):
        await wait(read(client))
    key.write_bytes(b"\xff")
    with pytest.raises(ConfigurationError, match="cannot be read: it is not UTF-8"):
        await wait(read(client))
    await close(client)


@sync_and_async
async def test_policy_and_ledger_of_the_file_apply(client_kind, tmp_path) -> None:
    (tmp_path / "policy.toml").write_text('accounts = ["a"]')
    path = tmp_path / "service.toml"
    path.write_text(f'{HEAD}policy = "policy.toml"\nledger = "drafts.db"\n')
    service = Service(a_draft(), a_page())
    client = client_kind.client.from_service(path, transport=service.transport)
    await wait(write(client))
    with pytest.raises(PolicyRefused):
        await wait(write(client, account_id="b"))
    staged, refused = SQLiteLedger(tmp_path / "drafts.db").entries()
    assert (staged.draft_id, refused.state) == ("draft_7c2e", "refused")
    await close(client)
    other = client_kind.client.from_service(
        path, transport=service.transport, policy=Policy(), ledger=SQLiteLedger(tmp_path / "b.db")
    )
    await wait(read(other, account_id="b"))
    await close(other)


@each_client_class
def test_ca_file_and_proxy_apply_unless_something_else_sends(client_class, tmp_path) -> None:
    path = tmp_path / "service.toml"
    path.write_text(f'{HEAD}ca_file = "no.pem"')
    with pytest.raises(ConfigurationError, match=r"no\.pem"):
        client_class.from_service(path)
    path.write_text(f'{HEAD}proxy = "ftp://proxy.example.com"')
    with pytest.raises(ConfigurationError, match="proxy"):
        client_class.from_service(path)
    path.write_text(f'{HEAD}proxy = "http://proxy.example.com"\nca_file = "no.pem"')
    client_class.from_service(path, transport=Service().transport)


@each_client_class
def test_setting_that_is_only_likely_warns(client_class, path) -> None:
    path.write_text(
        f'{FILE}\n[certainty]\ncursor_parameter = "likely"\nread_parameters = "observed"'
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(2):
            client_class.from_service(path)
    (warning,) = caught
    assert "only likely, not observed: cursor_parameter" in str(warning.message)
    assert warning.filename == __file__
    with warnings.catch_warnings(action="error"):
        client_class.from_service(path, conventions=Conventions())


@sync_and_async
async def test_traceback_of_a_client_of_the_environment_shows_no_secret(
    client_kind, path, monkeypatch
) -> None:
    monkeypatch.setenv("ADCLIENT_SERVICE", str(path))
    with pytest.raises(AdClientError) as caught:
        client_kind.client(token=SECRET, headers={"x-key": SECRET}, timeout=0)
    check_frames(caught.tb)


def check_frames(frame) -> None:
    """Check that no frame of a traceback, besides those of this file, shows the secret."""
    while frame is not None:
        if frame.tb_frame.f_code.co_filename != __file__:
            assert SECRET not in repr(frame.tb_frame.f_locals)
        frame = frame.tb_next


@each_client_class
def test_traceback_of_another_error_shows_no_secret(client_class, path, monkeypatch) -> None:
    def fail(_: object) -> None:
        raise OSError("no ledger")

    path.write_text('ledger = "drafts.db"\n' + path.read_text())
    monkeypatch.setattr("adclient.ledger.open_ledger", fail)
    with pytest.raises(OSError, match="no ledger") as caught:
        client_class.from_service(path, headers={"x-key": SECRET})
    shown = [repr(each.frame.f_locals) for each in caught.traceback]
    assert "<arguments>" in "".join(shown)
    assert SECRET not in "".join(shown)


def test_function_that_a_file_cannot_name_is_refused() -> None:
    conventions = Conventions(continuation=lambda value: {"after": value})
    with pytest.raises(ValueError, match="cannot name <function"):
        text_of(model.Service(url="https://ads.example.com", conventions=conventions))


def test_ledger_without_a_password_is_no_secret(tmp_path) -> None:
    path = tmp_path / "service.toml"
    path.write_text(f'{HEAD}ledger = "postgresql://me@h:5432/db?application_name=a@b"')
    assert "@b" in str(read_service(path).ledger)


def test_warning_in_code_without_a_name() -> None:
    source = "from adclient import AdClient; AdClient('http://ads.example.com', token='t0ken')"
    with pytest.warns(UserWarning, match="plain http"):
        exec(source, {})  # as template engines do


# The command.


def test_every_command_takes_the_service_from_the_file(
    path, tmp_path, monkeypatch, capsys, fake_ad_service
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policy.toml").write_text('accounts = ["account_b204"]')
    text = FILE.replace("https://ads.example.com/prefix", fake_ad_service.base_url)
    path.write_text(
        'policy = "policy.toml"\nledger = "drafts.db"\n' + text.replace("token", "cursor")
    )
    (tmp_path / "plan.toml").write_text(
        'id = "p1"\n[[change]]\ncall = "beta.pause_campaign"\n'
        'account_id = "account_b204"\ncampaign_id = "campaign_57a7"\n'
    )
    with fake_ad_service.as_environment():
        for name in ("ADCLIENT_BASE_URL", "ADCLIENT_TOKEN"):
            monkeypatch.delenv(name)
        service = ["--service", "service.toml"]
        assert main(["list", "beta.campaigns", "-a", "account_b204", *service]) == 0
        listed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert len(listed) > 1
        assert main(["list", "beta.campaigns", "-a", "account_c3d8", *service]) == 2
        assert "policy" in capsys.readouterr().err
        (tmp_path / "policy.toml").write_text('accounts = ["account_c3d8"]')
        assert main(["plan", "check", "plan.toml", *service]) == 3
        (tmp_path / "policy.toml").write_text('accounts = ["account_b204"]')
        assert main(["plan", "check", "plan.toml", *service]) == 0
        assert main(["plan", "stage", "plan.toml", "--new-ledger", *service]) == 0
        monkeypatch.setenv("ADCLIENT_SERVICE", "service.toml")
        capsys.readouterr()
        assert main(["ledger", "show", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["operation"] == "beta.pause_campaign"
    sent = fake_ad_service.requests[0].headers
    assert sent["x-api-key"] == SECRET
    # An address on the command line is another service.
    with fake_ad_service.as_environment():
        monkeypatch.delenv("ADCLIENT_BASE_URL")
        assert (
            main(
                ["list", "beta.campaigns", "-a", "account_b204", "--url", fake_ad_service.base_url]
            )
            == 0
        )
    assert "x-api-key" not in fake_ad_service.requests[-1].headers


@each_case(("options", "sent"), [
    (["--token", "abc"], {"authorization": "Bearer abc"}),
    (["--token", "abc", "--auth-scheme", "Token"], {"authorization": "Token abc"}),
    (["--token", "u:p", "--auth-scheme", "Basic"], {"authorization": "Basic dTpw"}),
    (["--token", "abc", "--auth-scheme", ""], {"authorization": "abc"}),
    (["--token", "abc", "--token-header", "x-key"], {"x-key": "abc"}),
    (["--token", "abc", "--token-header", "x-key", "--auth-scheme", "K"], {"x-key": "K abc"}),
])  # fmt: skip
def test_command_sends_the_token_as_it_is_told(options, sent) -> None:
    fake = FakeAdService()
    with fake.as_environment():
        assert main(["list", "beta.campaigns", "-a", "account_b204", *options]) == 0
    headers = fake.requests[0].headers
    assert {
        name: headers.get(name) for name in ("authorization", "x-key") if name in headers
    } == sent


def test_fake_with_the_address_of_the_file_takes_its_place(path, fake_ad_service) -> None:
    fake_ad_service.base_url = "https://ads.example.com/prefix"
    with fake_ad_service.as_environment(), AdClient.from_service(path) as client:
        client.beta.list_campaigns(account_id="account_b204")
    assert len(fake_ad_service.requests) == 1


def test_block_of_a_fake_hides_the_service_of_the_environment(fake_ad_service, monkeypatch) -> None:
    monkeypatch.setenv("ADCLIENT_SERVICE", "of-production.toml")
    with fake_ad_service.as_environment(), AdClient() as client:
        client.beta.list_campaigns(account_id="account_b204")
    assert len(fake_ad_service.requests) == 1


@each_client_class
def test_client_in_the_block_of_a_fake_leaves_what_is_of_the_service_alone(
    client_class, tmp_path, monkeypatch
) -> None:
    (tmp_path / "policy.toml").write_text('accounts = ["account_b204"]')
    path = tmp_path / "service.toml"
    path.write_text(
        f'{HEAD}policy = "policy.toml"\nledger = "drafts.db"\nca_file = "no.pem"\n'
        'proxy = "http://proxy.example.com"\n[auth]\nfile = "no-secret"\n'
    )
    fake = FakeAdService(token="of-the-fake")
    fake.base_url = "https://ads.example.com"
    own = SQLiteLedger(tmp_path / "own.db")

    async def scenario() -> None:
        for arguments in ({}, {"ledger": own}):
            client = client_class.from_service(path, **arguments)
            ids = {"account_id": "account_b204", "campaign_id": "campaign_57a7"}
            await wait(client.beta.pause_campaign(**ids))
            with pytest.raises(PolicyRefused):
                await wait(client.beta.list_campaigns(account_id="account_c3d8"))
            await close(client)

    with fake.as_environment():
        anyio.run(scenario)
    headers = [request.headers["authorization"] for request in fake.requests]
    assert headers == ["Bearer of-the-fake"] * 2
    assert not (tmp_path / "drafts.db").exists()
    assert len(own.entries()) == 1
    # A fake without a token needs none.
    fake = FakeAdService()
    fake.base_url = "https://ads.example.com"
    with fake.as_environment():
        assert "credentials: none" in repr(client_class.from_service(path))


SPELLINGS = [
    ("https://ads.example.com", "HTTPS://ADS.example.com:443/"),
    ("https://Ads.example.com:443", "https://ads.example.com"),
    ("http://ads.example.com/prefix", "http://ads.example.com:80/prefix/"),
]


@each_case(("registered", "spelling"), SPELLINGS)
def test_fake_is_found_however_its_address_is_spelt(registered, spelling, tmp_path) -> None:
    fake = FakeAdService()
    fake.base_url = registered
    path = tmp_path / "service.toml"
    path.write_text(f'format = 1\nurl = "{spelling}"\n')
    with fake.as_environment():
        for client in (AdClient(spelling), AdClient.from_service(path)):
            client.beta.list_campaigns(account_id="account_b204")
    assert len(fake.requests) == 2


@each_case("url", ["http://ads.example.com", "https://ads.example.com:444", "https://ads.example"])
def test_other_address_is_not_that_of_the_fake(url, fake_ad_service) -> None:
    fake_ad_service.base_url = "https://ads.example.com"
    with (
        fake_ad_service.as_environment(),
        AdClient(url, max_retries=0, timeout=0.01) as client,
        pytest.raises(AdClientError),
    ):
        client.beta.list_campaigns(account_id="account_b204")
    assert len(fake_ad_service.requests) == 0


@sync_and_async
async def test_token_of_the_environment_is_not_sent_to_the_service_of_a_file(
    client_kind, tmp_path, monkeypatch
) -> None:
    path = tmp_path / "service.toml"
    path.write_text(HEAD)
    monkeypatch.setenv("ADCLIENT_TOKEN", SECRET)
    monkeypatch.setenv("ADCLIENT_SERVICE", str(path))
    service = Service(a_page(), a_page(), a_page())
    for arguments in ({}, {"token": None, "auth": None}, {"token": "mine"}):
        client = client_kind.client(transport=service.transport, **arguments)
        await wait(read(client))
        await close(client)
    sent = [request.headers.get("authorization") for request in service.requests]
    assert sent == [None, None, "Bearer mine"]


def test_command_does_not_send_the_token_of_the_environment_to_the_service_of_a_file(
    tmp_path, fake_ad_service, monkeypatch
) -> None:
    path = tmp_path / "service.toml"
    path.write_text(f'format = 1\nurl = "{fake_ad_service.base_url}"\n')
    monkeypatch.setenv("ADCLIENT_TOKEN", SECRET)
    with fake_ad_service.as_environment():
        monkeypatch.setenv("ADCLIENT_TOKEN", SECRET)
        command = ["list", "beta.campaigns", "-a", "account_b204", "--service", str(path)]
        assert main(command) == 0
    assert "authorization" not in fake_ad_service.requests[0].headers


ECHOED = [
    ('scheme = "Token"', SECRET, SECRET),
    ('scheme = "Token"\nheader = "x-auth"', SECRET, SECRET),
    ('scheme = ""\nheader = "x-auth"', SECRET, SECRET),
    ('scheme = "Basic"', f"joe:{SECRET}", f"joe:{SECRET}"),
    ('scheme = "basic"\nheader = "x-auth"', f"joe:{SECRET}", SECRET),
    ('scheme = "Basic"', "no-base64-text", "no-base64-text"),
]


@each_case(("auth", "secret", "echoed"), ECHOED)
def test_secret_of_a_file_is_redacted_where_the_service_repeats_it(
    auth, secret, echoed, path, monkeypatch
) -> None:
    monkeypatch.setenv("ADS_KEY", secret)
    path.write_text(f'{HEAD}[auth]\nenv = "ADS_KEY"\n{auth}\n')
    service = Service(httpx.Response(403, json={"error": {"message": f"bad: {echoed}"}}))
    with (
        AdClient.from_service(path, transport=service.transport) as client,
        pytest.raises(AdClientError, match=r"bad: \*\*\*") as caught,
    ):
        read(client)
    assert echoed not in str(caught.value)


@pytest.mark.parametrize("scheme", ["Bearer", "Token"])
@each_client_class
def test_secret_of_a_file_over_plain_http_warns(client_class, scheme, path, monkeypatch) -> None:
    text = 'format = 1\nurl = "http://ads.example.com"\n[auth]\nenv = "ADS_KEY"\n'
    path.write_text(f'{text}scheme = "{scheme}"')
    monkeypatch.setenv("ADCLIENT_SERVICE", str(path))
    for make in (client_class, client_class.from_service):
        with pytest.warns(UserWarning, match="over plain http") as warned:
            make()
        assert [warning.filename for warning in warned] == [__file__]


@each_client_class
def test_refusal_of_two_services_shows_no_secret(client_class, path, monkeypatch) -> None:
    monkeypatch.setenv("ADCLIENT_SERVICE", str(path))
    monkeypatch.setenv("ADCLIENT_BASE_URL", "https://ads.example.com")
    with pytest.raises(ConfigurationError) as caught:
        client_class(token=SECRET, proxy=f"http://u:{SECRET}@p:1", headers={"x-key": SECRET})
    check_frames(caught.tb)


@each_case(("options", "problem"), [
    (["--token", "", "--auth-scheme", "Token"], "token is empty"),
    (["--token-header", "x-key"], "such as --token-env ADCLIENT_TOKEN"),
])  # fmt: skip
def test_command_says_what_its_token_lacks(options, problem, path, capsys) -> None:
    command = ["list", "beta.campaigns", "-a", "a", "--service", str(path)]
    assert main([*command, *options]) == 2
    assert problem in capsys.readouterr().err


def test_command_with_a_ledger_needs_no_service_file(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("ADCLIENT_SERVICE", "no-such.toml")
    ledger = SQLiteLedger(tmp_path / "drafts.db")
    ledger.create()
    assert main(["ledger", "show", "--ledger", str(tmp_path / "drafts.db")]) == 0
