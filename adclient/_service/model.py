"""What a service file contains."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Literal

import attrs

from adclient.conventions import Conventions
from adclient.errors import ConfigurationError

Certainty = Literal["observed", "likely", "not observed"]
JSONType = Literal["boolean", "integer", "number", "string", "array", "object", "null"]
TextFormat = Literal["date", "date-time", "uri", "uuid", "digits"]
NextForm = Literal["string", "number", "object", "URL"]


def _at_least(least: int) -> Callable[[object, "attrs.Attribute[Any]", int | None], None]:
    """The validator of a count."""

    def check(_: object, field: "attrs.Attribute[Any]", value: int | None) -> None:
        if value is not None and value < least:
            raise ConfigurationError(f"expected {least} or more", argument=field.name)

    return check


@attrs.frozen(kw_only=True)
class Shape:
    """The values that a field was seen to have, in the words of JSON Schema.

    `types` are in the order of `JSONType`; a field that is `is_optional` is missing from some
    objects. Lengths are those of texts and arrays. `distinct` is how many texts there are, if they
    are few, and `values` are the texts themselves, if they are to be kept. A field with a
    `reference` contains the ids of the items of that read.
    """

    types: tuple[JSONType, ...] = ()
    is_optional: bool = False
    minimum: int | Decimal | None = None
    maximum: int | Decimal | None = None
    decimals: int | None = attrs.field(default=None, validator=_at_least(0))
    min_length: int | None = attrs.field(default=None, validator=_at_least(0))
    max_length: int | None = attrs.field(default=None, validator=_at_least(0))
    format: TextFormat | None = None
    distinct: int | None = attrs.field(default=None, validator=_at_least(0))
    values: tuple[str, ...] = ()
    reference: str | None = None
    items: "Shape | None" = None
    properties: Mapping[str, "Shape"] = attrs.field(factory=dict[str, "Shape"])

    def __attrs_post_init__(self) -> None:
        for name, number in (("minimum", self.minimum), ("maximum", self.maximum)):
            if isinstance(number, Decimal) and not number.is_finite():
                raise ConfigurationError("expected a finite number", argument=name)
        for low, high in (("minimum", "maximum"), ("min_length", "max_length")):
            least, most = getattr(self, low), getattr(self, high)
            if least is not None and most is not None and least > most:
                raise ConfigurationError(f"{low} is above {high}", argument=low)


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
    with a next one. `item`, `page` and `extra` are the fields of the items, of `page` besides
    `next`, and of what is beside `data` and `page`.
    """

    account_id: str
    count: int = attrs.field(default=0, validator=_at_least(0))
    is_complete: bool = False
    page_size: int | None = attrs.field(default=None, validator=_at_least(1))
    next: Next | None = None
    item: Shapes = attrs.field(factory=dict[str, Shape])
    page: Shapes = attrs.field(factory=dict[str, Shape])
    extra: Shapes = attrs.field(factory=dict[str, Shape])


@attrs.frozen(kw_only=True)
class ErrorShape:
    """What errors look like.

    `body` is the text of one, with `{message}` and `{code}` in the places of these. `statuses` are
    those that were seen, by what caused them: `unauthenticated`, `unknown_account`,
    `unknown_parameter`. An `unknown_account` is 200 where a read of one has no items.
    """

    content_type: str = "application/json"
    body: str = ""
    statuses: Mapping[str, int] = attrs.field(factory=dict[str, int])

    def __attrs_post_init__(self) -> None:
        for cause, status in self.statuses.items():
            if not 200 <= status <= 599:
                problem = f"{cause}: expected a status from 200 to 599"
                raise ConfigurationError(problem, argument="statuses")


@attrs.frozen(kw_only=True)
class AuthShape:
    """How a secret is sent, and the variable or file that holds it; never the secret itself.

    It is sent in `header`, behind `scheme` and a space if there is a scheme. With the scheme
    `Basic`, it is `user:password`.
    """

    scheme: str = "Bearer"
    header: str = "authorization"
    env: str | None = None
    file: str | None = None


@attrs.frozen(kw_only=True)
class Service:
    """One service, as a service file describes it.

    `certainty` is that of the settings in `conventions` that the doctor examined, by their names;
    those of a read are named like `gamma.list_ads.cursor_parameter`. What it does not name was set
    by a person. Paths are those of files, as the file has them: relative to its folder.
    """

    url: str
    accounts: tuple[str, ...] = ()
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
