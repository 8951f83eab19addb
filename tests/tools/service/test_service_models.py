"""`adclient models`: classes for the items of a service, whatever its fields are called."""

import ast
import keyword
import re

import attrs
import httpx
import pytest
from run_command import run_command

from adclient import AdClient
from adclient._service.file import text_of
from adclient._service.model import Listing, Service
from adclient.survey.samples import shapes_of

URL = "https://ads.example.com"
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


@pytest.fixture
def path(tmp_path):
    return tmp_path / "service.toml"


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
