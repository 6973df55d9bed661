"""A benchmark with parameters, described: its cells, and which of them differ."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GridCell:
    """One cell of a parameter grid.

    Attributes:
        label: its parameters, "n=100".
        median: of the launches' p25.
    """

    label: str
    launches: int
    median: float


@dataclass(frozen=True, slots=True)
class GridPair:
    """Two cells compared.

    Attributes:
        ratio: second / first, of the medians.
        p, p_adjusted: two-sided Mann-Whitney, adjusted by Holm over the pairs of the grid.
    """

    first: str
    second: str
    ratio: float | None
    p: float
    p_adjusted: float


@dataclass(frozen=True, slots=True)
class Grid:
    """A benchmark with parameters: does any of them matter, and which differ.

    Attributes:
        benchmark: the id without its parameters.
        h, df, p: the Kruskal-Wallis test over all cells; of two the p of their pair decides.
    """

    benchmark: str
    metric: str
    unit: str
    cells: tuple[GridCell, ...]
    h: float
    df: int
    p: float
    pairs: tuple[GridPair, ...]
    notes: tuple[str, ...] = ()
    display_unit: str | None = None
