"""What may stand in an error or a log line: short, printable, and of known origin."""

LINE = 200
EXCERPT = 2048


def one_line(text: str, limit: int = LINE) -> str:
    """A text as one printable line of bounded length."""
    printable = "".join(char if char.isprintable() else " " for char in text[: 4 * limit])
    line = " ".join(printable.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def excerpt(body: bytes) -> str:
    """The first kilobytes of a body, as text."""
    return body[:EXCERPT].decode("utf-8", errors="replace")
