"""What a service file says differently from another: settings and structure, not the data."""

from collections.abc import Collection, Iterator

import attrs

from adclient._service.model import ErrorShape, Next, Service, Shape, Shapes
from adclient._values.jsontext import JSONError, loads
from adclient._values.redact import one_line
from adclient.conventions import ReadConventions, of_read
from adclient.survey.samples import shapes_of

_MISSING = Shape(is_optional=True)


def changes_of(old: Service, new: Service, answered: Collection[str]) -> tuple[str, ...]:
    """The changes, one in a line; what was not observed this time is not compared.

    `answered` are the reads, and `unknown_account`, that were accepted or refused.
    """
    is_described = bool(old.listings) or not new.listings
    both = [read for read in new.listings if read in old.listings or not is_described]
    found: dict[str, list[str]] = {}  # by the text of a change, the reads that it is about
    for read in both:
        for text in _read(read, old, new):
            found.setdefault(text, []).append(read)
    lines = [
        text + f" ({', '.join(reads)})" * (len(reads) < len(both)) for text, reads in found.items()
    ]
    if not is_described:
        lines.append("the file has no listings, so only settings were compared; `--save` adds them")
    lines += [f"{read} is accepted now" for read in new.listings if read not in both]
    gone = [read for read in old.listings if read not in both and read in answered]
    lines += [f"{read} is not accepted any more" for read in gone]
    return tuple(one_line(line, 300) for line in sorted([*lines, *_errors(old, new, answered)]))


def _changed(name: str, before: object, after: object) -> Iterator[str]:
    one, other = (getattr(each, "__name__", None) or str(each) for each in (before, after))
    if one != other:
        yield f"{name}: {one} -> {other}"


def _read(read: str, old: Service, new: Service) -> Iterator[str]:
    one, other = (of_read(each.conventions, read) for each in (old, new))
    for name in ReadConventions.__annotations__:
        sure = new.certainty.get(f"{read}.{name}", new.certainty.get(name, "not observed"))
        if sure != "not observed":
            yield from _changed(name, getattr(one, name), getattr(other, name))
    if read not in old.listings:
        return
    before, after = old.listings[read], new.listings[read]
    if before.next is not None and after.next is not None:
        yield from _changed("items on a page", before.page_size, after.page_size)
        for field in attrs.fields(Next):
            values = (getattr(each, field.name) for each in (before.next, after.next))
            yield from _changed(f"next/{field.name}", *values)
    if before.count and after.count:
        yield from _shapes("item/", before.item, after.item)
    yield from _shapes("beside/", shapes_of(before.pages), shapes_of(after.pages))


def _errors(old: Service, new: Service, answered: Collection[str]) -> Iterator[str]:
    name = "request_id_headers"
    if name in new.certainty:
        values = (getattr(each.conventions, name) for each in (old, new))
        yield from _changed(name, *values)
    if not old.listings:
        return
    one, other = old.errors or ErrorShape(), new.errors or ErrorShape()
    # The other causes are not always tried.
    known = (one.statuses.keys() & other.statuses) - {"unknown_account"}
    for cause in {*known, *({"unknown_account"} & {*answered})}:
        yield from _changed(
            f"{cause}/status", *(each.statuses.get(cause, 200) for each in (one, other))
        )
    # Another cause may have another body.
    is_same_cause = ("unknown_account" in one.statuses) == ("unknown_account" in other.statuses)
    if old.errors is not None and new.errors is not None and is_same_cause:
        yield from _changed("errors/content type", one.content_type, other.content_type)
        yield from _shapes("errors/", _outline(one.body), _outline(other.body))


def _outline(body: str) -> Shapes:
    """The shape of the body of an error; its texts may be kept or not."""
    try:
        value = loads(body.encode(errors="replace"))
    except JSONError:
        return {"body": Shape(types=("string",))}
    return shapes_of([{"body": value}])


def _shapes(path: str, old: Shapes, new: Shapes) -> Iterator[str]:
    """What the old shapes do not allow; fewer types, or fewer missing fields, are data."""
    for name in {**old, **new}:
        before, after = old.get(name, _MISSING), new.get(name, _MISSING)
        if _kinds(after) - _kinds(before):
            texts = [
                " or ".join([*each.types, *["missing"] * each.is_optional])
                for each in (before, after)
            ]
            yield from _changed(f"{path}{name}", *texts)
        if before.properties and after.properties:  # an empty object has no fields to compare
            yield from _shapes(f"{path}{name}.", before.properties, after.properties)


def _kinds(shape: Shape) -> set[str]:
    """The types of a field; an integer is a number without decimals."""
    types: set[str] = {"number" if kind == "integer" else kind for kind in shape.types}
    return types | {"missing"} if shape.is_optional else types
