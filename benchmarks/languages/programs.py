"""Small programs in several languages, of which one benchmark can be made slower."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.gate.project import Change

HERE = Path(__file__).parent
CHANGED = ("Checksum", "Slug", "Find", "Long")
"""The benchmarks, from 0.1 us to 5 ms; Slug allocates."""

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
    "sum = (sum + v[i]) % {n} + 1;",
)

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
    "sum = (sum+v[i])%{n} + 1",
)

RUST_OTHER = """\
#[inline(never)] #[no_mangle]
pub extern "C" fn other{index}(v: *const i32, n: usize) -> i32 {{
    let v = unsafe {{ std::slice::from_raw_parts(v, n) }};
    let mut sum: i32 = {index};
    for i in 0..v.len() {{ {body} }}
    sum
}}
"""

RUST_BODIES = (
    "sum = sum.wrapping_add(v[i].wrapping_mul({n}));",
    "sum ^= v[i] << ({n} % 7);",
    "if v[i] > {n} {{ sum -= 1 }}",
    "sum = (sum + v[i]) % {n} + 1;",
)

# By language or tool ("bench" is `#[bench]`, "suite" is benchmark.js): what each file is made of.
FILES = {
    "cpp": {"bench.cc": "bench.cc"},
    "go": {"text.go": "text.go.txt", "text_test.go": "text_test.go.txt", "go.mod": "go.mod.txt"},
    "rust": {
        "src/lib.rs": "lib.rs",
        "benches/text.rs": "text.rs",
        "Cargo.toml": "Cargo.toml.txt",
    },
    "bench": {
        "src/lib.rs": "lib.rs",
        "benches/text.rs": "test.rs",
        "Cargo.toml": "test.Cargo.toml.txt",
    },
    "node": {"text.js": "text.js", "bench.js": "bench.js", "package.json": "package.json"},
    "mitata": {"text.js": "text.js", "bench.js": "mitata.js", "package.json": "package.json"},
    "suite": {"text.js": "text.js", "bench.js": "suite.js", "package.json": "package.json"},
    "vitest": {
        "text.js": "text.js",
        "text.bench.js": "vitest.js",
        "package.json": "package.json",
    },
}
CONFIG = {
    "cpp": """[build]
command = "$CXX -O2 bench.cc -o bench -lbenchmark -lpthread"
shell = true

[[benchmark]]
cpp = "bench"
""",
    "go": '[[benchmark]]\ngo = "."\n',
    "rust": '[[benchmark]]\nrust = "text"\n',
    "bench": '[[benchmark]]\nrust = "text"\nenv = {RUSTC_BOOTSTRAP = "1"}\n',
    **dict.fromkeys(("node", "mitata", "suite"), '[[benchmark]]\nnode = "bench.js"\n'),
    "vitest": """[build]
command = "npm install --silent --no-save vitest"

[[benchmark]]
node = "."
""",
}
OTHERS = {
    "cpp": (CPP_OTHER, CPP_BODIES),
    "go": (GO_OTHER, GO_BODIES),
    "rust": (RUST_OTHER, RUST_BODIES),
}

WORDS = {
    "cpp": "C++ (Google Benchmark)",
    "go": "Go",
    "rust": "Rust (Criterion)",
    "bench": "Rust (`#[bench]`)",
    "node": "Node (Tinybench)",
    "mitata": "Node (mitata)",
    "suite": "Node (Benchmark.js)",
    "vitest": "Node (Vitest)",
}


@dataclass(frozen=True, slots=True)
class Language:
    """A small program in a language, or for a tool of it; see `gate.project.Project`.

    An edit is a number: it draws functions that nothing calls.
    """

    language: str
    names: Sequence[str] = CHANGED
    options: Sequence[str] = ("--no-cache",)
    edits: Sequence[str] = tuple(map(str, range(1, 51)))
    is_shared: bool = False

    @property
    def words(self) -> str:
        return WORDS[self.language]

    @property
    def config(self) -> str:
        return CONFIG[self.language]

    def write(self, root: Path, change: Change) -> None:
        """See `Project.write`."""
        (slower,) = change.slower or ("",)
        seed = int(change.edit or 0)
        write(self.language, root, seed=seed, slower=slower, percent=change.percent)


def write(language: str, root: Path, *, seed: int = 0, slower: str = "", percent: int = 0) -> None:
    """Write a variant of a program.

    Args:
        seed: draws functions that nothing calls, and puts them between the others; 0 for none.
        slower: the benchmark whose work is more by so many percent.
    """
    rng = random.Random(seed)  # noqa: S311 - repeatable on purpose
    for name, source in FILES[language].items():
        text = (HERE / source).read_text()
        if slower:
            text = _more(text, slower, percent)
        if seed and language in OTHERS and "// OTHERS" in text:
            first, *parts = text.split("// OTHERS\n")
            for place, part in enumerate(parts):
                first += _others(rng, *OTHERS[language], first=100 * place) + part
            text = first
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def _more(text: str, name: str, percent: int) -> str:
    """Raise the constant that says how often a benchmark does its work."""
    listed = re.compile(r"^const (.*Rounds) = (.*)$", re.MULTILINE)  # of Go
    if found := listed.search(text):
        values = [int(value) for value in found[2].split(", ")]
        at = found[1].split(", ").index(f"{name}Rounds")
        values[at] = values[at] * (100 + percent) // 100
        return listed.sub(f"const {found[1]} = {', '.join(map(str, values))}", text)
    pattern = rf"(?i)(\bk?{name}_?rounds(?::\s*usize)?\s*=\s*)(\d+)"
    return re.sub(pattern, lambda m: f"{m[1]}{int(m[2]) * (100 + percent) // 100}", text, count=1)


def _others(rng: random.Random, other: str, bodies: tuple[str, ...], first: int) -> str:
    """Up to three functions that nothing calls."""
    return "".join(
        other.format(index=first + i, body=rng.choice(bodies).format(n=rng.randint(3, 99)))
        for i in range(rng.randint(0, 3))
    )
