"""What unrelated code does to the time of compiled benchmarks, and what alignment does about it.

Run it with `python benchmarks/layout.py cpp|rust|go [PAIRS]`. It builds a program with a few small
benchmarks, and variants of it with other functions, which are never called, in front of and between
what is measured. Nothing that is measured differs, so each ratio that is not 1 is due to where the
code lies. For each set of flags it prints how far the ratios are from 1.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from benchgate.config.benchmarks import CppBenchmark, GoBenchmark, RustBenchmark
from benchgate.measure.adapters import Programs, build_variables
from benchgate.measure.build import build
from benchgate.measure.engine import Arm, ArmName
from benchgate.measure.guardian import Guardian
from benchgate.measure.lockstep import take_samples
from benchgate.measure.machine import available_cpus, moved_to
from benchgate.measure.memory_layout import Layout
from benchgate.measure.worker import ProgramSetting, Worker

if TYPE_CHECKING:
    from benchgate.config.benchmarks import LiveBenchmarks

MARGIN = 0.02
ROUNDS = 5
SAMPLES = 30
SAMPLE_NS = 300_000
TIMEOUT_S = 60.0

CPP = """\
#include <benchmark/benchmark.h>
#include <cctype>
#include <map>
#include <string>
#include <vector>
static std::string text() {{ std::string s; for (int i = 0; i < 50; i++) s += "The quick brown Fox "; return s; }}
{0}
unsigned checksum(const std::string& s) {{
  unsigned a = 1, b = 0;
  for (unsigned char c : s) {{ a = (a + c) % 65521; b = (b + a) % 65521; }}
  return b << 16 | a;
}}
{1}
std::string slug(const std::string& s) {{
  std::string out;
  for (unsigned char c : s) out += std::isalnum(c) ? static_cast<char>(std::tolower(c)) : '-';
  return out;
}}
{2}
int find(const std::vector<int>& v, int x) {{
  size_t low = 0, high = v.size();
  while (low < high) {{ size_t mid = (low + high) / 2; if (v[mid] < x) low = mid + 1; else high = mid; }}
  return static_cast<int>(low);
}}
static void Checksum(benchmark::State& st) {{ auto s = text(); for (auto _ : st) benchmark::DoNotOptimize(checksum(s)); }}
BENCHMARK(Checksum);
static void Slug(benchmark::State& st) {{ auto s = text(); for (auto _ : st) benchmark::DoNotOptimize(slug(s)); }}
BENCHMARK(Slug);
static void Find(benchmark::State& st) {{
  std::vector<int> v(1000); for (int i = 0; i < 1000; i++) v[i] = 3 * i;
  for (auto _ : st) for (int x = 0; x < 3000; x += 37) benchmark::DoNotOptimize(find(v, x));
}}
BENCHMARK(Find);
BENCHMARK_MAIN();
"""
CPP_OTHER = """\
__attribute__((used, noinline)) int other{index}(const std::vector<int>& v) {{
  int sum = {index};
  for (size_t i = 0; i < v.size(); i++) {{ {body} }}
  return sum;
}}
"""
CPP_BODIES = (
    "sum += v[i] * {n};",
    "sum ^= v[i] << ({n} % 7);",
    "if (v[i] > {n}) sum--;",
    "sum = sum % {n} + 1;",
)

GO = """\
package text

import "strings"

{0}
func Checksum(data []byte) uint32 {{
	var a, b uint32 = 1, 0
	for _, c := range data {{
		a = (a + uint32(c)) % 65521
		b = (b + a) % 65521
	}}
	return b<<16 | a
}}

{1}
func Slug(s string) string {{
	var out strings.Builder
	out.Grow(len(s))
	for i := 0; i < len(s); i++ {{
		c := s[i]
		if c >= 'A' && c <= 'Z' {{
			c += 32
		}}
		if c < 'a' || c > 'z' {{
			c = '-'
		}}
		out.WriteByte(c)
	}}
	return out.String()
}}

{2}
func Find(v []int, x int) int {{
	low, high := 0, len(v)
	for low < high {{
		mid := (low + high) / 2
		if v[mid] < x {{
			low = mid + 1
		}} else {{
			high = mid
		}}
	}}
	return low
}}
"""
GO_TEST = """\
package text

import (
	"strings"
	"testing"
)

var text = strings.Repeat("The quick brown Fox ", 50)
var sink interface{}
var number int

func BenchmarkChecksum(b *testing.B) {
	data := []byte(text)
	for i := 0; i < b.N; i++ {
		number += int(Checksum(data))
	}
}

func BenchmarkSlug(b *testing.B) {
	for i := 0; i < b.N; i++ {
		number += len(Slug(text))
	}
}

func BenchmarkFind(b *testing.B) {
	v := make([]int, 1000)
	for i := range v {
		v[i] = 3 * i
	}
	for i := 0; i < b.N; i++ {
		for x := 0; x < 3000; x += 37 {
			number += Find(v, x)
		}
	}
}
"""
GO_OTHER = """\
//go:noinline
func Other{index}(v []int) int {{
	sum := {index}
	for i := range v {{
		{body}
	}}
	return sum
}}

var _ = Other{index}([]int{{1, 2}})

"""
GO_BODIES = (
    "sum += v[i] * {n}",
    "sum ^= v[i] << ({n} % 7)",
    "if v[i] > {n} {{\n\t\t\tsum--\n\t\t}}",
    "sum = sum%{n} + 1",
)

RUST = """\
{0}
#[inline(never)]
pub fn checksum(s: &[u8]) -> u32 {{
    let (mut a, mut b) = (1u32, 0u32);
    for &c in s {{ a = (a + c as u32) % 65521; b = (b + a) % 65521; }}
    b << 16 | a
}}
{1}
#[inline(never)]
pub fn slug(s: &str) -> String {{
    let mut out = String::with_capacity(s.len());
    for c in s.bytes() {{ out.push(if c.is_ascii_alphanumeric() {{ c.to_ascii_lowercase() as char }} else {{ '-' }}); }}
    out
}}
{2}
#[inline(never)]
pub fn find(v: &[i32], x: i32) -> usize {{
    let (mut low, mut high) = (0, v.len());
    while low < high {{ let mid = (low + high) / 2; if v[mid] < x {{ low = mid + 1 }} else {{ high = mid }} }}
    low
}}
"""
RUST_BENCH = """\
use criterion::{black_box, criterion_group, criterion_main, Criterion};
fn all(c: &mut Criterion) {
    let text = "The quick brown Fox ".repeat(50);
    c.bench_function("Checksum", |b| b.iter(|| words::checksum(black_box(text.as_bytes()))));
    c.bench_function("Slug", |b| b.iter(|| words::slug(black_box(&text))));
    let v: Vec<i32> = (0..1000).map(|i| 3 * i).collect();
    c.bench_function("Find", |b| b.iter(|| (0..3000).step_by(37).map(|x| words::find(black_box(&v), x)).sum::<usize>()));
}
criterion_group!(benches, all);
criterion_main!(benches);
"""
RUST_OTHER = """\
#[inline(never)] #[no_mangle]
pub extern "C" fn other{index}(v: *const i32, n: usize) -> i32 {{
    let v = unsafe {{ std::slice::from_raw_parts(v, n) }};
    let mut sum = {index};
    for i in 0..v.len() {{ {body} }}
    sum
}}
"""
RUST_BODIES = (
    "sum = sum.wrapping_add(v[i].wrapping_mul({n}));",
    "sum ^= v[i] << ({n} % 7);",
    "if v[i] > {n} {{ sum -= 1 }}",
    "sum = sum % {n} + 1;",
)
CARGO = """\
[package]
name = "words"
version = "0.1.0"
edition = "2021"
[dev-dependencies]
criterion = "0.5"
[[bench]]
name = "text"
harness = false
"""


@dataclass(frozen=True)
class Language:
    """How a program is written and built, and the flags that are tried."""

    table: LiveBenchmarks
    path: str
    flags: dict[str, dict[str, str]]


LANGUAGES = {
    "cpp": Language(
        CppBenchmark.model_construct(paths=("bench",)),
        "bench",
        {
            "none": {},
            "functions": {"ALIGN": "-falign-functions=64"},
            "functions and loops": {"ALIGN": "-falign-functions=64 -falign-loops=32"},
            "and jumps": {
                "ALIGN": "-falign-functions=64 -falign-loops=64 -falign-jumps=32 -falign-labels=16"
            },
        },
    ),
    "rust": Language(
        RustBenchmark.model_construct(paths=("text",)),
        "text",
        {
            "none": {},
            "functions": {"RUSTFLAGS": "-C llvm-args=-align-all-functions=6"},
            "functions and loops": {
                "RUSTFLAGS": "-C llvm-args=-align-all-functions=6 -C llvm-args=-align-loops=32"
            },
            "and blocks": {
                "RUSTFLAGS": "-C llvm-args=-align-all-functions=6 "
                "-C llvm-args=-align-all-nofallthru-blocks=5"
            },
        },
    ),
    "go": Language(GoBenchmark.model_construct(paths=(".",)), ".", {"none": {}}),
}


def others(rng: random.Random, other: str, bodies: tuple[str, ...], first: int, count: int) -> str:
    """Functions that nothing calls."""
    return "".join(
        other.format(
            index=first + i,
            body=" ".join(
                rng.choice(bodies).format(n=rng.randint(3, 99)) for _ in range(rng.randint(1, 4))
            )
            if other is not GO_OTHER
            else rng.choice(bodies).format(n=rng.randint(3, 99)),
        )
        for i in range(count)
    )


def write(language: str, root: Path, seed: int) -> None:
    """Write a variant of the program; seed 0 is the one without other functions."""
    rng = random.Random(seed)  # noqa: S311 - repeatable on purpose
    text, other, bodies = {
        "cpp": (CPP, CPP_OTHER, CPP_BODIES),
        "go": (GO, GO_OTHER, GO_BODIES),
        "rust": (RUST, RUST_OTHER, RUST_BODIES),
    }[language]
    places = [
        others(rng, other, bodies, 100 * place, rng.randint(0, 3) if seed else 0)
        for place in range(3)
    ]
    written = text.format(*places)
    root.mkdir(parents=True, exist_ok=True)
    if language == "cpp":
        (root / "bench.cc").write_text(written)
    elif language == "go":
        (root / "go.mod").write_text("module example.com/text\n\ngo 1.18\n")
        (root / "text.go").write_text(written)
        (root / "text_test.go").write_text(GO_TEST)
    else:
        (root / "src").mkdir(exist_ok=True)
        (root / "benches").mkdir(exist_ok=True)
        (root / "Cargo.toml").write_text(CARGO)
        (root / "src/lib.rs").write_text(written)
        (root / "benches/text.rs").write_text(RUST_BENCH)


def program(
    language: str, folder: Path, seed: int, flags: dict[str, str], guardian: Guardian
) -> tuple[Arm, ProgramSetting]:
    """Build a variant with these flags."""
    kind = LANGUAGES[language]
    root = folder / f"{seed}"
    write(language, root, seed)
    variables = {**guardian.variables, **flags, "CARGO_NET_OFFLINE": "true"}
    arm = Arm(ArmName.HEAD, root, folder / f"{seed}-env", variables=variables)
    if language == "cpp":
        command = '"$CXX" -O2 $ALIGN bench.cc -o bench -lbenchmark -lpthread'
        added = build_variables([kind.table], {})
        build(arm, [["/bin/sh", "-c", command]], timeout_s=300, variables=added, guardian=guardian)
    table = kind.table.model_copy(update={"env": {}})
    found = Programs(guardian).program(arm, table, kind.path)
    environ = {**os.environ, **variables}
    cpu = (min(available_cpus()),)
    return arm, ProgramSetting(found.command, found.folder, cpu, environ, Layout())


def ratios(pair: tuple[tuple[Arm, ProgramSetting], ...], guardian: Guardian) -> dict[str, float]:
    """The ratio of the typical times of two programs, by benchmark."""
    rng = random.Random(0)  # noqa: S311 - repeatable on purpose
    found: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        with ExitStack() as stack, moved_to(min(available_cpus())):
            workers = [Worker(arm, setting, guardian, describe=True) for arm, setting in pair]
            for worker in workers:
                stack.callback(worker.kill)
                said = worker.ready(TIMEOUT_S)
                worker.allow(TIMEOUT_S)
            for id_ in (each["id"] for each in said["benchmarks"]):
                loops = 1
                for worker in workers:
                    worker.ask("open", id_)
                while True:
                    workers[0].ask("loops", loops)
                    wall_ns, _ = workers[0].sample()
                    if wall_ns >= SAMPLE_NS:
                        break
                    loops = max(loops + 1, min(loops * 10, int(1.2 * loops * SAMPLE_NS / wall_ns)))
                for worker in workers:
                    worker.ask("loops", loops)
                take_samples(workers, 3, rng)
                taken = take_samples(workers, SAMPLES, rng)
                base, head = (np.quantile([wall for wall, _ in each], 0.25) for each in taken)
                found.setdefault(id_, []).append(float(head / base))
                for worker in workers:
                    worker.ask("close")
    return {id_: median(each) for id_, each in found.items()}


def main() -> None:
    """Measure each set of flags."""
    language, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20
    with Guardian.start() as guardian, tempfile.TemporaryDirectory() as name:
        for label, flags in LANGUAGES[language].flags.items():
            folder = Path(name) / label.replace(" ", "-")
            base = program(language, folder, 0, flags, guardian)
            off: dict[str, list[float]] = {}
            for seed in range(1, count + 1):
                pair = base, program(language, folder, seed, flags, guardian)
                for id_, ratio in ratios(pair, guardian).items():
                    off.setdefault(id_, []).append(ratio - 1)
            for id_, each in off.items():
                beyond = sum(abs(one) > MARGIN for one in each)
                print(
                    f"{language}, aligned {label}: {id_}: {beyond} of {len(each)} beyond "
                    f"{MARGIN:.0%}; {min(each):+.2%} to {max(each):+.2%}, "
                    f"median distance {median(map(abs, each)):.2%}",
                    flush=True,
                )


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in LANGUAGES:
        main()
    else:
        sys.exit(subprocess.list2cmdline(["python", "benchmarks/layout.py", "cpp|rust|go", "20"]))
