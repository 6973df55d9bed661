"""Workers of other languages: how each is built and started.

The files beside this one are the adapters: they let a program of a benchmark tool speak
benchgate's worker protocol without an edit of the project.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from shutil import copytree
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from benchgate.config.benchmarks import (
    CppBenchmark,
    GoBenchmark,
    LiveBenchmarks,
    NodeBenchmark,
    RustBenchmark,
    WorkerBenchmark,
)
from benchgate.measure.adapters.finding import (
    bench_targets,
    digest,
    is_of_vitest,
    text_of,
)
from benchgate.measure.adapters.linking import LinkError, linked_again
from benchgate.measure.build import run_command
from benchgate.measure.memory_layout import Layout

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchgate.measure.engine import Arm
    from benchgate.measure.guardian import Guardian

HERE: Final = Path(__file__).parent


class NotBuiltError(Exception):
    """A program of benchmarks could not be built; the text says why, with the tool's output."""


@dataclass(frozen=True, slots=True)
class WorkerProgram:
    """A program that is a worker, in one arm.

    Attributes:
        command: starts it.
        folder: where it starts; None for the folder of the configuration.
        drawn: its file, if it was made for one start: linked in an order that was drawn.
    """

    command: tuple[str, ...]
    folder: Path | None = None
    drawn: Path | None = None


_AS_IT_IS: Final = Layout()


class Programs:
    """Builds the programs of the arms, each once.

    Args:
        timeout_s: the time limit for each command.

    Attributes:
        warnings: what makes the programs' times less reliable.
    """

    def __init__(self, guardian: Guardian, timeout_s: float) -> None:
        self._guardian = guardian
        self._timeout_s = timeout_s
        self._built: dict[str, dict[tuple[Path, int], WorkerProgram]] = {}
        self._overlays: dict[Path, tuple[Path, tuple[str, ...]]] = {}
        self._made: set[Path] = set()
        self.warnings: dict[str, None] = {}
        self._building = Lock()  # two lanes may need the same program

    def program(
        self, arm: Arm, benchmark: LiveBenchmarks, path: str, memory: Layout = _AS_IT_IS
    ) -> WorkerProgram:
        """The program at a path, which is built first if it has to be.

        Args:
            memory: decides the order of its functions, where this is possible, if it has a seed.

        Raises:
            NotBuiltError: it cannot be built.
        """
        built = self._built.setdefault(f"{benchmark.KIND} {path} {_way(benchmark)}", {})
        links = Path(arm.substitute(_LINKS))
        seed, is_go = memory.hash_seed, isinstance(benchmark, GoBenchmark)
        layout = 1 + memory.round_index % _GO_LAYOUTS if seed and is_go else 0
        with self._building:
            if (links, layout) not in built:
                built[links, layout] = self._program(arm, benchmark, path, layout)
            program = built[links, layout]
        if not seed or not isinstance(benchmark, CppBenchmark | RustBenchmark):
            return program
        others = [(each, Path(it.command[0])) for (each, _), it in built.items() if each != links]
        try:
            drawn = linked_again((links, Path(program.command[0])), others, seed)
        except LinkError as error:
            raise NotBuiltError(str(error)) from None
        if drawn is None:
            return program
        return replace(program, command=(str(drawn), *program.command[1:]), drawn=drawn)

    def _program(
        self, arm: Arm, benchmark: LiveBenchmarks, path: str, layout: int
    ) -> WorkerProgram:
        if isinstance(benchmark, WorkerBenchmark):
            return WorkerProgram(tuple(arm.substitute(word) for word in benchmark.command))
        if isinstance(benchmark, NodeBenchmark):
            return self._node(arm, benchmark, path)
        if isinstance(benchmark, GoBenchmark):
            return self._go(arm, benchmark, path, layout)
        if isinstance(benchmark, RustBenchmark):
            return self._rust(arm, benchmark, path)
        return WorkerProgram((str(arm.folder / path), *benchmark.tool_arguments))

    def _run(
        self,
        arm: Arm,
        benchmark: LiveBenchmarks,
        command: Sequence[str],
        more: Mapping[str, str] = MappingProxyType({}),
    ) -> list[str]:
        lines, failure = run_command(
            arm,
            command,
            timeout_s=self._timeout_s,
            variables={**benchmark.env, **more},
            guardian=self._guardian,
        )
        if failure:
            raise NotBuiltError("\n".join([f"{' '.join(command[:3])} {failure}", *lines]))
        return lines

    def _node(self, arm: Arm, benchmark: NodeBenchmark, path: str) -> WorkerProgram:
        """Start a script with a hook, or a file of vitest with a runner for it."""
        script, folder = (arm.folder / path).resolve(), (arm.folder / benchmark.cwd).resolve()
        if script.is_dir() or is_of_vitest(script):
            command = ("node", str(HERE / "vitest.mjs"), str(script), *benchmark.arguments)
        else:
            # What is imported last sees first what a script imports.
            hook = f"--import={HERE / 'benchgate.mjs'}"
            given = [*benchmark.arguments, "--"]
            at = given.index("--")
            own = given[at + 1 : -1]
            command = ("node", *given[:at], hook, os.path.relpath(script, folder), *own)
        return WorkerProgram(command, folder)

    def _go(self, arm: Arm, benchmark: LiveBenchmarks, path: str, layout: int) -> WorkerProgram:
        """Compile the tests of a package together with a worker in Go's package `testing`."""
        made = arm.env / "benchgate" / "go"
        if arm.root not in self._overlays:
            self._overlays[arm.root] = self._overlay(arm, benchmark, made)
        overlay, known = self._overlays[arm.root]
        if "-randlayout" not in known:
            layout = 0
            self.warnings[_GO_IS_OLD] = None
        values = dict(zip(_GO_PLACING, (64, layout), strict=True))
        placing = " ".join(f"{each}={values[each]}" for each in known if values[each])
        name = f"{quote(path, safe='')}-{_way(benchmark)}-{layout}{_lent(arm)}.test"
        program = made / name
        compiled = ["go", "test", "-c", "-vet=off", f"-overlay={overlay}"]
        compiled += _with_linker_flags(benchmark.tool_arguments, placing)
        # In its own folder, because its module may be another one than that of the configuration.
        inside = replace(arm, inside=f"{arm.inside}/{path}")
        if program not in self._made:
            lines = self._run(inside, benchmark, [*compiled, "-o", str(program)])
            if not program.exists():
                raise NotBuiltError("\n".join(["go test -c made no program", *lines]))
            self._made.add(program)
        return WorkerProgram((str(program), "-test.run=^$", "-test.bench=."), arm.folder / path)

    def _overlay(
        self, arm: Arm, benchmark: LiveBenchmarks, made: Path
    ) -> tuple[Path, tuple[str, ...]]:
        """The overlay, and the options of the linker."""
        lines = self._run(arm, benchmark, ["go", "env", "GOROOT"])
        testing = Path(lines[-1]) / "src" / "testing"
        made.mkdir(parents=True, exist_ok=True)
        replaced = {str(testing / "benchgate.go"): str(HERE / "benchgate.go")}
        for name, changes in _GO_CHANGES.items():
            text = text_of(testing / name)
            for pattern, replacement in changes:
                text, count = re.subn(pattern, replacement, text, flags=re.MULTILINE)
                if not count:
                    raise NotBuiltError(
                        f"{testing / name} is not as benchgate knows it: it has no line "
                        f"like {pattern}"
                    )
            (made / name).write_text(text)
            replaced[str(testing / name)] = str(made / name)
        overlay = made / "overlay.json"
        overlay.write_text(json.dumps({"Replace": replaced}))
        options = " ".join(f"-e '^  {each}'" for each in _GO_PLACING)
        said, _ = run_command(  # releases differ in the options of the linker
            arm,
            ["/bin/sh", "-c", f"go tool link 2>&1 | grep {options}"],
            timeout_s=self._timeout_s,
            variables=benchmark.env,
            guardian=self._guardian,
        )
        return overlay, tuple(line.split()[0] for line in said)

    def _rust(self, arm: Arm, benchmark: LiveBenchmarks, path: str) -> WorkerProgram:
        """Build a target with a crate that is a worker, in place of criterion or test."""
        package = replace(arm, inside=str(PurePosixPath(arm.inside, path).parent))
        option = bench_targets(package.folder)[PurePosixPath(path).name]
        command = ["cargo", "bench", "--no-run", *option]
        folder = arm.env / "benchgate"
        for crate, version in sorted(_criterion_versions(package.folder)):
            made = folder / f"{crate}-{version}"
            if not made.is_dir():
                copytree(HERE / "rust" / "criterion", made)
                manifest = made / "Cargo.toml"
                text = text_of(manifest).replace("0.0.0", version)
                manifest.write_text(text.replace('"criterion"', json.dumps(crate)))
            patch = f"patch.crates-io.{re.sub('[^0-9a-z]', '-', made.name)}"
            command += ["--config", f"{patch}.path={json.dumps(str(made))}"]
            command += ["--config", f"{patch}.package={json.dumps(crate)}"]
        wrapped = {
            "RUSTC_WRAPPER": str(HERE / "rust" / "rustc"),
            "BENCHGATE_MADE": str(folder),
            # Outside of the tree, where each round moves and compares all files.
            "CARGO_TARGET_DIR": benchmark.env.get("CARGO_TARGET_DIR", str(folder / "target"))
            + _lent(arm),
            **_LINKER,
        }
        if own := {**os.environ, **benchmark.env}.get("RUSTC_WRAPPER"):
            wrapped["BENCHGATE_RUSTC_WRAPPER"] = own
        lines = self._run(package, benchmark, [*command, *benchmark.tool_arguments], wrapped)
        found = [m[1] for line in lines if (m := _EXECUTABLE.search(line))]
        if not found:
            raise NotBuiltError("\n".join(["cargo bench --no-run named no executable", *lines]))
        # Its target folder may be one of the arm, whose name was put in place of its path.
        program = str(package.folder / arm.substitute(found[-1]))
        return WorkerProgram((program, "--bench"), package.folder)


def _lent(arm: Arm) -> str:
    """Tells a program apart that is built from the benchmark files of the other side."""
    return "-lent" if arm.is_lent else ""


def _way(benchmark: LiveBenchmarks) -> str:
    """Tells how a program is built, or run, from other ways."""
    return digest(benchmark.model_dump_json(include={"arguments", "cwd", "env"}))


def _with_linker_flags(arguments: Sequence[str], flags: str) -> list[str]:
    """Arguments of `go test` with further flags of the linker: the last -ldflags holds."""
    words = [*arguments]
    for index, word in enumerate(words):
        if word.startswith("-ldflags"):
            words[index if "=" in word else index + 1] += f" {flags}"
            return words
    return [*words, f"-ldflags={flags}"] if flags else words


# Rounds of the same two programs are not independent: they share what the places of their functions
# add, up to a few percent. A check seldom needs more rounds.
_GO_LAYOUTS: Final = 12
_GO_IS_OLD: Final = (
    "an edit that moves functions may change the times of Go benchmarks by a few percent: with Go "
    "1.22 or newer, benchgate evens that out"
)
_GO_PLACING: Final = ("-funcalign", "-randlayout")
# What is changed in files of Go's package testing, in any release from 1.18 on.
_GO_CHANGES: Final[Mapping[str, Sequence[tuple[str, str]]]] = {
    "testing.go": ((r"^(func MainStart\(deps testDeps.*\{)$", r"\1\n\tbenchgateDeps = deps"),),
    "benchmark.go": (
        (r"^func \(b \*B\) run1\(\) bool \{", "func (b *B) benchgateRun1() bool {"),
        (
            r"^(func runBenchmarks\(.*\{)$",
            (
                r"\1\n\twalk := func() { runBenchmarks(importPath, matchString, benchmarks) }\n"
                r"\tif benchgateServe(walk) {\n\t\treturn true\n\t}"
            ),
        ),
        (
            r"^(\t\t)(b\.start = .*)$",
            r"\1benchgateTimer(true, 0)\n\1benchgateCPUStart = benchgateCPUNow()\n\1\2",
        ),
        (
            r"^(\t\tb\.duration \+= .*)$",
            (
                r"\1\n\t\tbenchgateCPU += benchgateCPUNow() - benchgateCPUStart"
                r"\n\t\tbenchgateTimer(false, 0)"
            ),
        ),
        (r"^(\tb\.duration = 0)$", r"\1\n\tbenchgateCPU = 0\n\tbenchgateTimer(b.timerOn, 1)"),
        (r"^\truntime\.GC\(\)$", "\tbenchgateCollect()"),
    ),
}
_LINKS: Final = "{env}/benchgate/links"
_LINKER: Final[Mapping[str, str]] = (
    {"BENCHGATE_PYTHON": sys.executable, "BENCHGATE_LINKS": _LINKS}
    if sys.platform == "linux"
    else {}  # linkers of other systems have other options
)
_EXECUTABLE: Final = re.compile(r"Executable [^(]*\((.+)\)$")
_CRITERION: Final = frozenset({"criterion", "codspeed-criterion-compat"})
_VERSION: Final = re.compile(r"\d+(\.\d+)*")


def _criterion_versions(folder: Path) -> set[tuple[str, str]]:
    """The crates of Criterion that a project has locked, or else asks for, with the version."""
    around = (folder, *folder.parents)
    for above in around:
        locked = tomllib.loads(text_of(above / "Cargo.lock")).get("package", [])
        if found := {(one["name"], one["version"]) for one in locked if one["name"] in _CRITERION}:
            return found
    for above in around:
        manifest = tomllib.loads(text_of(above / "Cargo.toml"))
        for table in (
            manifest,
            manifest.get("workspace", {}),
            *manifest.get("target", {}).values(),
        ):
            for kind in ("dev-dependencies", "dependencies"):
                for name, asked in table.get(kind, {}).items():
                    entry = asked if isinstance(asked, dict) else {"version": asked}
                    crate = entry.get("package", name)
                    match = _VERSION.search(entry.get("version", ""))
                    if crate in _CRITERION and match:
                        return {(crate, ".".join([*match[0].split("."), "0", "0"][:3]))}
    return set()


def build_variables(benchmarks: Iterable[object], given: Mapping[str, str]) -> dict[str, str]:
    """What [build] gets for these benchmarks: compilers that add what a worker needs.

    Args:
        given: the variables that the configuration sets.
    """
    if not any(isinstance(one, CppBenchmark) for one in benchmarks):
        return {}
    known = {**os.environ, **given}
    return {
        "CC": str(HERE / "cpp" / "cc"),
        "CXX": str(HERE / "cpp" / "c++"),
        "BENCHGATE_CC": known.get("CC", "cc"),
        "BENCHGATE_CXX": known.get("CXX", "c++"),
        **_LINKER,
    }
