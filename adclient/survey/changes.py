"""What a service file says differently from another: settings and structure, not the data."""

from collections.abc import Collection, Iterator

from adclient._service.model import ErrorShape, Listing, Service, Shape, Shapes
from adclient._values.jsontext import JSONError, loads
from adclient._values.redact import one_line
from adclient.conventions import Conventions, ReadConventions, of_read
from adclient.survey.samples import shapes_of

_OF_NEXT = ("form", "parameters", "host", "key")


def changes_of(old: Service, new: Service, answered: Collection[str]) -> tuple[str, ...]:
    """The changes, one in a line; what was not observed this time is not compared.

    `answered` are the reads, and `unknown_account`, that were accepted or refused.
    """
    found = [*_settings(old, new), *_errors(old, new, answered)]
    for read, listing in new.listings.items():
        if read in old.listings:
            found += _listing(read, old.listings[read], listing)
        else:
            found.append(f"{read} is accepted now")
    gone = old.listings.keys() - new.listings
    found += [f"{read} is not accepted any more" for read in gone if read in answered]
    return tuple(one_line(each, 300) for each in sorted(found))


def _settings(old: Service, new: Service) -> Iterator[str]:
    changed: dict[tuple[str, str, str], list[str]] = {}
    for read in new.listings:
        one, other = (of_read(each.conventions, read) for each in (old, new))
        for name in ReadConventions.__annotations__:
            sure = new.certainty.get(f"{read}.{name}", new.certainty.get(name, "not observed"))
            before, after = _text(one, name), _text(other, name)
            if before != after and sure != "not observed":
                changed.setdefault((name, before, after), []).append(read)
    for (name, before, after), reads in changed.items():
        where = f" ({', '.join(reads)})" * (len(reads) < len(new.listings))
        yield f"{name}: {before} -> {after}{where}"
    name = "request_id_headers"
    before, after = _text(old.conventions, name), _text(new.conventions, name)
    if before != after and name in new.certainty:
        yield f"{name}: {before} -> {after}"


def _text(conventions: Conventions, name: str) -> str:
    value = getattr(conventions, name)
    return getattr(value, "__name__", None) or str(value)


def _errors(old: Service, new: Service, answered: Collection[str]) -> Iterator[str]:
    one, other = old.errors or ErrorShape(), new.errors or ErrorShape()
    for cause in ("unknown_account", "unauthenticated", "unknown_parameter"):
        before, after = (each.statuses.get(cause, 200) for each in (one, other))
        # The other two are not always tried.
        is_known = (
            cause in answered
            if cause == "unknown_account"
            else cause in one.statuses.keys() & other.statuses
        )
        if is_known and before != after:
            yield f"{cause}/status: {before} -> {after}"
    # Another cause may have another body.
    is_same_cause = ("unknown_account" in one.statuses) == ("unknown_account" in other.statuses)
    if old.errors is not None and new.errors is not None and is_same_cause:
        if one.content_type != other.content_type:
            yield f"errors/content type: {one.content_type} -> {other.content_type}"
        yield from _shapes("errors/", _outline(one.body), _outline(other.body))


def _outline(body: str) -> Shapes:
    """The shape of the body of an error; its texts may be kept or not."""
    try:
        value = loads(body.encode(errors="replace"))
    except JSONError:
        return {"body": Shape(types=("string",))}
    return shapes_of([{"body": value}])


def _listing(read: str, old: Listing, new: Listing) -> Iterator[str]:
    if old.next is not None and new.next is not None:
        for name, one, other in (
            ("page size", old.page_size, new.page_size),
            *((n, getattr(old.next, n), getattr(new.next, n)) for n in _OF_NEXT),
        ):
            if one != other:
                yield f"{read} next/{name}: {one} -> {other}"
    if old.count and new.count:
        yield from _shapes(f"{read} item/", old.item, new.item)
    yield from _shapes(f"{read} page/", old.page, new.page)
    yield from _shapes(f"{read} extra/", old.extra, new.extra)


def _shapes(path: str, old: Shapes, new: Shapes) -> Iterator[str]:
    """What the old shapes do not allow; fewer types, or fewer missing fields, are data."""
    for name in {**old, **new}:
        before, after = old.get(name), new.get(name)
        if before is None or after is None:
            if before is None or not before.is_optional:
                yield f"{path}{name}: {_types(before)} -> {_types(after)}"
            continue
        if _kinds(after) - _kinds(before):
            yield f"{path}{name}: {_types(before)} -> {_types(after)}"
        if before.properties and after.properties:  # an empty object has no fields to compare
            yield from _shapes(f"{path}{name}.", before.properties, after.properties)


def _kinds(shape: Shape) -> set[str]:
    """The types of a field; an integer is a number without decimals."""
    types: set[str] = {"number" if kind == "integer" else kind for kind in shape.types}
    return types | {"missing"} if shape.is_optional else types


def _types(shape: Shape | None) -> str:
    if shape is None:
        return "nothing"
    return " or ".join([*shape.types, *["missing"] * shape.is_optional])
