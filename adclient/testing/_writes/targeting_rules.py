"""What the fake service refuses inside the targeting of an alpha campaign."""

from itertools import permutations

from adclient.models import JSON
from adclient.testing._accounts.state import Values
from adclient.testing._http.refusal import invalid_value
from adclient.testing._http.requests import nested

# Values of other facets are not checked.
_PREFIXES = {
    "locations": "geo:",
    "industries": "ind:",
    "employers": "org:",
    "seniorities": "sen:",
    "titles": "title:",
}
_NOT_WITH = {
    "employers": ("industries", "company_size"),
    "retargeting_segments": ("interests",),
}
_MAX_AUDIENCE, _MIN_AUDIENCE = 40_000_000, 300
_SHARE_OF_A_VALUE = 0.02


def check_targeting(targeting: Values) -> None:
    """Check a targeting that is an AND of OR-groups; any other is accepted."""
    groups = nested(targeting, "include").get("and")
    if not isinstance(groups, list):
        return
    ors = [_facets(group) for group in groups]
    if not any(group.get("locations") for group in ors):
        raise invalid_value("targeting", "location_required", "a location is required")
    pairs = ((one, other) for a, b in permutations(ors, 2) for one in a for other in b)
    for one, other in pairs:
        if other in _NOT_WITH.get(one, ()):
            message = f"{one} cannot be combined with {other}"
            raise invalid_value("targeting", "incompatible_facets", message)
    audience = float(_MAX_AUDIENCE)
    for group in ors:
        for facet, values in group.items():
            _check_values(facet, values)
        if group and "locations" not in group:
            audience *= min(1.0, _SHARE_OF_A_VALUE * sum(map(len, group.values())))
    if audience < _MIN_AUDIENCE:
        message = f"about {audience:.0f} people, at least {_MIN_AUDIENCE} are needed"
        raise invalid_value("targeting", "audience_too_small", message, _MIN_AUDIENCE)


def _facets(group: JSON) -> dict[str, list[JSON]]:
    """The values of each facet in an OR-group."""
    facets = nested(group, "or") if isinstance(group, dict) else {}
    return {facet: value if isinstance(value, list) else [] for facet, value in facets.items()}


def _check_values(facet: str, values: list[JSON]) -> None:
    if facet == "interface_locales" and len(values) > 1:
        message = "interface_locales takes one value"
        raise invalid_value("targeting", "too_many_facet_values", message, 1)
    prefix = _PREFIXES.get(facet, "")
    for value in values:
        if prefix and not (isinstance(value, str) and value.startswith(prefix)):
            message = f"{facet} has values like {prefix}1, not {value!r}"
            raise invalid_value("targeting", "unknown_facet_value", message)
