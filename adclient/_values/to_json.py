"""Results as JSON text."""

from abc import abstractmethod
from collections.abc import Mapping

from adclient._values import jsontext


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
