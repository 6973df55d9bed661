"""The description of a benchmark with parameters: its cells, and which of them differ."""

from __future__ import annotations

from dataclasses import dataclass

from benchgate.json_object import Count, JsonObject, Probability, Text


@dataclass(frozen=True, slots=True)
class GridCell(JsonObject):
    """One cell of a parameter grid: a benchmark with one value of each parameter.

    Attributes:
        label: the parameters, such as "n=100".
        median: median of the launches' 25th percentiles.
    """

    label: Text
    launches: Count
    median: float


@dataclass(frozen=True, slots=True)
class GridPair(JsonObject):
    """Two cells of a parameter grid, compared.

    Attributes:
        ratio: second / first, of the medians.
        p, p_adjusted: two-sided Mann-Whitney; adjusted by Holm over the pairs of the grid.
    """

    first: Text
    second: Text
    ratio: float | None
    p: Probability
    p_adjusted: Probability


@dataclass(frozen=True, slots=True)
class Grid(JsonObject):
    """Whether the parameters of a benchmark matter, and which cells of its grid differ.

    Attributes:
        benchmark: the id without its parameters.
        h, df, p: the Kruskal-Wallis test over all cells; for two cells, the p of their pair
            decides.
    """

    benchmark: Text
    metric: Text
    unit: Text
    cells: tuple[GridCell, ...]
    h: float
    df: Count
    p: Probability
    pairs: tuple[GridPair, ...]
    notes: tuple[Text, ...] = ()
    display_unit: Text | None = None
