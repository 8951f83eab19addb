"""Records, and values of classes of the caller, as JSON."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from datetime import date
from enum import Enum
from typing import cast

from adclient._values import jsontext
from adclient._values.json_values import JSON, SCALARS, fields_of, is_array, is_object, walks


class ToJSON:
    """What has `to_dict` has `to_json` as well."""

    __slots__ = ()

    @abstractmethod
    def to_dict(self) -> Mapping[str, object]:
        """The result as a dictionary of JSON values."""

    def to_json(self) -> str:
        """Convert what `to_dict` returns to JSON text, in which each number has all its digits.

        Returns:
            One line, without spaces between values.

        Raises:
            ValueError: It has a value of yours that is not JSON, such as NaN.

        Examples:
            >>> from adclient import Diff
            >>> Diff(field="daily_budget", before=100, after=120).to_json()
            '{"field":"daily_budget","before":100,"after":120}'
        """
        return json_of(self, self.to_dict())


def json_of(result: object, value: object) -> str:
    """The JSON text of a value that a result contains."""
    try:
        return jsontext.dumps(value, type(result).__name__, errors="backslashreplace")
    except jsontext.JSONError as error:
        raise ValueError(str(error)) from None


@walks
def as_objects(items: Iterable[object]) -> list[dict[str, JSON]]:
    """Each item as a JSON object."""
    return [cast("dict[str, JSON]", as_json(item)) for item in items]


def as_json(value: object) -> JSON:
    """A value of a field of a caller's class as JSON."""
    return cast(JSON, plain(value, keeps_times=False))


def plain(value: object, *, keeps_times: bool = True) -> object:
    """A value of a field as plain Python: dictionaries, lists, scalars, and times or their text."""
    if type(value) in SCALARS:
        return value
    if isinstance(value, ToJSON):
        return value.to_dict()
    if isinstance(value, Enum):
        return plain(value.value, keeps_times=keeps_times)
    if isinstance(value, date):  # or a time
        return value if keeps_times else value.isoformat()
    if isinstance(value, set | frozenset):
        value = sorted(cast("set[object]", value), key=repr)
    if is_array(value):
        return [plain(element, keeps_times=keeps_times) for element in value]
    fields = value if is_object(value) else fields_of(value)
    if fields is None:
        return value
    return {str(name): plain(inner, keeps_times=keeps_times) for name, inner in fields.items()}
