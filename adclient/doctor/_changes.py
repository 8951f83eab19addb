"""What a service file says differently from another: settings and structure, not the data."""

from collections.abc import Iterator, Mapping

from adclient._service.model import ErrorShape, Service, Shape
from adclient.conventions import Conventions, ReadConventions, of_read


def changes_of(old: Service, new: Service) -> tuple[str, ...]:
    """The changes, one in a line; what was not observed this time is not compared."""
    before, after = dict(_facts(old)), dict(_facts(new))
    found = [*_settings(old, new)]
    for name in [*before, *(name for name in after if name not in before)]:
        one, other = before.get(name), after.get(name)
        # Without items, or without an error, nothing is known.
        is_known = _scope(name) in map(_scope, before) and _scope(name) in map(_scope, after)
        if one != other and is_known:
            found.append(f"{name}: {one or 'nothing'} → {other or 'nothing'}")
    found += [f"{name} is not accepted any more" for name in old.listings.keys() - new.listings]
    found += [f"{name} is accepted now" for name in new.listings.keys() - old.listings]
    return tuple(sorted(found))


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
        yield f"{name}: {before} → {after}{where}"
    name = "request_id_headers"
    before, after = _text(old.conventions, name), _text(new.conventions, name)
    if before != after and name in new.certainty:
        yield f"{name}: {before} → {after}"


def _text(conventions: Conventions, name: str) -> str:
    value = getattr(conventions, name)
    return getattr(value, "__name__", None) or str(value)


def _facts(service: Service) -> Iterator[tuple[str, str]]:
    """What is compared, by its name."""
    errors = service.errors or ErrorShape()
    yield "unknown_account/status", str(errors.statuses.get("unknown_account", "accepted"))
    if service.errors is not None:
        yield "errors/content type", errors.content_type
        yield "errors/body", errors.body
        for cause in ("unauthenticated", "unknown_parameter"):  # not always tried
            if cause in errors.statuses:
                yield f"{cause}/status", str(errors.statuses[cause])
    for read, listing in service.listings.items():
        if listing.page_size is not None and listing.next is not None:
            yield f"{read} next/page size", str(listing.page_size)
            for name in ("form", "parameters", "host", "key"):
                yield f"{read} next/{name}", str(getattr(listing.next, name))
        for part in ("item", "page", "extra"):
            if listing.count or part != "item":
                yield f"{read} {part}/", "an object"  # so that its first field is compared
            yield from _shapes(f"{read} {part}/", getattr(listing, part))


def _shapes(path: str, shapes: Mapping[str, Shape]) -> Iterator[tuple[str, str]]:
    for name, shape in shapes.items():
        optional = " or missing" * shape.is_optional
        yield f"{path}{name}", f"{' or '.join(shape.types)}{optional}"
        yield from _shapes(f"{path}{name}.", shape.properties)


def _scope(name: str) -> str:
    return name.partition("/")[0]
