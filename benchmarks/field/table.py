"""The results as a table: ratios to bare httpx in the same run."""

import statistics
from collections.abc import Mapping, Sequence

from field.peers import BARE, OURS, Peer
from field.rows import Row
from field.turns import Result

Results = Mapping[str, Result]


def table(rows: Sequence[Row], peers: Sequence[Peer], results: Mapping[str, Results]) -> str:
    """A Markdown table of all rows, with our goals."""
    names = dict.fromkeys(peer.name for peer in peers)
    others = [name for name in names if name not in (OURS.name, BARE.name)]
    heads = ["row", "goal", OURS.name, "its CPU time", *others, "bare httpx itself"]
    lines = [heads, ["---"] * len(heads)]
    for row in rows:
        shown = results[row.key]
        cells = [_cell(row, shown, name) for name in (OURS.name, *others)]
        goal = "–" if row.goal is None else str(row.goal)
        ours = [cells[0], _cpu(row, shown)]
        ours[row.by_cpu] += _verdict(row, shown)
        lines.append([row.title, goal, *ours, *cells[1:], _bare(row, shown)])
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def failures(results: Mapping[str, Results]) -> list[str]:
    """Who failed where, and why."""
    return [
        f"{name} failed in {row}: {result.failure}"
        for row, shown in results.items()
        for name, result in shown.items()
        if result.failure is not None
    ]


def missed(rows: Sequence[Row], results: Mapping[str, Results]) -> list[str]:
    """The rows in which we miss our goal."""
    return [
        f"{OURS.name} misses the goal of {row.key}"
        for row in rows
        if _verdict(row, results[row.key]).endswith("✗")
    ]


def cpu_of(results: Results) -> float | None:
    """Our processor time as a ratio to that of bare httpx."""
    ours, bare = (results.get(name, Result()).cpu for name in (OURS.name, BARE.name))
    return statistics.median(ours) / statistics.median(bare) if ours and bare else None


def figure_of(row: Row, results: Results, name: str) -> float | tuple[float, int] | None:
    """The figure of one cell: a ratio to bare httpx, or what was measured."""
    result = results.get(name, Result())
    if not result.figures or result.failure is not None:
        return None
    if row.kind == "size":
        return result.figures[0]
    if not row.is_ratio:
        return statistics.median(result.figures)
    bare = results.get(BARE.name, Result())
    if not bare.figures or bare.failure is not None:
        return None
    ratio = statistics.median(result.figures) / statistics.median(bare.figures)
    return 1 / ratio if row.kind == "rate" else ratio


def noise_of(figures: Sequence[float]) -> float:
    """How far the middle half of the turns lies apart, as a part of their median."""
    if len(figures) < 4:
        return (max(figures) - min(figures)) / statistics.median(figures)
    low, _, high = statistics.quantiles(figures, n=4)
    return (high - low) / statistics.median(figures)


def _cell(row: Row, results: Results, name: str) -> str:
    if results.get(name, Result()).failure is not None:
        return "failed"
    figure = figure_of(row, results, name)
    if figure is None:
        return "–"
    if isinstance(figure, tuple | list):
        size, count = figure
        return f"{size:.1f}, {count}"
    if row.kind == "count":
        return f"{figure:,.0f}"
    return f"{figure:.2f}" if 0.1 <= figure < 9.95 else f"{figure:.2g}"


def _cpu(row: Row, results: Results) -> str:
    """Our processor time, and its ratio to that of bare httpx."""
    ratio = cpu_of(results)
    if row.kind not in ("time", "rate") or ratio is None:
        return "–"
    return f"{_duration(statistics.median(results[OURS.name].cpu))} ({ratio:.2f})"


def _verdict(row: Row, results: Results) -> str:
    figure = cpu_of(results) if row.by_cpu else figure_of(row, results, OURS.name)
    if row.goal is None or not isinstance(figure, int | float):
        return ""
    return " ✓" if row.goal.is_met(figure) else " ✗"


def _bare(row: Row, results: Results) -> str:
    """What the ratios refer to, as an aside, with the noise of the machine."""
    if not row.is_ratio or not results.get(BARE.name, Result()).figures:
        return _cell(row, results, BARE.name)
    figures = results[BARE.name].figures
    noise = f" ± {noise_of(figures):.0%}" if len(figures) > 1 else ""
    median = statistics.median(figures)
    return (f"{median / 1e6:.2f} MB" if row.kind == "bytes" else _duration(median)) + noise


def _duration(seconds: float) -> str:
    for unit, factor in (("s", 1), ("ms", 1e3)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"
