"""A benchmark with parameters, described: its cells, and which of them differ."""

from __future__ import annotations

from dataclasses import dataclass

from benchgate.json_object import Count, JsonObject, Probability, Text


@dataclass(frozen=True, slots=True)
class GridCell(JsonObject):
    """One cell of a parameter grid.

    Attributes:
        label: its parameters, "n=100".
        median: of the launches' p25.
    """

    label: Text
    launches: Count
    median: float


@dataclass(frozen=True, slots=True)
class GridPair(JsonObject):
    """Two cells compared.

    Attributes:
        ratio: second / first, of the medians.
        p, p_adjusted: two-sided Mann-Whitney, adjusted by Holm over the pairs of the grid.
    """

    first: Text
    second: Text
    ratio: float | None
    p: Probability
    p_adjusted: Probability


@dataclass(frozen=True, slots=True)
class Grid(JsonObject):
    """A benchmark with parameters: does any of them matter, and which differ.

    Attributes:
        benchmark: the id without its parameters.
        h, df, p: the Kruskal-Wallis test over all cells; of two the p of their pair decides.
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
