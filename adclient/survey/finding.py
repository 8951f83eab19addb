"""One open point of the interface, and what was found out about it."""

from collections.abc import Callable, Mapping
from typing import TypeVar, cast

import attrs

from adclient._service.model import Certainty
from adclient._values.json_values import as_mapping, is_array, is_object
from adclient.conventions import Continuation

T = TypeVar("T")
Setting = str | bool | tuple[str, ...] | Continuation | None


@attrs.frozen
class Finding:
    """One open point of the interface, and what was found out about it.

    Attributes:
        point: The open point, such as `"read parameters"`.
        conclusion: What follows from the observation.
        observed: What was observed, in words.
        certainty: `"observed"` if the observation has only one explanation, `"likely"` if it has
            others, and `"not observed"` if there was nothing to conclude from.
        settings: The settings of `Conventions` that follow.
        read: The name of the read that differs from the others; None if it is about most reads.
        suggestions: Arguments of `Conventions` that a client can have, but does not need:
            `Report.save` writes them as comments.

    Examples:
        >>> from adclient.doctor import examine
        >>> from adclient.testing import FakeAdService
        >>> fake = FakeAdService()
        >>> report = examine(fake.client(), account_id="account_b204")
        >>> report["read parameters"].conclusion
        'in the query'
    """

    point: str
    conclusion: str
    observed: str = ""
    certainty: Certainty = "observed"
    settings: Mapping[str, Setting] = attrs.field(factory=dict[str, Setting], hash=False)
    read: str | None = None
    suggestions: Mapping[str, object] = attrs.field(factory=dict[str, object], hash=False)

    def __str__(self) -> str:
        """The conclusion, and the read that it is about."""
        return self.conclusion if self.read is None else f"{self.read}: {self.conclusion}"


def not_observed(point: str, conclusion: str, observed: str = "") -> Finding:
    """The finding on a point of which nothing follows."""
    return Finding(point, conclusion, observed, "not observed")


def mapped(value: T, change: Callable[[str], str]) -> T:
    """A copy of a value with every text in it changed, such as by a redactor."""
    changed: object = value
    if isinstance(value, str):
        changed = change(value)
    elif is_object(value):
        changed = {mapped(key, change): mapped(each, change) for key, each in value.items()}
    elif is_array(value):
        changed = tuple(mapped(each, change) for each in value)
    elif attrs.has(type(value)):
        names = [name for name in as_mapping(value) if not name.startswith("_")]
        changed = type(value)(**{name: mapped(getattr(value, name), change) for name in names})
    return cast(T, changed)
