"""Whether a service file still holds: a few reads as it describes them."""

import attrs

from adclient._service.model import Service
from adclient.conventions import Conventions, of_read, query_of_url
from adclient.survey.candidates import FOLLOWED, as_url, by_name, next_of
from adclient.survey.continuation import follow
from adclient.survey.examination import Candidate, Examination, Reading, Search
from adclient.survey.observation import READS, Observation, Probe
from adclient.survey.trials import NO_ACCOUNT, try_account

_FUNCTIONS: dict[object, str] = {
    query_of_url: "the query of the URL in `next`",
    dict: "the object in `next`",
}


def verify(found: Examination, service: Service) -> None:
    """Read what a file describes; what does not hold stays to be searched for."""
    found.is_check = True
    ways: set[str] = set()
    failed = 0
    for name, listing in service.listings.items():
        conventions = attrs.evolve(of_read(service.conventions, name), page_size=None)
        probe = Probe(
            purpose="as the file says",
            operation=READS[name],
            arguments={"account_id": listing.account_id},
            conventions=conventions,
        )
        seen = found.ask(probe)
        if seen.page is None:
            failed += seen.is_temporary
            is_dead = seen.response is None or seen.status == 401 or failed == 2
            if found.base is None and is_dead:
                found.stopped = f"{seen}; nothing was compared"
                return
            continue
        reading = Reading(seen)
        if reading.is_listing:
            reading.search = Search(next_of(seen.view.next, found.base_url))
            candidate = _way(conventions, seen, found.base_url)
            is_like_others = candidate.label in ways and reading.search.form == listing.next
            if not is_like_others:
                effect, reading.pages = follow(found, reading, reading.pages, candidate, 2)
                if effect not in ("continues", "no items"):
                    continue
            ways.add(candidate.label)
            reading.search.chosen = candidate
            reading.search.certainty = "observed"
        found.readings[name] = reading
        if found.base is None:
            found.base = reading
            try_account(found, reading, NO_ACCOUNT)


def _way(conventions: Conventions, first: Observation, base_url: str) -> Candidate:
    """The way in which a client with these conventions continues a listing."""
    function = conventions.continuation
    if function is not None:
        return Candidate(_FUNCTIONS.get(function, "its function"), {"continuation": function})
    is_followed = conventions.follow_next_urls and as_url(first, base_url)[1]
    is_text = not conventions.follow_next_urls
    return FOLLOWED if is_followed else by_name(conventions.cursor_parameter, is_text=is_text)
