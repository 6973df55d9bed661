"""Tables that tools make for people: the error says what writes what benchgate reads."""

from __future__ import annotations

import pytest

from benchgate.errors import FormatError
from benchgate.formats import FORMATS, find_format, read_as
from benchgate.formats.contents import ForeignFile

# By the tool: what it prints, and what the hint must name.
TABLES = {
    "google-benchmark": (
        """\
2026-11-26T13:41:30+00:00
Running ./bench
-----------------------------------------------------
Benchmark           Time             CPU   Iterations
-----------------------------------------------------
Count/100        14.5 ns         9.03 ns     76353467
""",
        "--benchmark_out=FILE --benchmark_out_format=json",
    ),
    "hyperfine": (
        """\
command,mean,stddev,median,user,system,min,max
sleep 0.01,0.0111,0.00005,0.0111,0.0010,0,0.0110,0.0111
""",
        "--export-json FILE",
    ),
    "tinybench": (
        """\
┌─────────┬────────────┬──────────────────┬──────────────────┐
│ (index) │ Task name  │ Latency avg (ns) │ Latency med (ns) │
├─────────┼────────────┼──────────────────┼──────────────────┤
│ 0       │ 'sort 100' │ '3459.6 ± 2.86%' │ '2996.0 ± 46.00' │
└─────────┴────────────┴──────────────────┴──────────────────┘
""",
        "console.log(JSON.stringify(bench.tasks.map(",
    ),
    "mitata": (
        """\
\x1b[90mclk: ~3.36 GHz\x1b[0m

benchmark                   avg (min … max) p75 / p99    (min … top 1%)
------------------------------------------- -------------------------------
""",
        'run({ format: "json" })',
    ),
    "deno-bench": (
        """\
Check file:///words.bench.ts
| benchmark   | time/iter (avg) |        iter/s |      (min … max)      |
| ----------- | --------------- | ------------- | --------------------- |
""",
        "--json",
    ),
    "vitest": (
        """\
 ✓ words.bench.js > words 612ms
     name             hz     min     max    mean     p75     p99    p995    p999     rme  samples
   · count  1,234,567.89  0.0001  0.0200  0.0001  0.0001  0.0002  0.0003  0.0010  ±0.50%   617284
""",
        "--outputJson FILE",
    ),
    "benchmark-ips": (
        """\
Warming up --------------------------------------
               count    55.556k i/100ms
Calculating -------------------------------------
               count     35.804M (±40.5%) i/s -      2.056M in   0.103396s
""",
        "x.json! 'FILE'",
    ),
    "pytest-benchmark": (
        """\
tests/test_words.py .                                                    [100%]

---------------------- benchmark: 1 tests ---------------------
Name (time in ns)         Min       Max     Mean  StdDev
""",
        "--benchmark-json=FILE",
    ),
    "pyperf": (".....................\ncount: Mean +- std dev: 121 ns +- 3 ns\n", "-o FILE"),
    "jmh": (
        """\
# Run complete. Total time: 00:00:10

Benchmark        (n)  Mode  Cnt    Score   Error  Units
Lists.sort       100  avgt   10  123.456 ± 1.234  ns/op
""",
        "-rf json -rff FILE",
    ),
    "benchmarkdotnet": (
        """\
| Method | N  | Mean     | Error    | StdDev   |
|------- |--- |---------:|---------:|---------:|
""",
        "--exporters fulljson",
    ),
    "catch2": (
        """\
benchmark name                       samples       iterations    estimated
                                     mean          low mean      high mean
""",
        "--reporter xml",
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_the_error_names_the_tool_and_the_option(name: str) -> None:
    text, option = TABLES[name]
    source = ForeignFile("out.txt", text.encode())
    with pytest.raises(FormatError, match=f"is a table that {name} makes for people") as caught:
        find_format(source)
    assert option in (caught.value.hint or "")
    (known,) = (each for each in FORMATS if each.name == name)
    with pytest.raises(FormatError, match="makes for people"):
        read_as(known, source)


@pytest.mark.parametrize(
    "text",
    [
        "| Command | Mean [ms] | Min [ms] | Max [ms] | Relative |\n",
        "Benchmark 1: sort\n  Time (mean ± \N{GREEK SMALL LETTER SIGMA}): 1.4 ms\n",
    ],
)
def test_other_tables_of_hyperfine(text: str) -> None:
    with pytest.raises(FormatError, match="is a table that hyperfine makes for people"):
        find_format(ForeignFile("out.txt", text.encode()))
