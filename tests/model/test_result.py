from __future__ import annotations

import dataclasses
import json
import math
import re
from base64 import b64decode, b64encode
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from tests.model.damage import read_damaged

from benchgate.errors import FormatError
from benchgate.model.codec import decode_result, encode_result
from benchgate.model.environment import Environment
from benchgate.model.launch_table import LARGEST, Launch
from benchgate.model.metrics import Better, Kind, Metric
from benchgate.model.policy import ConfigTables, Options, Policy
from benchgate.model.redact import Redactor
from benchgate.model.result import (
    MAX_SHARDS,
    MOST_STORED,
    RESULT,
    Result,
    Screening,
    Shard,
    SkippedResult,
    StoredRun,
    join,
)
from benchgate.model.run import (
    CANARY_ID,
    NEW_VERSION,
    BenchmarkFiles,
    BenchmarkResult,
    Run,
    Series,
    Source,
    Status,
    Tier,
)
from benchgate.units import TIME_UNITS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

NAME = "result.json"
KEPT = ConfigTables("benchgate.toml", {"gate": {"margin": "3%"}}, {"gate": 1, "gate.margin": 2})


def as_is(text: str) -> str:
    return text


def plain(value: object) -> object:
    """Dataclasses and arrays as something that == compares."""
    if dataclasses.is_dataclass(value):
        return {
            field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)
        }
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    return value.tolist() if isinstance(value, np.ndarray) else value


def launch(round_: int, *samples: float, warmup: tuple[float, ...] = ()) -> Launch:
    return Launch(round=round_, order=0, samples=np.array(samples), warmup=np.array(warmup))


def benchmark(id_: str = "parse/large[n=1000]", *launches: Launch) -> BenchmarkResult:
    series = Series(Metric("time", "s"), 16, launches or (launch(0, 0.25, 0.5), launch(1, 0.125)))
    return BenchmarkResult(id=id_, workload="abc", tier=Tier.LOCKSTEP, series=(series,))


def run(*benchmarks: BenchmarkResult) -> Run:
    return Run(
        source=Source(sha="1f3", ref="main", dirty=True),
        started="2025-01-31T09:30:00Z",
        environment=Environment(os="Debian", toolchains={"base python": "3.12.1"}),
        benchmarks=benchmarks or (benchmark(),),
    )


def result() -> Result:
    return Result(head=run(), base=run(), duration_s=1.5, warnings=("one",))


def document() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(encode_result(result(), as_is))
    return loaded


# Text as programs print it, with bytes that are no UTF-8 (lone surrogates) left out: they come
# back as the escapes that were written for them.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
optional_texts = st.none() | texts
counts = st.integers(0, 10**9)
environments = st.builds(
    Environment,
    os=texts,
    cpu_count=counts,
    memory_bytes=st.none() | counts,
    turbo=st.none() | st.booleans(),
    load_average=st.none() | st.floats(0, 1e3),
    toolchains=st.dictionaries(texts, texts, max_size=3),
    timer_cost_ns=st.none() | st.floats(0, 1e9),
    timer_resolution_ns=st.none() | st.floats(1, 1e9),
)
metrics = st.builds(
    Metric,
    name=texts.filter(bool),
    unit=st.sampled_from(["s", "B", ""]),
    better=st.sampled_from(Better),
    kind=st.sampled_from(Kind),
)


def arrays(unit: str, min_size: int) -> st.SearchStrategy[Any]:
    numbers = st.floats(0.0 if unit == "s" else -LARGEST, LARGEST)
    return npst.arrays(np.float64, st.integers(min_size, 4), elements=numbers)


@st.composite
def many_series(draw: st.DrawFn) -> Series:
    metric = draw(metrics)
    rounds = sorted(draw(st.sets(counts, max_size=3)))
    launches = tuple(
        Launch(
            round=round_,
            order=draw(st.integers(0, 1)),
            samples=draw(arrays(metric.unit, 1)),
            warmup=draw(arrays(metric.unit, 0)),
        )
        for round_ in rounds
    )
    return Series(metric, draw(st.integers(1, 10**9)), launches)


measured_benchmarks = st.builds(
    BenchmarkResult,
    id=texts.filter(bool),
    workload=texts,
    tier=st.sampled_from(Tier),
    status=st.sampled_from([Status.OK, Status.FAILED]),
    error=optional_texts,
    notes=st.lists(texts, max_size=2).map(tuple),
    location=optional_texts,
    display_unit=st.none() | st.sampled_from(TIME_UNITS),
    parts=st.dictionaries(texts, texts, max_size=2),
    round_s=st.none() | st.floats(0, 1e6),
    files=st.sampled_from(BenchmarkFiles),
    new_version_of=optional_texts,
    series=st.lists(many_series(), max_size=2, unique_by=lambda s: s.metric.name).map(tuple),
)
benchmarks = measured_benchmarks | measured_benchmarks.map(
    lambda one: replace(one, status=Status.SAME_CODE, error=None, series=())
)
runs = st.builds(
    Run,
    source=st.builds(Source, optional_texts, optional_texts, st.booleans(), texts),
    started=st.datetimes().map(lambda time: time.isoformat() + "Z"),
    environment=environments,
    benchmarks=st.lists(benchmarks, max_size=2, unique_by=lambda b: b.id).map(tuple),
    suite=texts,
    seed=st.integers(-(2**63), 2**63 - 1),
    complete=st.booleans(),
    screen_rounds=counts,
    until_decided=st.booleans(),
    files=st.sampled_from(BenchmarkFiles),
)
results = st.builds(
    Result,
    head=runs,
    base=st.none() | runs,
    duration_s=st.floats(0, 1e9),
    warnings=st.lists(texts, max_size=2).map(tuple),
    tool=texts,
    shard=st.none() | st.builds(Shard, st.just(2), st.integers(2, MAX_SHARDS), st.just(("a", "b"))),
)


@settings(deadline=None)
@given(results)
def test_what_is_written_is_read_again(original: Result) -> None:
    data = encode_result(original, as_is)
    assert plain(decode_result(data, NAME)) == plain(original)
    assert encode_result(decode_result(data, NAME), as_is) == data


@settings(deadline=None)
@given(st.data())
def test_a_damaged_file_is_refused_or_still_a_result(data: st.DataObject) -> None:
    read_damaged(decode_result, encode_result(result(), as_is), NAME, data)


def test_a_file_cut_off_anywhere_is_refused() -> None:
    data = encode_result(result(), as_is).rstrip()
    for end in range(len(data)):
        with pytest.raises(FormatError, match=r"cut off|empty"):
            decode_result(data[:end], NAME)


@settings(deadline=None)
@given(st.binary(max_size=50) | st.text(max_size=50).map(lambda text: text.encode(errors="ignore")))
def test_anything_else_is_refused(data: bytes) -> None:
    with pytest.raises(FormatError):
        decode_result(data, NAME)


@pytest.mark.parametrize("values", [(1.0, 2.0), (math.pi, 2.0)])
def test_samples_are_read_only_float64(values: tuple[float, ...]) -> None:
    read = read_again(launch(0, *values, warmup=(3.0,)))
    for array in (read[0].samples, read[0].warmup):
        assert array.dtype == np.float64
        assert not array.flags.writeable
    assert (*read[0].samples, *read[0].warmup) == (*values, 3.0)


def test_the_layout_is_the_documented_one() -> None:
    whole = document()
    assert list(whole) == [
        "schema", "tool", "head", "base", "duration_s", "warnings", "shard", "shards",
        "screening", "policy", "phases",
    ]  # fmt: skip
    assert whole["schema"] == RESULT.version
    assert list(whole["base"]) == [
        "source", "started", "suite", "seed", "complete", "full_rounds", "screen_rounds",
        "until_decided", "is_mixed", "files", "environment", "benchmarks",
    ]  # fmt: skip
    assert whole["head"]["benchmarks"][0]["series"][0] == {
        "metric": {"name": "time", "unit": "s", "better": "lower", "kind": "sampled"},
        "loops": 16,
        "counter": "",
        "launches": {
            "round": [0, 1],
            "order": [0, 0],
            "lane": [None, None],
            "warmup": [0, 0],
            "samples": [2, 1],
            "per_unit": 16e9,
            "values": "AAAAKFCUa9Y17tx3AAEA",
        },
    }


@settings(deadline=None, max_examples=30)
@given(results)
def test_files_follow_the_schema(original: Result) -> None:
    validator = jsonschema.Draft202012Validator(RESULT.json_schema())
    validator.validate(json.loads(encode_result(original, as_is)))


def test_the_schema_refuses_what_reading_refuses() -> None:
    schema = RESULT.json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    assert not validator.is_valid(document() | {"schema": RESULT.version + 1})
    assert not validator.is_valid(document() | {"more": 1})
    assert not validator.is_valid({"schema": RESULT.version})


def result_of(*launches: Launch, unit: str = "s") -> Result:
    """A result with one series."""
    one = replace(benchmark(), series=(Series(Metric("it", unit), 16, launches),))
    return Result(head=run(one))


def read_again(*launches: Launch, unit: str = "s") -> tuple[Launch, ...]:
    """The launches, as they are read from a file."""
    read = decode_result(encode_result(result_of(*launches, unit=unit), as_is), NAME)
    return read.head.benchmarks[0].series[0].launches


SERIES = "head.benchmarks[0].series[0]"
TABLE = f"{SERIES}.launches"
LAUNCH = f"{TABLE}[1]"


def table(samples: Sequence[float], warmup: Sequence[float] = ()) -> dict[str, Any]:
    """Two launches in a file, the second one with these values."""
    values = np.array([0.5, *warmup, *samples])
    planes = values.astype("<f8").view(np.uint8).reshape(-1, 8).T
    return {
        "round": [0, 1],
        "order": [0, 0],
        "lane": [None, None],
        "warmup": [0, len(warmup)],
        "samples": [1, len(samples)],
        "per_unit": None,
        "values": b64encode(planes.tobytes()).decode(),
    }


def set_at(place: str, value: object) -> Callable[[dict[str, Any]], None]:
    """A change of the document at a place such as `benchmarks[0].id`."""
    steps = [
        int(s) if s.isdecimal() else s for s in place.replace("[", ".").replace("]", "").split(".")
    ]

    def change(whole: Any) -> None:  # noqa: ANN401 - JSON of any shape
        for step in steps[:-1]:
            whole = whole[step]
        whole[steps[-1]] = value

    return change


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (TABLE, table([1.0, -0.1]), f"{LAUNCH}.samples[1]: -0.1 is negative, which a time cannot"),
        (TABLE, table([1.0], warmup=[-1.0]), f"{LAUNCH}.warmup[0]: -1.0 is negative, which a time"),
        (TABLE, table([1, math.nan]), f"{LAUNCH}.samples[1]: nan is not a finite number"),
        (TABLE, table([math.inf]), f"{LAUNCH}.samples[0]: inf is not a finite number"),
        (TABLE, table([1e151]), f"{LAUNCH}.samples[0]: 1e+151 is beyond what can be measured"),
        (f"{TABLE}.samples", [2, 0], f"{TABLE}.samples[1]: 0: must be at least 1"),
        (f"{TABLE}.samples", [2, True], f"{TABLE}.samples[1]: true is not a whole number"),
        (f"{TABLE}.samples", [2, "1"], f'{TABLE}.samples[1]: "1" is not a whole number'),
        (f"{TABLE}.samples", "1", f'{TABLE}.samples: "1" is not an array'),
        (
            f"{TABLE}.samples",
            [2, 10**400],
            f"{TABLE}.samples: more than 10000000 values are the limit of a series",
        ),
        (f"{TABLE}.samples", [2], f"{TABLE}.samples: must have as many entries as `round`"),
        (f"{TABLE}.lane", [None, -1], f"{TABLE}.lane[1]: -1: must be at least 0"),
        (f"{TABLE}.order", [0] * 3, f"{TABLE}.order: must have as many entries as `round`"),
        (f"{TABLE}.round", [0, 0], f"{LAUNCH}.round: round 0 comes after round 0"),
        (f"{TABLE}.round", [0, 1.5], f"{TABLE}.round[1]: 1.5 is not a whole number"),
        (f"{TABLE}.round", [0, -1], f"{TABLE}.round[1]: -1: must be at least 0"),
        (f"{TABLE}.per_unit", 0, f"{TABLE}.per_unit: 0: must be at least 1e-09"),
        (
            f"{TABLE}.per_unit",
            None,
            f"{TABLE}.values: holds 15 bytes, which are not those of 3 values",
        ),
        (
            f"{TABLE}.values",
            "AAAAAAA=",
            f"{TABLE}.values: holds 5 bytes, which are not those of 3 values",
        ),
        (f"{TABLE}.values", "", f"{TABLE}.values: holds 0 bytes, which are not those of 3 values"),
        (
            f"{TABLE}.values",
            "AAAA" * 9,
            f"{TABLE}.values: holds 27 bytes, which are not those of 3 values",
        ),
        (f"{TABLE}.values", "A", f"{TABLE}.values: is not base64"),
        (f"{TABLE}.values", "\u00e4", f"{TABLE}.values: is not base64"),
        (f"{TABLE}.values", [1], f"{TABLE}.values: an array is not a text"),
        (f"{TABLE}.extra", 1, f'{TABLE}: unknown key "extra"'),
        (TABLE, [], f"{TABLE}: an array is not an object"),
        (
            f"{SERIES}.metric.better",
            "up",
            f"{SERIES}.metric.better: \"up\": must be 'lower' or 'higher'",
        ),
        (f"{SERIES}.loops", "16", f'{SERIES}.loops: "16" is not a whole number'),
        ("head.benchmarks[0].id", "", "head.benchmarks[0].id: is empty"),
        ("head.benchmarks[0].notes", {}, "head.benchmarks[0].notes: an object is not an array"),
        ("head.source.dirty", 1, "head.source.dirty: 1 is not true or false"),
        (
            "head.started",
            "today",
            'head.started: "today" is not a UTC time such as 2025-01-31T09:30:00Z',
        ),
        (
            "head.started",
            "2026-02-30T00:00:00Z",
            'head.started: "2026-02-30T00:00:00Z" is not a UTC time such as 2025-01-31T09:30:00Z',
        ),
        (
            "head.environment.toolchains",
            {"base python": 3},
            'head.environment.toolchains."base python": 3 is not a text',
        ),
        (
            "head.environment.timer_cost_ns",
            -1.0,
            "head.environment.timer_cost_ns: -1.0: must be at least 0",
        ),
        ("base", {}, 'base: "source" is missing'),
        ("base.source.sha", 5, "base.source.sha: 5 is not a text"),
        ("duration_s", -1, "duration_s: -1: must be at least 0"),
        ("shard", {}, 'shard: "number" is missing'),
        (
            "shard",
            {"number": 3, "count": 2, "dealt": []},
            "shard.number: there is no shard 3 of 2",
        ),
        (
            "shard",
            {"number": 1, "count": 10**400, "dealt": []},
            f"shard.count: {'1' + '0' * 39}...: must be at most 1000",
        ),
        ("shards", [{}], 'shards[0]: "schema" is missing'),
        ("schema", 2, "schema: version 2 was written by a newer benchgate; this one reads up to 1"),
        ("schema", 0, "schema: this benchgate does not read version 0"),
        ("schema", -(10**30), f"schema: this benchgate does not read version {-(10**30)}"),
        ("schema", True, "schema: true is not a version number"),
        ("schema", 1.0, "schema: 1.0 is not a version number"),
    ],
)
def test_wrong_values_are_refused_with_their_place(place: str, value: object, message: str) -> None:
    whole = document()
    set_at(place, value)(whole)
    with pytest.raises(FormatError) as caught:
        decode_result(json.dumps(whole).encode(), NAME)
    assert caught.value.message.startswith(f"{NAME}: {message}")
    assert caught.value.hint


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("schema", "holds no `schema`, so it is not a result file"),
        ("tool", "holds no `tool`, so it is not a result file"),
        ("head", '"head" is missing'),
        ("base", '"base" is missing'),
    ],
)
def test_missing_keys_are_refused(key: str, message: str) -> None:
    whole = document()
    del whole[key]
    with pytest.raises(FormatError) as caught:
        decode_result(json.dumps(whole).encode(), NAME)
    assert caught.value.message == f"{NAME}: {message}"


def test_a_newer_version_asks_for_an_upgrade() -> None:
    with pytest.raises(FormatError) as caught:
        decode_result(b'{"schema": 99, "anything": {}}', NAME)
    assert "Upgrade benchgate" in caught.value.hint


def test_two_benchmarks_of_one_id_are_refused() -> None:
    whole = document()
    whole["base"]["benchmarks"] *= 2
    with pytest.raises(FormatError) as caught:
        decode_result(json.dumps(whole).encode(), NAME)
    assert caught.value.message == (
        f"{NAME}: base.benchmarks[1].id: 'parse/large[n=1000]' is there already, at index 0"
    )


def test_negative_values_that_are_no_times_are_read() -> None:
    assert read_again(launch(0, -1.0), unit="B")[0].samples.tolist() == [-1.0]


@pytest.mark.parametrize(
    ("values", "unit", "bytes_each"),
    [
        ((3e-9 / 16, 255e-9 / 16), "s", 1),
        ((3e-9 / 16, 256e-9 / 16), "s", 2),
        ((123456789e-9 / 16, 1e-9 / 16), "s", 4),
        ((1 / 3,), "s", 8),
        ((0.0, 2.0**53), "B", 8),
        ((0.0,), "B", 1),
        ((70_000.0,), "B", 3),
        ((-1.0,), "B", 8),
        ((1e150, -1e-300), "B", 8),
    ],
)
def test_whole_numbers_take_few_bytes(
    values: tuple[float, ...], unit: str, bytes_each: int
) -> None:
    written = encode_result(result_of(launch(0, *values), unit=unit), as_is)
    stored = json.loads(written)["head"]["benchmarks"][0]["series"][0]["launches"]
    assert len(b64decode(stored["values"])) == len(values) * bytes_each
    (read,) = decode_result(written, NAME).head.benchmarks[0].series[0].launches
    assert tuple(read.samples) == values


@pytest.mark.parametrize(
    ("launches", "fault"),
    [
        ([launch(0, 1, float("nan"))], "launches[0].samples[1]: nan is not a finite number"),
        ([launch(0, float("-inf"))], "launches[0].samples[0]: -inf is not a finite number"),
        ([launch(0, 1.0, 1e151)], "launches[0].samples[1]: 1e+151 is beyond what can be measured"),
        ([launch(0, -1.0)], "launches[0].samples[0]: -1.0 is negative, which a time cannot be"),
        ([launch(0)], "launches[0].samples: an array of shape (0,) holds no samples"),
        ([launch(0, 1), launch(0, 1)], "launches[1].round: round 0 comes after round 0"),
        (
            [Launch(0, 0, np.ones((2, 2)), np.array([]))],
            "launches[0].samples: an array of shape (2, 2) holds",
        ),
    ],
)
def test_nothing_is_written_that_would_be_refused(launches: list[Launch], fault: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"{SERIES}.{fault}")):
        encode_result(Result(head=run(benchmark("sort", *launches))), as_is)


def texts_of(kind: type, text: str) -> dict[str, Any]:
    """The text for every field of a dataclass that holds one."""
    fields = dataclasses.fields(kind)
    return {field.name: text for field in fields if field.type in {"Name", "Text", "Text | None"}}


def test_every_text_is_redacted() -> None:
    text = "a xyzzy123 b"
    metric = Metric(**texts_of(Metric, text))
    measured = BenchmarkResult(
        **texts_of(BenchmarkResult, text),
        tier=Tier.STORED,
        status=Status.FAILED,
        series=(Series(metric, 1, (launch(0, 1.0),)),),
        notes=(text,),
    )
    arm = Run(
        **texts_of(Run, text) | {"started": "2025-01-31T09:30:00Z"},
        source=Source(**texts_of(Source, text)),
        environment=Environment(**texts_of(Environment, text), toolchains={text: text}),
        benchmarks=(measured,),
    )
    whole = Result(**texts_of(Result, text), head=arm, base=arm, warnings=(text,))
    data = encode_result(whole, Redactor({"MY_TOKEN": "xyzzy123"}))
    assert b"xyzzy123" not in data
    assert plain(decode_result(data, NAME)) == plain_redacted(plain(whole))


def plain_redacted(value: Any) -> object:  # noqa: ANN401 - JSON of any shape
    match value:
        case dict():
            return {_redacted(key): plain_redacted(item) for key, item in value.items()}
        case list():
            return [plain_redacted(item) for item in value]
        case str():
            return _redacted(value)
    return value


def _redacted(text: str) -> str:
    return text.replace("xyzzy123", "[removed]")


def test_redaction_leaves_the_words_of_the_format_alone() -> None:
    redact = Redactor({"A_SECRET": "lockstep", "B_SECRET": "sampled", "C_SECRET": "schema"})
    read = decode_result(encode_result(result(), redact), NAME)
    assert read.head.benchmarks[0].tier is Tier.LOCKSTEP


def test_ids_that_only_a_secret_told_apart_stay_distinct() -> None:
    ids = [f"query[dsn=postgres://u:{password}@db/x]" for password in ("one", "two")]
    data = encode_result(Result(head=run(*map(benchmark, ids))), Redactor({}))
    read = decode_result(data, NAME)
    assert [each.id for each in read.head.benchmarks] == [
        "query[dsn=postgres://u:[removed]@db/x]",
        "query[dsn=postgres://u:[removed]@db/x] (2)",
    ]


def test_what_failed_twice_under_one_id_can_be_written() -> None:
    data = encode_result(Result(head=run(*map(benchmark, ["a", "a"]))), as_is)
    assert [one.id for one in decode_result(data, NAME).head.benchmarks] == ["a", "a (2)"]


def test_a_new_version_stays_with_its_benchmark_if_only_a_secret_told_the_ids_apart() -> None:
    ids = [f"query[dsn=postgres://u:{password}@db/x]" for password in ("one", "two")]
    versions = [
        replace(benchmark(f"{id_}{NEW_VERSION}"), files=BenchmarkFiles.HEAD, new_version_of=id_)
        for id_ in ids
    ]
    whole = Result(head=run(*map(benchmark, ids), *versions))
    read = decode_result(encode_result(whole, Redactor({})), NAME).head.benchmarks
    assert [one.new_version_of for one in read] == [None, None, read[0].id, read[1].id]


def test_output_that_is_no_utf_8_can_be_written() -> None:
    printed = b"caf\xe9".decode(errors="surrogateescape")
    whole = Result(head=run(), warnings=(printed,))
    assert decode_result(encode_result(whole, as_is), NAME).warnings == (r"caf\udce9",)


def shards() -> list[Result]:
    """Three shards of a suite of two benchmarks, each with its own machine and canary."""
    found = []
    for number, ids in enumerate((["b"], ["a"], []), start=1):
        measured = [replace_run(run(*map(benchmark, (*ids, CANARY_ID))), number) for _ in "hb"]
        found.append(
            Result(
                head=measured[0],
                base=measured[1],
                duration_s=number,
                warnings=(f"of {number}",),
                tool=f"benchgate {number}",
                shard=Shard(number, 3, ("a", "b")),
            )
        )
    return found


def replace_run(measured: Run, number: int) -> Run:
    environment = dataclasses.replace(measured.environment, cpu_model=f"CPU {number}")
    return dataclasses.replace(measured, environment=environment, seed=number)


class TestJoinedShards:
    @pytest.fixture
    def file(self) -> bytes:
        return encode_result(join((str(i), part) for i, part in enumerate(shards())), as_is)

    def test_each_is_kept_as_it_was_measured(self, file: bytes) -> None:
        read = decode_result(file, NAME)
        assert plain(read.shards) == plain(tuple(shards()))
        assert [b.id for b in read.head.benchmarks] == ["a", "b"]
        assert read.head.is_mixed
        assert encode_result(read, as_is) == file

    def test_the_file_is_that_of_the_first_with_the_others_behind(self, file: bytes) -> None:
        whole = json.loads(file)
        others = whole["shards"]
        first = json.loads(encode_result(shards()[0], as_is))
        assert whole == first | {"shards": others}
        for other, part in zip(others, shards()[1:], strict=True):
            assert other == json.loads(encode_result(part, as_is))
        jsonschema.validate(whole, RESULT.json_schema())

    @pytest.mark.parametrize(
        ("place", "value", "message"),
        [
            ("shard", None, "the file itself is not the result of a shard: "),
            (
                "shards[0].shard.number",
                1,
                "the file itself and shards[0] are both shard 1 of 3",
            ),
            (
                "shards[1].shard.dealt",
                ["a"],
                "the file itself and shards[1] are not shards of the same suite: ",
            ),
            (
                "shards[0].head.benchmarks",
                [],
                "no shard measured 'a'",
            ),
            (
                "shards[0].head.source.sha",
                "f",
                "the file itself and shards[0] differ in the commit: ",
            ),
            ("shards[1].duration_s", -1, "shards[1].duration_s: -1: must be at least"),
        ],
    )
    def test_what_is_not_a_whole_suite_is_refused(
        self, file: bytes, place: str, value: object, message: str
    ) -> None:
        whole = json.loads(file)
        if place.endswith("benchmarks"):
            whole["shards"][0]["base"]["benchmarks"] = []
        set_at(place, value)(whole)
        with pytest.raises(FormatError) as caught:
            decode_result(json.dumps(whole).encode(), NAME)
        assert caught.value.message.startswith(f"{NAME}: {message}")
        assert caught.value.hint

    def test_without_the_others_it_is_a_part(self, file: bytes) -> None:
        read = decode_result(json.dumps(json.loads(file) | {"shards": []}).encode(), NAME)
        assert (read.shard, read.shards) == (Shard(1, 3, ("a", "b")), ())
        assert [b.id for b in read.head.benchmarks] == ["b", CANARY_ID]

    def test_no_secret_is_written(self) -> None:
        parts = [replace_texts(part, "xyzzy123") for part in shards()]
        data = encode_result(join((str(i), part) for i, part in enumerate(parts)), as_is)
        assert data.count(b"xyzzy123") >= len(parts)
        redact = Redactor({"MY_TOKEN": "xyzzy123"})
        assert b"xyzzy123" not in encode_result(decode_result(data, NAME), redact)


def replace_texts(part: Result, text: str) -> Result:
    assert part.shard is not None
    dealt = (*part.shard.dealt, text)
    extra = (benchmark(text),) if part.shard.number == 1 else ()
    head = dataclasses.replace(part.head, benchmarks=(*part.head.benchmarks, *extra))
    return dataclasses.replace(
        part, head=head, tool=text, warnings=(text,), shard=Shard(part.shard.number, 3, dealt)
    )


class TestScreening:
    @pytest.fixture
    def screened(self) -> Result:
        earlier = StoredRun("artifact 11 of run 12", "the base commit's own run", run())
        return dataclasses.replace(
            result(),
            base=None,
            screening=Screening(
                run(), (earlier,), (SkippedResult("artifact 13", "it has expired"),), ("one",)
            ),
            policy=Policy(
                KEPT,
                None,
                Options(fail_on=("regressed",), alpha=0.02, rounds=6),
            ),
        )

    def test_all_of_it_is_read_again(self, screened: Result) -> None:
        file = encode_result(screened, as_is)
        read = decode_result(file, NAME)
        assert plain(read.screening) == plain(screened.screening)
        assert read.policy == screened.policy
        assert encode_result(read, as_is) == file
        jsonschema.validate(json.loads(file), RESULT.json_schema())

    def test_a_secret_in_the_configuration_is_not_written(self, screened: Result) -> None:
        def redact(text: str) -> str:
            return text.replace("3%", "***")

        policy = decode_result(encode_result(screened, redact), NAME).policy
        assert policy
        assert policy.head == dataclasses.replace(KEPT, tables={"gate": {"margin": "***"}})

    def test_too_many_earlier_runs_are_refused(self, screened: Result) -> None:
        whole = json.loads(encode_result(screened, as_is))
        whole["screening"]["earlier"] *= MOST_STORED + 1
        with pytest.raises(FormatError, match=r"screening\.earlier"):
            decode_result(json.dumps(whole).encode(), NAME)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({}, "series: what runs the same code was not measured"),
        ({"series": [], "error": "boom"}, "error: what runs the same code was not run, so it did"),
    ],
)
def test_what_runs_the_same_code_was_not_measured(wrong: dict[str, Any], why: str) -> None:
    document = json.loads(encode_result(result(), as_is))
    document["head"]["benchmarks"][0] |= {"status": "same code"} | wrong
    with pytest.raises(FormatError, match=rf"head\.benchmarks\[0\]\.{why}"):
        decode_result(json.dumps(document).encode(), NAME)
