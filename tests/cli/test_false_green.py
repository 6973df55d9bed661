"""`compare` on genuine files of other tools that once passed although something was wrong."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Call

CASES = Path(__file__).with_name("cases")
LIMIT = '[[limit]]\nbenchmark = "*"\nmetric = "B/op"\nmax = 500\n'
DECIDES = 'gate.metrics = ["time", "B/op"]\n'


@pytest.mark.parametrize(
    ("case", "code", "words"),
    [
        ("clock-steps", 4, ("not tested", "the clock shows steps of 14.3 % of the value")),
        ("zero-times", 4, ("not tested", "times are 0: the clock is too coarse, or nothing was")),
        ("all-requests-fail", 3, ("from 0 to 100 %", "no improvement: 0 % of the base's requests")),
    ],
)
def test_what_once_passed(
    call: Call, tmp_path: Path, case: str, code: int, words: tuple[str, ...]
) -> None:
    base, head = (sorted((CASES / case / side).iterdir()) for side in ("base", "head"))
    done = call(tmp_path, "compare", "--base", *base, "--head", *head)
    assert done.code == code, done.out
    for word in words:
        assert word in done.out
    assert "improved" not in done.out
    assert "unchanged" not in done.out


GO = "goos: linux\npkg: a.b/c\nBenchmarkX-8 100 {} ns/op\n"
BROKEN = "# a.b/c [a.b/c.test]\nFAIL\ta.b/c [build failed]\n"
READ_AS_GO = "hint: It was read as go, which is the format of the base."


@pytest.mark.parametrize(
    ("files", "code", "words"),
    [
        ((GO.format(9), BROKEN), 2, ("a.b/c: go test failed [build failed]", READ_AS_GO)),
        ((GO.format(9), "PASS\nok  \ta.b/c\t0.1s\n"), 2, ("has no result", READ_AS_GO)),
        ((GO.format(9), GO.format(-9)), 5, ("cannot be read on the head", "X cannot be read")),
    ],
)
def test_what_has_no_figures_is_named_as_what_it_is(
    call: Call, tmp_path: Path, files: tuple[str, str], code: int, words: tuple[str, ...]
) -> None:
    for name, text in zip(("base.txt", "head.txt"), files, strict=True):
        (tmp_path / name).write_text(text)
    done = call(tmp_path, "compare", "--base", "base.txt", "--head", "head.txt")
    done.check(code)
    for word in words:
        assert word in f"{done.out}{done.err}"
    assert "crash" not in done.out


OLD, NEW = ("9000 B/op", ""), ("", "9000 B/op")
ALIKE, LARGER = ("9 B/op", "9 B/op"), ("9 B/op", "81 B/op")


@pytest.mark.parametrize(
    ("toml", "sizes", "code", "words"),
    [
        ("", OLD, 0, "Nothing was found to be slower: 2 benchmarks"),
        (LIMIT, ("9000 B/op",) * 2, 3, "Over their limits"),
        (LIMIT, OLD, 4, "2 limits could not be tested (BenchmarkParse B/op and 1 more: B/op was"),
        (DECIDES, OLD, 4, "BenchmarkParse B/op, BenchmarkSort B/op cannot be compared"),
        (DECIDES, NEW, 0, "BenchmarkParse B/op, BenchmarkSort B/op cannot be compared"),
        (LIMIT.replace("B/op", "B/ops"), ALIKE, 2, "did you mean 'B/op'?"),
        (LIMIT.replace("*", "pasre"), ALIKE, 2, "matches no benchmark"),
        (
            LIMIT.replace("500", '"9 ms"'),
            ALIKE,
            2,
            'limit[0].max = "9 ms": B/op has another unit: ',
        ),
        (DECIDES.replace("B/op", "B/ops"), LARGER, 2, "did you mean 'B/op'?"),
        ('[[rule]]\nbenchmark = "*Prase"\nmargin = "9%"\n', ALIKE, 2, "matches no benchmark"),
    ],
)
def test_a_metric_that_vanishes_or_never_was(
    call: Call, tmp_path: Path, toml: str, sizes: tuple[str, str], *, code: int, words: str
) -> None:
    config = tmp_path / "benchgate.toml"
    config.write_text(f"baseline.advisory_fails = true\n{toml}")
    base, head = (_go_files(tmp_path / f"side{n}", size, n / 1000) for n, size in enumerate(sizes))
    done = call(tmp_path, "compare", "--config", config, "--base", *base, "--head", *head)
    assert done.code == code, done.out
    assert words in done.out + done.err


def _go_files(folder: Path, size: str, slower_ns: float) -> list[Path]:
    """What ten runs of `go test -bench` print, with the sizes of `-benchmem` or without."""
    folder.mkdir()
    for run in range(10):
        lines = [
            f"Benchmark{name}-8\t1000\t{100 + slower_ns + run * step / 100} ns/op\t{size}"
            for name, step in (("Parse", 3), ("Sort", 2))
        ]
        (folder / f"{run}.txt").write_text("\n".join(["goos: linux", *lines, "PASS\n"]))
    return sorted(folder.iterdir())
