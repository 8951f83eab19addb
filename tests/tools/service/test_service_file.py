"""Service files: what is written is read again, and what is wrong is refused with its place."""

import re
from decimal import Decimal

import attrs
import pytest
from cases import each_case
from clients import SECRET

from adclient import AdClient, ConfigurationError, Conventions
from adclient._core.operations import READS
from adclient._service.model import AuthShape, ErrorShape, Listing, Next, Service, Shape
from adclient._service.reading import CONTINUATIONS, read_service
from adclient._service.shapes import shapes_of
from adclient._service.writing import text_of
from adclient._values import toml

URL = "https://ads.example.com"
SHAPE = Shape(
    types=("number", "string", "array", "object"),
    is_optional=True,
    minimum=-3,
    maximum=Decimal("9.25"),
    decimals=2,
    min_length=0,
    max_length=9,
    format="date",
    distinct=2,
    values=("a", 'b"\n'),
    reference="gamma.list_ads",
    items=Shape(types=("string", "null"), format="uri"),
    properties={"deep er": Shape(properties={"deepest": Shape(types=("boolean",))})},
)
OWN = {
    "read_parameters": "query",
    "object_style": "json",
    "cursor_parameter": "page",
    "follow_next_urls": True,
    "continuation": None,
    "end_of_listing": "missing",
    "page_size": None,
}
WHOLE = Service(
    url=URL,
    accounts=("a", "b c"),
    auth=AuthShape(scheme="Token", header="x-key", env="KEY"),
    headers={"x-tenant": "acme"},
    ca_file="ca.pem",
    proxy="http://proxy.example.com:3128",
    policy="policy.toml",
    ledger="drafts.db",
    conventions=Conventions(
        read_parameters="body",
        object_style="deep_object",
        cursor_parameter="page[after]",
        follow_next_urls=False,
        continuation=dict,
        end_of_listing="empty",
        page_size={"page[size]": 200},
        rate_limit_errors=[403, "17"],
        retry_after_headers=["retry-after-ms"],
        request_id_headers=["x-id"],
        reads={"gamma.list_ads": OWN, "beta.list_campaigns": {"page_size": {"limit": 5}}},
    ),
    certainty={"cursor_parameter": "observed", "gamma.list_ads.continuation": "not observed"},
    errors=ErrorShape(content_type="text/plain", body='{"a": "\\"}', statuses={"x": 404}),
    listings={
        "gamma.list_ads": Listing(
            account_id="a",
            count=9,
            is_complete=True,
            page_size=3,
            next=Next(form="object", parameters=("a", "b"), host="other", key="href"),
            item={"id": SHAPE, "a.b": Shape()},
            page={"total": Shape(types=("integer",), minimum=0)},
            extra={"meta": SHAPE},
        ),
        "beta.list_campaigns": Listing(account_id="b"),
    },
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "service.toml"


def is_read_again(service: Service, path) -> bool:
    path.write_text(text_of(service), "utf-8")
    return read_service(path) == service


@each_case(
    "service",
    [
        Service(url=URL),
        WHOLE,
        attrs.evolve(WHOLE, auth=AuthShape(file="key"), errors=ErrorShape()),
        *(
            Service(url=URL, conventions=Conventions(continuation=it))
            for it in CONTINUATIONS.values()
        ),
        *(Service(url=URL, listings={read: Listing(account_id="a")}) for read in READS),
    ],
)
def test_what_is_written_is_read_again(service, path) -> None:
    assert is_read_again(service, path)


def test_function_that_a_file_cannot_name_is_refused() -> None:
    conventions = Conventions(continuation=lambda value: {"after": value})
    with pytest.raises(ValueError, match="cannot name <function"):
        text_of(Service(url=URL, conventions=conventions))


HEAD = f'format = 1\nurl = "{URL}"\n'
AUTH, CONVENTIONS = f"{HEAD}[auth]\n", f"{HEAD}[conventions]\n"
ADS = f'{HEAD}[conventions.reads."gamma.list_ads"]\n'
LISTING = f'{HEAD}[listings."gamma.list_ads"]\n'
FIELD = f'{LISTING}account_id = "a"\n[listings."gamma.list_ads".item]\nid'
PART = f'{LISTING}account_id = "a"\n[listings."gamma.list_ads"'
# The beginning of a file; how it goes on, the problem, and its place.
WRONG = {
    "": [
        ("# nothing", "the file has none", ""),
        ("format = 2", "expected format = 1", "format"),
        ("format = 1", "url is missing", "url"),
        (f'format = 1\nurl = "https://u:{SECRET}@a.example"', "must not contain a user", "url"),
    ],
    HEAD: [
        (f'token = "{SECRET}"', "token is not a key here", ""),
        (f'ledger = "postgresql://u:{SECRET}@h/db"', "use PGPASSWORD", "ledger"),
        (f'ledger = "postgresql://h/db?user=u&password={SECRET}"', "use PGPASSWORD", "ledger"),
        (f'proxy = "http://u:{SECRET}@p.example.com:1"', "holds no secrets", "proxy"),
        (f'[headers]\nauthorization = "{SECRET}"', "authorization is set by", "headers"),
        (
            '[certainty]\ncursor_parameter = "sure"',
            "expected one of observed, likely, not observed",
            "cursor_parameter",
        ),
        ("conventions = 3", "expected a table", "conventions"),
        ('[listings."gamma.ads"]\naccount_id = "a"', "gamma.ads is none of", "gamma.ads"),
        ("[errors]\nstatuses = { unauthenticated = 42 }", "from 200 to 599", "statuses"),
    ],
    AUTH: [
        (f'token = "{SECRET}"', "token is not a key here: expected scheme", "auth"),
        ("", "expected either env", "auth"),
        ('env = "A"\nheader = "a b"', "header", "header"),
        ('env = "A"\nfile = "b"', "expected either env", "auth"),
    ],
    CONVENTIONS: [
        ('cursor_paramter = "a"', "did you mean cursor_parameter?", "conventions"),
        ("page_size = 200", "page_size must be one whole number", "page_size"),
        ('continuation = "os.system"', "'dict' or 'query_of_url'", "continuation"),
        ('reads = { "gamma.list_ads" = 3 }', "expected a table", "gamma.list_ads"),
        ("reads = 3", "reads must be settings", "reads"),
    ],
    ADS: [
        ("page_size = { limit = 2.5 }", "gamma.list_ads: conventions: page_size must", "page_size"),
        ("end_of_listing = 'nil'", "list_ads: conventions: end_of_listing must", "end_of_listing"),
        ("continuation = 'os'", "gamma.list_ads: expected 'none' or 'dict'", "continuation"),
    ],
    LISTING: [
        ("count = 3", "account_id is missing", "account_id"),
        ("account_id = 3", "expected text, got a number", "account_id"),
        ('account_id = "a"\ncount = -1', "0 or more", "count"),
    ],
    FIELD: [
        (' = { types = ["text"] }', "expected one of boolean, integer", "types 1"),
        (" = { minimum = 9, maximum = 8 }", "minimum is above maximum", "minimum"),
        (" = { maximum = inf }", "expected a finite number", "maximum"),
        (" = { min_length = 2, max_length = 1 }", "min_length is above max_length", "min_length"),
    ],
    PART: [(".page]\nnext = {}", "next is not a field that page describes", "next")],
}


@each_case(
    ("text", "problem", "place"),
    [(start + text, *rest) for start, rows in WRONG.items() for text, *rest in rows],
)
def test_wrong_file_is_refused_with_the_place_in_it(path, text, problem, place) -> None:
    path.write_text(text)
    with pytest.raises(ConfigurationError) as caught:
        AdClient.from_service(path)
    told = str(caught.value)
    assert problem in told
    [where] = re.findall(rf"^{re.escape(str(path))}(?:, ([^:]+))?: ", told)
    assert re.findall(r'"[^"]+"|[^."]+', where)[-1:] in ([], [place], [f'"{place}"'])
    assert bool(where) == bool(place)
    assert SECRET not in told


# Whatever is wrong with a file, one sentence says it.


def test_file_is_read_as_editors_write_it(tmp_path) -> None:
    path = tmp_path / "file.toml"
    path.write_text('\ufeffa = 1.50\r\nb = "x"\r\n', "utf-8", newline="")
    assert repr(toml.read(path).values) == "{'a': Decimal('1.50'), 'b': 'x'}"


@each_case(
    ("content", "problem"),
    [
        (b"# accounts\n\n", "expected keys and values, but the file has none"),
        (b"a = 1\na = 3\n", "not TOML: Cannot overwrite a value (at line 2, column "),
        ("a = 'ä'".encode("latin-1"), "the file cannot be read: 'utf-8' codec can't decode byte "),
        (b"a = " + b"[" * 100_000, "expected shorter numbers and less nesting"),
        (None, "the file cannot be read: No such file or directory"),
    ],
)
def test_broken_file_is_refused_in_one_sentence(tmp_path, content, problem) -> None:
    path = tmp_path / "file.toml"
    path.unlink(missing_ok=True)
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigurationError) as refused:
        toml.read(path)
    assert str(refused.value).startswith(f"{path}: {problem}")
    assert refused.value.argument == "path"
    assert "\n" not in str(refused.value)


# The shapes of fields, inferred from the objects of a listing.


def shape_of(*values):
    """The shape of a field that has these values."""
    return shapes_of([{"a": value} for value in values], keep_texts=False, ids={})["a"]


@each_case(
    ("texts", "expected"),
    [
        (["2026-01-31"], "date"),
        (["2026-02-30"], None),
        (["2026-01-31T10:00:00Z", "2026-01-31T10:00:00.123+02:00"], "date-time"),
        (["https://a.example/x?y=1", "s3://bucket/key"], "uri"),
        (["http://[::1"], None),
        (["2026-01-31", "0017"], None),
    ],
)
def test_format_is_one_that_all_texts_have(texts, expected):
    assert shape_of(*texts, None).format == expected


PEOPLE = [{"id": 1, f"user{n}": n} for n in range(21)]


@each_case(
    ("objects", "names"),
    [
        ([{"alice@example.com": 3}], []),
        ([{"alice": 3}, {"bob": 4}], []),
        ([{"alice": 3}, {}], ["alice"]),
        (PEOPLE, []),
    ],
)
def test_keys_that_are_data_are_left_out(objects, names):
    for shape in (shape_of(*objects), shape_of(objects).items):
        assert shape.types == ("object",)
        assert list(shape.properties) == names


def test_depth_and_number_of_fields_are_limited():
    deep = {}
    for _ in range(10):
        deep = {"in": [deep]}
    shape, levels = shape_of(deep), 1
    while inner := shape.items or shape.properties.get("in"):
        shape, levels = inner, levels + 1
    assert (levels, shape.types) == (6, ("array",))
    wide = shapes_of([{"a\ud800": 0, **{str(n): n for n in range(300)}}], keep_texts=False, ids={})
    assert list(wide) == [str(n) for n in range(200)]  # a file can hold no lone surrogate
