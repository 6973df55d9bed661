from __future__ import annotations

import dataclasses
import json
import math
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchgate.interval import Interval
from benchgate.model.environment import Environment
from benchgate.model.metrics import Better, Kind
from benchgate.model.redact import Redactor
from benchgate.model.run import Source
from benchgate.model.statistics import (
    STATISTICS,
    BetweenLaunches,
    Failure,
    Grid,
    GridCell,
    GridPair,
    LaunchesForChange,
    Mean,
    Quantile,
    Reach,
    ResultStatistics,
    RunStatistics,
    SeriesDetail,
    SeriesStatistics,
    Warmup,
    WithinLaunch,
    WithoutOutliers,
)

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

VALIDATOR = jsonschema.Draft202012Validator(STATISTICS.json_schema())
LEAKY = "a xyzzy123 b"


def as_is(text: str) -> str:
    return text


counts = st.integers(0, 10**9)
numbers = st.floats(allow_nan=False, allow_infinity=False)
probabilities = st.floats(0, 1)


@dataclasses.dataclass(frozen=True)
class Parts:
    """Strategies for statistics.

    Attributes:
        texts: for every text.
        everything: leave nothing out that can be there.
    """

    texts: SearchStrategy[str]
    everything: bool = False

    def maybe(self, of: SearchStrategy[Any]) -> SearchStrategy[Any]:
        return of if self.everything else st.none() | of

    def few(self, of: SearchStrategy[Any]) -> SearchStrategy[Any]:
        return st.lists(of, min_size=int(self.everything), max_size=2).map(tuple)

    def means(self) -> SearchStrategy[Mean]:
        known = self.maybe(numbers)
        return st.builds(
            Mean, counts, numbers, known, known, known, self.intervals(), st.booleans()
        )

    def intervals(self) -> SearchStrategy[Interval | None]:
        return self.maybe(st.builds(Interval, numbers, numbers, probabilities, self.texts))

    def details(self) -> SearchStrategy[SeriesDetail]:
        known, p = self.maybe(numbers), probabilities
        quantile = st.builds(Quantile, self.texts, p, numbers, self.intervals(), self.texts)
        needed = st.builds(LaunchesForChange, numbers, self.maybe(counts))
        return st.builds(
            SeriesDetail,
            samples=counts,
            quantiles=self.few(quantile),
            full=self.means(),
            trimmed=st.builds(WithoutOutliers, self.texts, counts, counts, self.means()),
            within=self.maybe(st.builds(WithinLaunch, numbers, numbers, counts)),
            between=self.maybe(
                st.builds(BetweenLaunches, known, known, known, known, self.means(), self.maybe(p))
            ),
            reach=self.maybe(st.builds(Reach, numbers, p, p, known, self.few(needed))),
            warmup=self.maybe(
                st.builds(Warmup, self.few(numbers), counts, counts, counts, self.maybe(counts))
            ),
            timer_ratio=known,
            notes=self.few(self.texts),
        )

    def series(self) -> SearchStrategy[SeriesStatistics]:
        names = self.texts.filter(bool)
        return st.builds(
            SeriesStatistics,
            benchmark=names,
            metric=names,
            unit=self.texts,
            launches=counts,
            samples=counts,
            loops=counts,
            p25=numbers,
            median=numbers,
            p95=self.maybe(numbers),
            cpu_ratio=self.maybe(numbers),
            p99=self.maybe(numbers),
            p999=self.maybe(numbers),
            max=self.maybe(numbers),
            spread_ratio=self.maybe(numbers),
            better=st.sampled_from(Better),
            kind=st.sampled_from(Kind),
            display_unit=self.maybe(self.texts),
            notes=self.few(self.texts),
            detail=self.maybe(self.details()),
        )

    def grids(self) -> SearchStrategy[Grid]:
        cell = st.builds(GridCell, self.texts, counts, numbers)
        pair = st.builds(
            GridPair, self.texts, self.texts, self.maybe(numbers), probabilities, probabilities
        )
        return st.builds(
            Grid,
            benchmark=self.texts,
            metric=self.texts,
            unit=self.texts,
            cells=self.few(cell),
            h=numbers,
            df=counts,
            p=probabilities,
            pairs=self.few(pair),
            notes=self.few(self.texts),
            display_unit=self.maybe(self.texts),
        )

    def results(self) -> SearchStrategy[ResultStatistics]:
        text = self.maybe(self.texts)
        run = st.builds(
            RunStatistics,
            arm=self.texts,
            source=st.builds(Source, text, text, st.booleans(), self.texts),
            started=self.texts,
            complete=st.booleans(),
            environment=st.builds(
                Environment,
                os=self.texts,
                cpu_count=counts,
                governor=text,
                toolchains=st.dictionaries(self.texts, self.texts, max_size=2),
            ),
            series=self.few(self.series()),
            failures=self.few(st.builds(Failure, self.texts.filter(bool), self.texts)),
            grids=self.few(self.grids()),
            same_code=self.few(self.texts),
        )
        return st.builds(ResultStatistics, self.few(run), numbers, self.few(self.texts))


anything = Parts(st.text(st.characters(exclude_categories=["Cs"]), max_size=8))


def plain(found: object) -> Any:  # noqa: ANN401 - JSON of any shape
    """Dataclasses as the JSON that their fields make."""
    return json.loads(json.dumps(dataclasses.asdict(found)))  # type: ignore[call-overload]


def written(found: ResultStatistics, redact: Redactor | None = None) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(STATISTICS.write(found, redact or as_is))
    return document


SERIES = SeriesStatistics("b", "time", "s", 1, 1, 1, 1.0, 1.0, None, None)
RUN = RunStatistics(
    arm="head",
    source=Source(),
    started="2026-01-01T00:00:00Z",
    complete=True,
    environment=Environment(),
    series=(SERIES,),
)


@settings(deadline=None, max_examples=60)
@given(anything.results())
def test_every_field_is_written_under_its_own_name(found: ResultStatistics) -> None:
    document = written(found)

    assert document["schema"] == STATISTICS.version
    assert document == plain(found)


@settings(deadline=None, max_examples=30)
@given(anything.results())
def test_statistics_follow_the_schema(found: ResultStatistics) -> None:
    VALIDATOR.validate(written(found))


@settings(deadline=None, max_examples=10)
@given(Parts(st.just(LEAKY), everything=True).results())
def test_every_text_is_redacted(found: ResultStatistics) -> None:
    document = written(found, Redactor({"MY_TOKEN": "xyzzy123"}))

    assert document == json.loads(json.dumps(plain(found)).replace("xyzzy123", "[removed]"))


def test_secrets_are_found_by_their_shape() -> None:
    url = "query[dsn=postgres://u:hunter2@db/x]"
    series = dataclasses.replace(SERIES, benchmark=url, notes=(f"see {url}",))
    failure = Failure("b", "Authorization: Basic aGVsbG8=")
    run = dataclasses.replace(RUN, series=(series,), failures=(failure,))

    text = STATISTICS.write(ResultStatistics((run,), warnings=(url,)), Redactor({})).decode()

    assert text.count("postgres://u:[removed]@db/x") == 3
    assert "Authorization: Basic [removed]" in text
    assert "hunter2" not in text


def test_the_version_comes_first_and_it_is_indented_for_people() -> None:
    data = STATISTICS.write(ResultStatistics((RUN,)), as_is)

    assert data.startswith(b'{\n  "schema": 1,\n  "runs": [')
    assert data.endswith(b"}\n")


def test_the_schema_refuses_what_is_no_such_document() -> None:
    jsonschema.Draft202012Validator.check_schema(STATISTICS.json_schema())
    document = written(ResultStatistics((RUN,)))
    assert VALIDATOR.is_valid(document)
    assert not VALIDATOR.is_valid(document | {"schema": STATISTICS.version + 1})
    assert not VALIDATOR.is_valid(document | {"more": 1})
    assert not VALIDATOR.is_valid({"schema": STATISTICS.version})
    del document["runs"][0]["series"][0]["detail"]
    assert not VALIDATOR.is_valid(document)


@pytest.mark.parametrize(
    "change", [{"p25": math.nan}, {"spread_ratio": math.inf}, {"launches": -1}, {"benchmark": ""}]
)
def test_nothing_is_written_that_no_json_holds(change: dict[str, Any]) -> None:
    series = dataclasses.replace(SERIES, **change)
    run = dataclasses.replace(RUN, series=(series,))

    with pytest.raises(ValueError, match=next(iter(change))):
        STATISTICS.write(ResultStatistics((run,)), as_is)


def test_output_that_is_no_utf_8_can_be_written() -> None:
    printed = b"caf\xe9".decode(errors="surrogateescape")

    assert written(ResultStatistics((), warnings=(printed,)))["warnings"] == [r"caf\udce9"]
