"""What the fake service refuses inside the targeting of an alpha campaign."""

from collections.abc import Collection
from itertools import permutations

from adclient.models import JSON
from adclient.testing._accounts.state import Values
from adclient.testing._writes.rules import refuse

# The facets whose values this fake can tell by how they begin; all others pass.
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
_LARGEST_AUDIENCE, _SMALLEST_AUDIENCE = 40_000_000, 300
_SHARE_OF_A_VALUE = 0.02


def check_targeting(targeting: Values) -> None:
    """Check a targeting that is written as an AND of OR-groups; any other passes."""
    include = targeting.get("include")
    groups = include.get("and") if isinstance(include, dict) else None
    if not isinstance(groups, list):
        return
    alternatives = [_alternatives(group) for group in groups]
    if not any(group.get("locations") for group in alternatives):
        raise refuse("targeting", "location_required", "a location is required")
    for one, other in permutations(alternatives, 2):
        _check_pair(one, other)
    for group in alternatives:
        for facet, values in group.items():
            _check_values(facet, values)
    _check_audience(alternatives)


def _alternatives(group: JSON) -> dict[str, list[JSON]]:
    """The values of each facet in a group."""
    found = group.get("or") if isinstance(group, dict) else None
    values = found if isinstance(found, dict) else {}
    return {facet: value if isinstance(value, list) else [] for facet, value in values.items()}


def _check_pair(one: Collection[str], other: Collection[str]) -> None:
    """Refuse two groups that both must hold, but of which the facets cannot be combined."""
    for facet in one:
        for unfit in _NOT_WITH.get(facet, ()):
            if unfit in other:
                message = f"{facet} cannot be combined with {unfit}"
                raise refuse("targeting", "incompatible_facets", message)


def _check_values(facet: str, values: list[JSON]) -> None:
    if facet == "interface_locales" and len(values) > 1:
        message = "interface_locales takes one value"
        raise refuse("targeting", "too_many_facet_values", message, 1)
    prefix = _PREFIXES.get(facet, "")
    for value in values:
        if prefix and not (isinstance(value, str) and value.startswith(prefix)):
            message = f"{facet} has values like {prefix}1, not {value!r}"
            raise refuse("targeting", "unknown_facet_value", message)


def _check_audience(groups: list[dict[str, list[JSON]]]) -> None:
    """Refuse what too few people fit: each group but the location keeps a share of them."""
    audience = float(_LARGEST_AUDIENCE)
    for group in groups:
        if "locations" not in group and group:
            audience *= min(1.0, _SHARE_OF_A_VALUE * sum(map(len, group.values())))
    if audience < _SMALLEST_AUDIENCE:
        message = f"about {audience:.0f} people, at least {_SMALLEST_AUDIENCE} are needed"
        raise refuse("targeting", "audience_too_small", message, _SMALLEST_AUDIENCE)
