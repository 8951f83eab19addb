"""Service files: what is written is read again, and what is wrong is refused with its place."""

import ast
import keyword
import re
from decimal import Decimal

import attrs
import httpx
import pytest
from cases import each_case
from clients import SECRET
from run_command import run_command

from adclient import AdClient, ConfigurationError, Conventions
from adclient._core.operations import READS
from adclient._service.file import CONTINUATIONS, read_service, text_of
from adclient._service.model import AuthShape, ErrorShape, Listing, Next, Service, Shape, with_paths
from adclient.survey.samples import shapes_of

URL = "https://ads.example.com"
SHAPE = Shape(
    types=("number", "string", "array", "object"),
    is_optional=True,
    items=Shape(types=("string", "null")),
    properties={"deep er": Shape(properties={"deepest": Shape(types=("boolean",))})},
)
ROW = {
    "id": "it's",
    "a.b": None,
    "n": [1, 2.5, Decimal("0.12345678901234567890")],
    "é\x7f": "\ud800",
}
OWN = {
    "read_parameters": "query", "object_style": "json", "cursor_parameter": "page",
    "follow_next_urls": True, "continuation": None, "end_of_listing": "missing", "page_size": None,
}  # fmt: skip
CONVENTIONS_OF_ALL = Conventions(
    read_parameters="body", object_style="deep_object", cursor_parameter="page[after]",
    follow_next_urls=False, continuation=dict, end_of_listing="empty",
    page_size={"page[size]": 200}, rate_limit_errors=[403, "17"],
    retry_after_headers=["retry-after-ms"], request_id_headers=["x-id"],
    reads={"gamma.list_ads": OWN, "beta.list_campaigns": {"page_size": {"limit": 5}}},
)  # fmt: skip
ADS_SEEN = Listing(
    account_id="a", count=9, is_complete=True, page_size=3,
    next=Next(form="object", parameters=("a", "b"), host="other", key="href"),
    rows=(ROW, {"id": "b"}), pages=({"page": {"total": 9}, "meta": {}}, {}),
    item={"id": SHAPE, "a.b": Shape()},
)  # fmt: skip
HEADERS = {
    "x-tenant": "acme", "accept-language": "de-DE,de;q=0.9", "x-api-version": "2024-06-01",
    "user-agent": "team-tool/1.2 (contact@example.com)", "x-since": "2024-06-01T10:00:00.000Z",
    "x-agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)",
    "x-form": "application/vnd.ads.v2+json", "x-origin": "https://ads.example.com/a1b2c3d4e5",
    "x-account": "north-west-12345678901234567890",
}  # fmt: skip
WHOLE = Service(
    url=URL, accounts=("a", "b c"), headers=HEADERS, ca_file="ca.pem",
    auth=AuthShape(scheme="Token", header="x-key", env="KEY", headers={"x-api-key": "API_KEY"}),
    proxy="http://proxy.example.com:3128", policy="policy.toml", ledger="drafts.db",
    conventions=CONVENTIONS_OF_ALL,
    certainty={"cursor_parameter": "observed", "gamma.list_ads.continuation": "not observed"},
    errors=ErrorShape(content_type="text/plain", body='{"a": "\\"}', statuses={"x": 404}),
    listings={"gamma.list_ads": ADS_SEEN, "beta.list_campaigns": Listing(account_id="b")},
)  # fmt: skip


@pytest.fixture
def path(tmp_path):
    return tmp_path / "service.toml"


def is_read_again(service: Service, path) -> bool:
    path.write_text(f"\ufeff{text_of(service)}", "utf-8", newline="\r\n")  # as editors do
    return read_service(path) == with_paths(service, lambda place: str(path.parent / place))


@each_case(
    "service",
    Service(url=URL),
    WHOLE,
    attrs.evolve(WHOLE, auth=AuthShape(file="key"), errors=ErrorShape()),
    attrs.evolve(WHOLE, auth=AuthShape(headers={"x-api-key": "API_KEY"})),
    *(Service(url=URL, conventions=Conventions(continuation=it)) for it in CONTINUATIONS.values()),
    *(Service(url=URL, listings={read: Listing(account_id="a")}) for read in READS),
)
def test_what_is_written_is_read_again(service, path) -> None:
    assert is_read_again(service, path)


def test_function_that_a_file_cannot_name_is_refused() -> None:
    conventions = Conventions(continuation=lambda value: {"after": value})
    with pytest.raises(ValueError, match="cannot name <function"):
        text_of(Service(url=URL, conventions=conventions))


HEAD = f'format = 2\nurl = "{URL}"\n'
AUTH, CONVENTIONS = f"{HEAD}[auth]\n", f"{HEAD}[conventions]\n"
ADS = f'{HEAD}[conventions.reads."gamma.list_ads"]\n'
LISTING = f'{HEAD}[listings."gamma.list_ads"]\n'
EMPTY = "\n  '{}'," * 20
FIELD = f'{LISTING}account_id = "a"\nrows = [{EMPTY}\n]\n[listings."gamma.list_ads".item]\nid'
IN_READ, IN_LISTING = 'conventions.reads."gamma.list_ads"', 'listings."gamma.list_ads"'
RENEW = "expected 2, of this version of adclient; renew it: adclient doctor URL"
SECRET_HEADERS = [
    *(f'x-a = "Bearer {SECRET}"', 'cookie2 = "s"', 'x-pass = "s"', 'x-pin = "4711"', 'x-sid = "s"'),
    *('x-client = "9f86d081884c7d659a2feaa0c55ad015"', 'x-a = "sid=q7RzT0vKbXw2LmYc; theme=dark"'),
    'x-a = "https://u:word@ads.example.com"',
]
# The beginning of a file; how it goes on, and what is said of it after its name.
WRONG = {
    "": [
        ("# nothing", ": expected keys and values, but the file has none"),
        ("format = 2\nformat = 2\n", ": not TOML: Cannot overwrite a value (at line 2, column "),
        (f"url = {'[' * 100_000}", ": expected shorter numbers and less nesting"),
        ("url = '\udce4'", ": the file cannot be read: 'utf-8' codec can't decode byte "),
        ("format = 1", f", line 1, format: {RENEW}"),
        ("format = 2", ", url: missing"),
        (f'format = 2\nurl = "https://u:{SECRET}@a.example"', ", line 2, url: must not contain a"),
        ('format = 2\n\nurl = "ads.example.com"', ", line 3, url: must start with http"),
    ],
    HEAD: [
        (f'token = "{SECRET}"', ", line 3: token is not a key here"),
        ('accounts = ["a", ""]', ", line 3, accounts: an account is empty"),
        (f'ledger = "postgresql://u:{SECRET}@h/db"', ", line 3, ledger: a service file holds no"),
        (f'ledger = "postgresql://h/db?user=u&password={SECRET}"', ", line 3, ledger: a service"),
        (f'proxy = "http://u:{SECRET}@p.example.com:1"', ", line 3, proxy: a service file holds"),
        (f'[headers]\nauthorization = "{SECRET}"', ", line 3, headers: authorization is set by"),
        (f'[headers]\nx-a = "b"\nx-Api-key = "{SECRET}"', ", line 5, headers.x-Api-key: it may be"),
        *(
            (f"[headers]\n{header}", f", line 4, headers.{header.split()[0]}: it may be a secret")
            for header in SECRET_HEADERS
        ),
        ('[certainty]\nx = "sure"', ", line 4, certainty.x: 'sure' is none of 'observed', 'li"),
        ("conventions = 3", ", line 3, conventions: expected an object, got a"),
        ('[listings."x.y"]\naccount_id = "a"', ', line 3, listings."x.y": expected one of beta.l'),
        ("[errors]\nbody = ''\nstatuses = { x = 42 }", ", line 5, errors.statuses: must be >= 2"),
    ],
    AUTH: [
        (f'token = "{SECRET}"', ", line 4, auth: token is not a key here: expected scheme"),
        ("", ", line 3, auth: expected either env"),
        ('env = "A"\nheader = "a b"', ", line 5, auth.header: it is not the name of a header"),
        ('env = "A"\nfile = "b"', ", line 3, auth: expected either env"),
        ('headers = { x-key = "" }', ", line 3, auth: expected either env"),
        ('headers = { host = "H" }', ", line 3, auth: host is set by the client"),
    ],
    CONVENTIONS: [
        ('cursor_paramter = "a"', ", line 4, conventions: cursor_paramter is not a key here: did"),
        ('\ncursor_parameter = ""', ", line 5, conventions.cursor_parameter: must be a non-empty"),
        ("page_size = 200", ", line 4, conventions.page_size: must be one whole number"),
        ('continuation = "os.system"', ", line 4, conventions.continuation: expected 'none' or"),
        ('reads = { "gamma.list_ads" = 3 }', f", line 4, {IN_READ}: expected an object, got"),
        ("reads = 3", ", line 4, conventions.reads: expected an object, got"),
        ('[conventions.reads."x"]', ", line 4, conventions.reads.x: expected one of beta.list_c"),
    ],
    ADS: [
        ("page_size = { limit = 2.5 }", f", line 4, {IN_READ}.page_size: must be one whole"),
        ("end_of_listing = 'nil'", f", line 4, {IN_READ}.end_of_listing: 'nil' is none of"),
        ("continuation = 'os'", f", line 4, {IN_READ}.continuation: expected 'none' or 'dict'"),
    ],
    LISTING: [
        ("count = 3", f", line 3, {IN_LISTING}.account_id: missing"),
        ("account_id = 3", f", line 4, {IN_LISTING}.account_id: expected text, got a number"),
        ('account_id = "a"\ncount = -1', f", line 5, {IN_LISTING}.count: must be >= 0: -1"),
        ("account_id = 'a'\nrows = ['[]']", f", line 5, {IN_LISTING}.rows 1: expected the JSON t"),
        ("account_id = 'a'\nrows = ['{']", f", line 5, {IN_LISTING}.rows 1: expected the JSON te"),
    ],
    FIELD: [
        (' = { types = ["text"] }', f", line 28, {IN_LISTING}.item.id.types 1: 'text' is none of"),
        (" = { minimum = 9 }", f", line 28, {IN_LISTING}.item.id: minimum is not a key here"),
    ],
}


@each_case(
    ("text", "problem"),
    *[(start + text, problem) for start, rows in WRONG.items() for text, problem in rows],
)
def test_wrong_file_is_refused_with_the_line_and_the_place_in_it(path, text, problem) -> None:
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(ConfigurationError) as caught:
        AdClient.from_service(path)
    told = str(caught.value)
    assert told.startswith(f"{path}{problem}")
    assert "\n" not in told
    assert SECRET not in told


# Classes for the items of a service, whatever its fields are called: `adclient models`.

READ = "beta.list_campaigns"
HOSTILE = [
    '"""); import os; os.abort() #',
    "'\\'\n\n    os = 1",
    "\n@attrs.frozen\nclass X:",
    "x: __import__('os').abort()",
    "attrs", "self", "str", "list", "None", "object", "int", "class", "_id", "__init__",
    "__slots__", "__attrs_attrs__", "Campaign", "CampaignN", "foo-bar", "foo_bar", "foo bar",
    "2x", "é", "日本",
    "n", "a.b", "n.b", "", " ", "$type", "@type", "dailyBudget", "attr_dict", "type", "id_",
    "x" * 300,
]  # fmt: skip
NAMES = [name for name in HOSTILE if re.fullmatch(r"[@$]?[^\W\d][\w-]*", name)]  # of any object
ROWS = [
    {"id": "a", **dict.fromkeys(HOSTILE, 1), "n": {name: {name: "x"} for name in NAMES}},
    {"id": "b", **dict.fromkeys(HOSTILE, "t"), "n": None},
    {"id": "c", "n": {}, "free": {"a b": 1}, "many": [[{"b": 1}, {"b": 1.5, "c": None}], []]},
    {"id": "d", "free": {"c d": 2}, "any": None, "mixed": [1, "a", {"x": True}, [], None]},
    {"id": "e", "mixed": {"x": 1}, "none": []},
]


def module_of(rows, path) -> str:
    listing = Listing(account_id="a", item=shapes_of(rows))
    path.write_text(
        text_of(
            Service(url=URL, listings={READ: listing, "gamma.list_ads": Listing(account_id="a")})
        ),
        "utf-8",
    )
    ran = run_command("models", "--service", str(path))
    assert (ran.code, ran.err) == (0, "")
    return ran.out


def classes_of(source: str) -> dict[str, type]:
    """What a module has, which runs nothing but attrs."""
    names: dict = {"__name__": "ads_models"}
    for node in ast.walk(ast.parse(source)):
        assert not isinstance(node, ast.Call) or ast.unparse(node.func).startswith("attrs.f")
        assert not isinstance(node, ast.Import | ast.ImportFrom) or node.names[0].name == "attrs"
    exec(source, names)
    return names


def test_names_of_a_service_reach_the_code_as_literals_and_every_item_is_read(path) -> None:
    source = module_of(ROWS, path)
    campaign = classes_of(source)["Campaign"]
    for field in attrs.fields(campaign):
        assert field.name.isidentifier()
        assert not keyword.iskeyword(field.name)
    known = {field.metadata.get("name", field.name) for field in attrs.fields(campaign)}
    assert known == {name for row in ROWS for name in row if name.isprintable()} - {"n.b"}
    data = [{"name": "n", "status": "s"} | row for row in ROWS]
    page = httpx.Response(200, json={"data": data, "page": {"next": None}})
    client = AdClient(URL, transport=httpx.MockTransport(lambda request: page))
    first, *others = client.beta.list_campaigns(account_id="a").typed(campaign).data
    assert (first.dailyBudget, first.type, first.foo_bar, first.foo_bar_) == (1, 1, 1, 1)
    assert first.n.foo_bar.foo_bar == "x"
    assert [others[1].many[0][1].b, others[2].mixed[2].x, others[3].mixed.x] == [1.5, True, 1]
    assert [others[1].free, others[2].any, others[3].none_] == [{"a b": 1}, None, []]
