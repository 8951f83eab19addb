"""Texts that a table can hold: free of lone surrogates, which are written out."""

from adclient._core import jsontext


def encodable(value: object) -> object:
    """A value whose texts are free of lone surrogates, which no table can hold."""
    if isinstance(value, str):
        return encodable_text(value)
    if jsontext.is_object(value):
        return {name: encodable(inner) for name, inner in value.items()}
    return [encodable(inner) for inner in value] if jsontext.is_array(value) else value


def encodable_text(text: str) -> str:
    """The same text, where it has none of them."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def encodable_name(name: str) -> str:
    """The same name for a column, without a NUL, at which Arrow's C interface would cut it."""
    return encodable_text(name).replace("\0", "\\x00")
