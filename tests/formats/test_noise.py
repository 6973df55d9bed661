"""What npm, make and a program itself print beside the results."""

from __future__ import annotations

import json

import pytest
from tests.formats.cases import SAMPLES

from benchgate.errors import FormatError
from benchgate.formats import find_format, read_as
from benchgate.formats.contents import ForeignFile

CUSTOM = json.dumps([{"name": "a", "unit": "s", "value": 2}])
HYPERFINE = json.dumps({"results": [{"command": "a", "times": [2.0]}]})
NPM = "\n> pkg@1.0.0 bench\n> node bench.mjs\n\n"
GO = '{"Action":"output","Package":"p","Output":"BenchmarkX-2 5 2 ns/op\\n"}\n'


def read(data: bytes, name: str | None) -> list[tuple[str, float]]:
    source = ForeignFile("it", data)
    known = find_format(source, name)
    assert known is not None
    rows = read_as(known, source).benchmarks
    return [(row.id, float(row.series[0].launches[0].samples[0])) for row in rows]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (f"{NPM}{CUSTOM}\n", "customSmallerIsBetter"),
        (f"yarn run v1.22.22\n$ node b\n{CUSTOM}\nDone in 0.10s.\n", "customSmallerIsBetter"),
        (f'{{"level": 30, "msg": "go"}}\nstarting{CUSTOM}', "customSmallerIsBetter"),
        (f"{NPM}{HYPERFINE}\n", None),
        (f"[INFO] 1 caf\udce9\nready: {HYPERFINE}\n{{}}", None),
        (f"{HYPERFINE}\nDone in 0.10s.\n", None),
    ],
)
def test_what_is_printed_beside_the_json_is_left_out(text: str, name: str | None) -> None:
    assert read(text.encode(errors="surrogateescape"), name) == [("a", 2.0)]


@pytest.mark.parametrize(
    "text",
    [
        f"{HYPERFINE}\n{HYPERFINE}\n",
        f"{HYPERFINE}\n{HYPERFINE[:-20]}\n",
        f"{HYPERFINE[12:]}",
        f'{HYPERFINE}, "rest": 1',
        f"x{HYPERFINE[:-20]}",
        f"[{HYPERFINE}, {HYPERFINE}",
    ],
)
def test_json_that_is_damaged_is_never_read_in_part(text: str) -> None:
    with pytest.raises(FormatError):
        read(text.encode(), "hyperfine")


def test_a_header_before_damaged_json_brings_a_hint() -> None:
    with pytest.raises(FormatError, match=r"^it: line 2, column 1: is not JSON") as caught:
        read(f"{NPM}{CUSTOM[:-5]}".encode(), "customSmallerIsBetter")
    assert "npm run --silent" in caught.value.hint


def test_the_place_of_an_error_is_that_in_the_file() -> None:
    source = ForeignFile("it", f"{NPM}{CUSTOM.replace('2', 'true')}".encode())
    known = find_format(source, "customSmallerIsBetter")
    assert known is not None
    assert [row.error for row in read_as(known, source).benchmarks] == [
        "[0].value: True is not a number"
    ]


def test_a_line_before_the_events_does_not_hide_them() -> None:
    assert read(f"go test -json ./...\n{GO}".encode(), None) == [("p.BenchmarkX", 2e-9)]
    event = '{ "type": "suite", "event": "started" }\n{ "type": "bench", "name": "a", "median": 5 }'
    ((id_, time_s),) = read(f"cargo bench\n{event}\n".encode(), None)
    assert id_ == "a"
    assert time_s == pytest.approx(5e-9)


def test_bytes_that_are_no_text_keep_two_names_apart() -> None:
    text = b"caf\xe9 starts\nBenchmark\xe9-2 5 2 ns/op\nBenchmark\xe8-2 5 3 ns/op\n"
    assert [id_ for id_, _ in read(text, "go")] == ["Benchmark\\xe9", "Benchmark\\xe8"]


def test_a_header_before_lines_of_json_hides_none_of_them() -> None:
    points = (SAMPLES / "k6/points.ndjson").read_bytes()
    plain = read(points, None)
    assert len(plain) > 10
    assert read(b"> k6 run --out json=/dev/stdout\n" + points, None) == plain
    runs = (SAMPLES / "autocannon/two.json").read_bytes()
    assert read(NPM.encode() + runs, None) == read(runs, None)
