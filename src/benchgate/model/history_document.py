"""The history of a project: each benchmark's values in commit order, and where they changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Final, Self, overload

import numpy as np
from pydantic import FailFast, Field
from pydantic_core import CoreSchema, core_schema

from benchgate.json_object import Count, JsonObject, Name, NotNegative, Probability, Text, Timestamp
from benchgate.model.document import Format
from benchgate.model.metrics import Better

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import GetCoreSchemaHandler

    from benchgate.arrays import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class HistoryRun(JsonObject):
    """One commit, measured in one job.

    Attributes:
        id: distinguishes runs of one commit.
        sha: the commit; "" if it is not known.
        ref: the branch; "" if it is not known.
        subject: first line of the commit's message; "" if it is not known.
        author: name of who wrote the commit; "" if it is not known.
        started: when measuring began.
        machine: name of the environment, as in `Trend.machine`.
        url: address of the run's log; "" if there is none.
        committed: when the commit was made; None if it is not known.
    """

    id: Name
    sha: Text
    ref: Text
    subject: Text
    started: Timestamp
    machine: Text
    url: Text = ""
    committed: Timestamp | None = None
    author: Text = ""


@dataclass(frozen=True, slots=True)
class TrendPoint(JsonObject):
    """The value of one run.

    Attributes:
        run: index in `History.runs`.
        value: median over the launches, in the unit of the trend.
        low, high: the middle half of the launches; both equal `value` for a single launch.
    """

    run: Count
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, eq=False)
class TrendPoints(Sequence[TrendPoint]):
    """The points of a trend as arrays: a tenth of the memory.

    Attributes:
        runs: shape (n,), as `TrendPoint.run`; likewise the others.
    """

    runs: IntArray
    values: FloatArray
    low: FloatArray
    high: FloatArray

    @classmethod
    def of(cls, points: Sequence[TrendPoint]) -> Self:
        """Make them of single points."""
        return cls(
            np.array([one.run for one in points], dtype=np.int64),
            np.array([one.value for one in points], dtype=np.float64),
            np.array([one.low for one in points], dtype=np.float64),
            np.array([one.high for one in points], dtype=np.float64),
        )

    def __len__(self) -> int:
        return len(self.runs)

    @overload
    def __getitem__(self, place: int) -> TrendPoint: ...
    @overload
    def __getitem__(self, place: slice) -> TrendPoints: ...
    def __getitem__(self, place: int | slice) -> TrendPoint | TrendPoints:
        runs, values, low, high = self.runs, self.values, self.low, self.high
        if isinstance(place, slice):
            return TrendPoints(runs[place], values[place], low[place], high[place])
        return TrendPoint(*(column[place].item() for column in (runs, values, low, high)))

    def __iter__(self) -> Iterator[TrendPoint]:
        columns = (self.runs, self.values, self.low, self.high)
        return map(TrendPoint, *(column.tolist() for column in columns))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(self.values.tobytes())


def _single(points: object) -> object:
    return tuple(points) if isinstance(points, TrendPoints) else points


class _AsPoints:
    """In a file, points are a list of tables."""

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        listed = handler.generate_schema(Annotated[tuple[TrendPoint, ...], FailFast()])
        return core_schema.no_info_after_validator_function(
            TrendPoints.of,
            core_schema.json_or_python_schema(
                json_schema=listed,
                python_schema=core_schema.no_info_before_validator_function(_single, listed),
            ),
            serialization=core_schema.wrap_serializer_function_ser_schema(
                lambda points, write: write(tuple(points)), schema=listed
            ),
        )


@dataclass(frozen=True, slots=True)
class Shift(JsonObject):
    """A change point: the values moved to another level, and stayed there.

    Attributes:
        point: index in `Trend.points` of the first value after the change.
        p: of the test that found it.
        before, after: the levels, in the unit of the trend.
        ratio: after / before; None if `before` is 0.
        worse: whether the metric got worse.
        last_before, first_after: the commits between which it changed; "" if not known.
        also: what else changed between these runs, such as "python: '3.12.1' and '3.13.0'".
    """

    point: Count
    p: Probability
    before: float
    after: float
    ratio: float | None
    worse: bool
    last_before: Text
    first_after: Text
    also: tuple[Text, ...] = ()


@dataclass(frozen=True, slots=True)
class Moved(JsonObject):
    """The newest runs are away from the level before, but are too few to confirm a change.

    Attributes:
        runs: how many they are.
        ratio: their level, divided by the level before; None if that is 0.
        worse: whether the metric got worse.
    """

    runs: Count
    ratio: float | None
    worse: bool


@dataclass(frozen=True, slots=True)
class Trend(JsonObject):
    """One statistic of one benchmark, run by run, on one machine.

    Attributes:
        machine: name of the environment: values of different machines are never in one trend.
        points: in commit order.
        shifts: by ascending point.
        noise_ratio: robust standard deviation of the runs around their level, as a fraction of it;
            None if there are too few runs to know it.
        workload: hash of the benchmark's definition, and what counted if anything did: values of
            different work are never in one trend.
        ended: whether a newer trend continues it, because the benchmark's definition has changed.
        too_short: whether there are too few runs to find any change.
        moved: what the newest runs show, but do not confirm; None if they show nothing.
    """

    benchmark: Name
    metric: Name
    statistic: Text
    unit: Text
    better: Better
    display_unit: Text
    machine: Text
    points: Annotated[Sequence[TrendPoint], _AsPoints()]
    shifts: tuple[Shift, ...] = ()
    noise_ratio: NotNegative | None = None
    workload: Text = ""
    ended: bool = False
    too_short: bool = False
    moved: Moved | None = None

    def values(self) -> tuple[float, ...]:
        points = self.points
        if isinstance(points, TrendPoints):
            return tuple(points.values.tolist())
        return tuple(one.value for one in points)


@dataclass(frozen=True, slots=True)
class History(JsonObject):
    """What `benchgate history` found.

    Attributes:
        suite: name of the suite.
        runs: all runs, in commit order.
        trends: those that changed last come first.
        notes: what a reader must know, such as runs that could not be read.
    """

    schema: Annotated[int, Field(ge=1, le=1)] = field(default=1, kw_only=True)
    suite: Text
    runs: Annotated[tuple[HistoryRun, ...], FailFast()]
    trends: Annotated[tuple[Trend, ...], FailFast()]
    notes: tuple[Text, ...] = ()


HISTORY: Final = Format("history", History, hallmark="trends")
