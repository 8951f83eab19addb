"""How a listing continues: which value, under which name, by experiment.

A way is right only if it leads to items that no earlier page has, moves on from page to page,
counts as its name says, and if a wrong name does nothing of the kind. Of several ways, which may
lose items, the one that leads to all of them is right.
"""

from collections.abc import Iterator, Sequence

from adclient._values.text import cursor_shown
from adclient.survey.candidates import (
    FOLLOWED,
    WRONG_NAME,
    by_name,
    names_of,
    next_of,
    number_of,
    rivals_of,
    ways_without_names,
)
from adclient.survey.losses import ASK, certainty_of, has_item_before, skips, ties
from adclient.survey.observation import Effect, Observation
from adclient.survey.reading import Candidate, Chain, Examination, Reading

Way = tuple[Candidate, Chain]

LARGER = "pass an account with more items"
_TO_CONFIRM = 3  # pages
_TO_COMPARE = 20
_TOGETHER = 8  # names in one request


def search(found: Examination, reading: Reading, reserve: int) -> None:
    """Find out how a listing continues, and read up to three pages of it."""
    reading.trouble = reading.step = ""
    reading.form = next_of(reading.views[0].next, found.options.base_url)
    first = reading.first.view
    if reading.form is None:
        reading.trouble = "`next` is no text, number or object"
        return
    again = found.ask(reading.first.probe, purpose="the first page, again")
    if again.page is None:
        reading.trouble, reading.step = f"{again.probe.purpose}: {again}", "run it again later"
    elif again.page.ids != first.ids:
        reading.trouble, reading.step = "its pages change from request to request", ASK
    else:
        reading.by_row = again.page.rows == first.rows
        reading.expires = again.page.next != first.next
        reading.pages = [again]
        _decide(found, reading, *_ways(found, reading, reserve))


def read_on(found: Examination, reading: Reading, most: int) -> None:
    """Read a listing to its end, or some pages of it."""
    pages = reading.pages
    if reading.chosen is None:
        return
    if reading.expires and pages[-1] not in found.observations[-1:]:
        pages = [_fresh(found, reading)]
    end = len(reading.pages) + max(most, 0)
    effect, reading.pages = follow(found, reading, pages, reading.chosen, end)
    if effect not in ("continues", "no items"):
        led = cursor_shown(reading.views[-1].next)
        reading.trouble = f"page {len(reading.pages) + 1}, to which the next {led} leads: {effect}"
    elif len(reading.pages) > 1 and skips(reading.chosen, reading.pages):
        reading.trouble = "its pages skip items, as the continuations show"
    elif tied := ties(reading):
        reading.trouble, reading.step = f"{tied}, so items may be missing", ASK


def follow(
    found: Examination, reading: Reading, pages: Chain, candidate: Candidate, most: int
) -> tuple[Effect, Chain]:
    """Continue a listing in one way, up to a number of pages, its end, or what is wrong."""
    pages = list(pages)
    is_right = len(pages) > 1
    while len(pages) < most and found.session.left() > 0 and pages[-1].view.end is None:
        seen = found.ask(candidate.probe(pages[-1]))
        effect = seen.effect(*pages, by_row=reading.by_row)
        if effect not in ("continues", "no items"):
            return effect, pages
        if seen.view.end is None and any(seen.view.next == each.view.next for each in pages):
            return "does not move on", pages
        is_right = is_right or effect == "continues"
        pages.append(seen)
    return "continues" if is_right else "no items", pages


def _fresh(found: Examination, reading: Reading) -> Observation:
    """The first page, requested again if its continuation may have expired, or been used."""
    page = reading.pages[0]
    # Where unknown names are refused, only a right one uses it up.
    recent = 3 if found.is_strict and "continues" not in reading.tried.values() else 1
    if reading.expires and page not in found.observations[-recent:]:
        again = found.ask(page.probe, purpose="a younger continuation")
        reading.pages = [again if again.ids == page.view.ids else page]
    return reading.pages[0]


def _ways(found: Examination, reading: Reading, reserve: int) -> tuple[list[Way], list[Way]]:
    """The ways that continue a listing, and those that lead to an empty last page at once.

    Once one is right, only its rivals are tried: one of them may lose items.
    """
    ways: list[Way] = []
    endings: list[Way] = []
    candidates = _candidates(found, reading)
    is_found = False
    while (candidate := next(candidates, None)) is not None:
        if not is_found and found.session.left() < reserve + _TO_CONFIRM:
            reading.trouble = "too few requests were left to find its continuation"
            reading.step = "allow more: `--requests`"
            break
        effect, pages = follow(found, reading, [_fresh(found, reading)], candidate, _TO_CONFIRM)
        reading.tried[candidate.label] = effect
        is_end = effect == "no items" and pages[-1].view.end is not None
        is_sure = candidate.known or candidate == FOLLOWED  # that it is no filter
        if effect == "continues" or (is_end and is_sure):
            ways.append((candidate, pages))
            if not is_found and certainty_of(candidate, pages) != "not observed":
                is_found, names = True, rivals_of(found, reading, candidate)
                candidates = _by_names(found, reading, names) if candidate.name else iter(())
        elif is_end:
            endings.append((candidate, pages))
    return ways, endings


def _candidates(found: Examination, reading: Reading) -> Iterator[Candidate]:
    """The ways that may be right, the likely ones first."""
    yield from ways_without_names(found, reading)
    probe = by_name(WRONG_NAME, reading).probe(_fresh(found, reading))
    control = found.ask(probe, purpose="a wrong name for the continuation")
    reading.control = control
    # An unknown name may be a filter, too.
    found.is_strict = not reading.is_same(control, reading.pages[0])
    yield from _by_names(found, reading, names_of(reading))


def _by_names(found: Examination, reading: Reading, names: Sequence[str]) -> Iterator[Candidate]:
    """The names that have an effect; several are tried at once if others are ignored."""
    new = [name for name in dict.fromkeys(names) if f"`{name}`" not in reading.tried]
    # Brackets make an object of a name that is also sent without them.
    for group in ([n for n in new if "[" not in n], [n for n in new if "[" in n]):
        size = 1 if found.is_strict else _TOGETHER
        for at in range(0, len(group), size):
            for name in _effective(found, reading, group[at : at + size]):
                yield by_name(name, reading)


def _effective(found: Examination, reading: Reading, names: Sequence[str]) -> Iterator[str]:
    if len(names) == 1:
        yield from names
        return
    page = _fresh(found, reading)
    together = Candidate(", ".join(names), {"continuation": dict})
    seen = found.ask(together.probe(page, dict.fromkeys(names, page.view.next)))
    if reading.is_same(seen, page):
        reading.tried.update((f"`{name}`", "same items") for name in names)
        return
    half = len(names) // 2
    yield from _effective(found, reading, names[:half])
    yield from _effective(found, reading, names[half:])


def _decide(found: Examination, reading: Reading, ways: list[Way], endings: list[Way]) -> None:
    """Choose the way that loses no items, by reading each to its end if there are several.

    If there is none, say why.
    """
    labels = " and ".join(candidate.label for candidate, _ in ways)
    ways, lost = _compared(found, reading, ways)
    ways = [way for way in ways if certainty_of(*way) != "not observed"]
    sure = [way for way in ways if way[0].known or not has_item_before(found, reading, *way)]
    is_text = number_of(reading.views[0].next) is None
    # Where nothing else continues it, an empty page may be the last; but so is that of a filter.
    chosen = sure or (endings if is_text and not labels and len(endings) == 1 else [])
    if chosen:
        reading.chosen, reading.pages = chosen[0]
        reading.trouble = reading.step = ""
    if sure:
        is_proven = not lost and (reading.control or not sure[0][0].name)
        certainty = certainty_of(*sure[0]) if is_proven else sure[0][0].known
        reading.certainty = certainty or "likely"
        reading.equal = [each._replace(known=reading.certainty) for each, _ in sure]
        # Other listings may continue in these ways, and not in those that lose items.
        found.known |= {each.label: each for each in reading.equal}
        for label in lost:
            found.known.pop(label, None)
        for other in found.readings.values():
            better = [each for each in other.equal if each.label not in lost]
            if other.chosen is not None and other.chosen.label in lost and better:
                other.chosen = better[0]
    elif not chosen:
        overlapping = [label for label, effect in reading.tried.items() if effect == "overlap"]
        if ways:
            reading.trouble = f"with {labels}, pages skip items: a value beside `next` leads to one"
            reading.step = ASK
        elif labels:
            reading.trouble, reading.step = f"whether {labels} loses items is not certain", LARGER
        elif overlapping:
            reading.trouble = f"with {overlapping[0]}, pages overlap, so items come twice"
            reading.step = ASK
        elif not reading.trouble:
            reading.trouble = f"no way to continue it was found, of {len(reading.tried)}"


def _compared(found: Examination, reading: Reading, ways: list[Way]) -> tuple[list[Way], set[str]]:
    """Those of several ways that lead to all items, and the labels of those that do not."""
    if len(ways) < 2:
        return ways, set()
    chains: list[tuple[Candidate, Chain, set[str]]] = []
    for candidate, _ in ways:
        first = [_fresh(found, reading)]
        effect, pages = follow(found, reading, first, candidate, _TO_COMPARE)
        pages = pages if effect == "continues" else first
        keys = {key for seen in pages for key in reading.keys(seen.view)}
        chains.append((candidate, pages, keys))
    most = set[str]().union(*(keys for _, _, keys in chains))
    lost = {candidate.label for candidate, _, keys in chains if keys != most}
    return [(each, it) for each, it, keys in chains if keys == most and len(it) > 1], lost
