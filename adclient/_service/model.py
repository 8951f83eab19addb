"""What a service file contains."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

import attrs
from attrs.validators import and_, deep_mapping, ge, instance_of, le, optional

from adclient._values.json_values import JSON
from adclient.conventions import Conventions

Certainty = Literal["observed", "likely", "not observed"]
JSONType = Literal["boolean", "integer", "number", "string", "array", "object", "null"]
NextForm = Literal["string", "number", "object", "URL"]
Row = dict[str, JSON]
"""An object; as TOML has no null, a file has its JSON text."""


@attrs.frozen(kw_only=True)
class Shape:
    """The values that a field was seen to have, in the words of JSON Schema.

    `types` are in the order of `JSONType`; a field that is `is_optional` is missing from some
    objects. `items` are those of arrays.
    """

    types: tuple[JSONType, ...] = ()
    is_optional: bool = False
    items: "Shape | None" = None
    properties: Mapping[str, "Shape"] = attrs.field(factory=dict[str, "Shape"])


Shapes = Mapping[str, Shape]


@attrs.frozen(kw_only=True)
class Next:
    """The `page.next` of a listing.

    `parameters` are the names in the query of a URL, or the keys of an object. `host` is where an
    URL points to: `"same"`, `"other"`, or `"relative"` if it names none. `key` is the key of an
    object that holds the URL, such as `href`.
    """

    form: NextForm
    parameters: tuple[str, ...] = ()
    host: Literal["same", "other", "relative"] | None = None
    key: str | None = None


@attrs.frozen(kw_only=True)
class Listing:
    """What was seen of one read.

    `count` items were read, which are all of them if `is_complete`. `page_size` is that of pages
    with a next one. `rows` are some items, with invented texts, and `pages` is what was beside the
    items of the first page and of the last, without `next`. `item` are the fields of all items.
    """

    account_id: str
    count: int = attrs.field(default=0, validator=ge(0))
    is_complete: bool = False
    page_size: int | None = attrs.field(default=None, validator=optional(ge(1)))
    next: Next | None = None
    rows: tuple[Row, ...] = ()
    pages: tuple[Row, ...] = ()
    item: Shapes = attrs.field(factory=dict[str, Shape])


@attrs.frozen(kw_only=True)
class ErrorShape:
    """What errors look like.

    `body` is the text of one, with `{message}` and `{code}` in the places of these. `statuses` are
    those that were seen, by what caused them: `unauthenticated`, `unknown_account`,
    `unknown_parameter`. An `unknown_account` is 200 where a read of one has no items.
    """

    content_type: str = "application/json"
    body: str = ""
    statuses: Mapping[str, int] = attrs.field(
        factory=dict[str, int], validator=deep_mapping(instance_of(str), and_(ge(200), le(599)))
    )


def variable_for(header: str) -> str:
    """The name of a variable for the value of a header, such as `X_API_KEY`."""
    return header.replace("-", "_").upper()


@attrs.frozen(kw_only=True)
class AuthShape:
    """How a secret is sent, and the variable or file that holds it; never the secret itself.

    It is sent in `header`, behind `scheme` and a space if there is a scheme. With the scheme
    `Basic`, it is `user:password`. `headers` are further secret headers, each with the name of its
    variable.
    """

    scheme: str = "Bearer"
    header: str = "authorization"
    env: str | None = None
    file: str | None = None
    headers: Mapping[str, str] = attrs.field(factory=dict[str, str])


@attrs.frozen(kw_only=True)
class Service:
    """One service, as a service file describes it.

    `certainty` is that of the settings in `conventions` that the doctor examined, by their names;
    those of a read are named like `gamma.list_ads.cursor_parameter`. What it does not name was set
    by a person. `problems` is how many the doctor reported. In a file, paths are relative to its
    folder.
    """

    url: str
    accounts: tuple[str, ...] = ()
    problems: int = 0
    auth: AuthShape | None = None
    headers: Mapping[str, str] = attrs.field(factory=dict[str, str])
    ca_file: str | None = None
    proxy: str | None = None
    policy: str | None = None
    ledger: str | None = None
    conventions: Conventions = attrs.field(factory=Conventions)
    certainty: Mapping[str, Certainty] = attrs.field(factory=dict[str, Certainty])
    errors: ErrorShape | None = None
    listings: Mapping[str, Listing] = attrs.field(factory=dict[str, Listing])


def with_paths(service: Service, change: Callable[[str], str]) -> Service:
    """The service with each path in it changed, but not the URL of a ledger."""
    paths = {name: getattr(service, name) for name in ("ca_file", "policy", "ledger")}
    changed: dict[str, Any] = {
        name: change(path) for name, path in paths.items() if path and "://" not in path
    }
    auth = service.auth
    if auth is not None and auth.file is not None:
        auth = attrs.evolve(auth, file=change(auth.file))
    return attrs.evolve(service, auth=auth, **changed)
