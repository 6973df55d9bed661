"""Go: functions `Benchmark*` in the tests of a package."""

from __future__ import annotations

import ast
import json
import platform
import re
import sys
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from benchgate.config.live_benchmarks import GoBenchmark
from benchgate.measure.languages.language import (
    ADAPTERS,
    Language,
    NotBuiltError,
    Toolbox,
    WorkerProgram,
    digest,
    lent,
    text_of,
    way_of,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from benchgate.measure.arm import Arm

_SKIPPED = frozenset({"node_modules", "vendor", "testdata"})
_HEAD = r"^func (Benchmark(?![a-z])\w*)\(\s*\w+ \*testing\.B\s*\)"
_HEADS = re.compile(_HEAD, re.MULTILINE)
# On one line, or up to a brace at the beginning of a line.
_FUNCTION = re.compile(_HEAD + r"(?:[^\n]*\}[ \t]*(?://[^\n]*)?$|.*?^\})", re.MULTILINE | re.DOTALL)
_BUILD = re.compile(r"^//go:build (.+)$", re.MULTILINE)
_WORD = re.compile(r"&&|\|\||[!()]|[\w.]+")
_IS_OLD: Final = (
    "an edit that moves functions may change the times of Go benchmarks by a few percent: with Go "
    "1.22 or newer, benchgate evens that out"
)
_PLACING: Final = ("-funcalign", "-randlayout")
# What is changed in files of Go's package testing, in any release from 1.18 on.
_CHANGES: Final[Mapping[str, Sequence[tuple[str, str]]]] = {
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


class Go(Language[GoBenchmark]):
    """Packages whose tests are compiled together with a worker in Go's package `testing`."""

    FAILS_AS_A_WHOLE = True
    # Rounds of the same two programs are not independent: they share what the places of their
    # functions add, up to a few percent. A check seldom needs more rounds.
    LAYOUTS = 12

    def find(self, arm: Arm, benchmark: GoBenchmark) -> Iterator[tuple[str, str]]:
        for path in benchmark.paths:
            top = arm.folder / path.removesuffix("...")
            for folder in _packages(top, benchmark.arguments):
                relative = folder.relative_to(arm.folder).as_posix()
                yield relative, "" if relative == "." else relative

    def files(self, arm: Arm, benchmark: GoBenchmark) -> Iterator[Path]:
        for path, _ in self.find(arm, benchmark):
            folder = arm.folder / path
            # They are one package: what they declare, they share.
            yield from folder.glob("*_test.go")
            yield from (folder / "testdata").rglob("*")

    def parts(
        self, arm: Arm, _benchmark: GoBenchmark, path: str, described: Mapping[str, Any]
    ) -> dict[str, str]:
        name = "Benchmark" + described["id"].partition("/")[0]
        texts = (text_of(file) for file in sorted((arm.folder / path).glob("*_test.go")))
        code = [m[0] for text in texts for m in _FUNCTION.finditer(text) if m[1] == name]
        return {"its code": digest("\0".join(code))}

    def build(
        self, tools: Toolbox, arm: Arm, benchmark: GoBenchmark, path: str, layout: int
    ) -> WorkerProgram:
        made = arm.env / "benchgate" / "go"
        overlay, known = tools.once(arm.root, partial(_overlay, tools, arm, benchmark, made))
        if "-randlayout" not in known:
            layout = 0
            tools.warnings[_IS_OLD] = None
        values = dict(zip(_PLACING, (64, layout), strict=True))
        placing = " ".join(f"{each}={values[each]}" for each in known if values[each])
        name = f"{quote(path, safe='')}-{way_of(benchmark)}-{layout}{lent(arm)}.test"
        program = made / name
        compiled = ["go", "test", "-c", "-vet=off", f"-overlay={overlay}"]
        compiled += _with_linker_flags(benchmark.tool_arguments, placing)
        # In its own folder, because its module may be another one than that of the configuration.
        inside = replace(arm, inside=f"{arm.inside}/{path}")
        command = [*compiled, "-o", str(program)]
        tools.once(program, partial(_compile, tools, inside, benchmark, command))
        return WorkerProgram((str(program), "-test.run=^$", "-test.bench=."), arm.folder / path)


def benchmarks_in(text: str) -> int:
    """How many functions `Benchmark*` a file of Go has."""
    return len(_HEADS.findall(text))


def _compile(tools: Toolbox, arm: Arm, benchmark: GoBenchmark, command: Sequence[str]) -> None:
    lines = tools.run(arm, benchmark, command)
    if not Path(command[-1]).exists():
        raise NotBuiltError("\n".join(["go test -c made no program", *lines]))


def _overlay(
    tools: Toolbox, arm: Arm, benchmark: GoBenchmark, made: Path
) -> tuple[Path, tuple[str, ...]]:
    """The overlay that puts a worker into Go's package testing, and the options of the linker."""
    lines = tools.run(arm, benchmark, ["go", "env", "GOROOT"])
    testing = Path(lines[-1]) / "src" / "testing"
    made.mkdir(parents=True, exist_ok=True)
    replaced = {str(testing / "benchgate.go"): str(ADAPTERS / "benchgate.go")}
    for name, changes in _CHANGES.items():
        text = text_of(testing / name)
        for pattern, replacement in changes:
            text, count = re.subn(pattern, replacement, text, flags=re.MULTILINE)
            if not count:
                raise NotBuiltError(
                    f"{testing / name} is not as benchgate knows it: it has no line like {pattern}"
                )
        (made / name).write_text(text)
        replaced[str(testing / name)] = str(made / name)
    overlay = made / "overlay.json"
    overlay.write_text(json.dumps({"Replace": replaced}))
    options = " ".join(f"-e '^  {each}'" for each in _PLACING)
    # Releases differ in the options of the linker.
    command = ["/bin/sh", "-c", f"go tool link 2>&1 | grep {options}"]
    said, _ = tools.try_to_run(arm, benchmark, command)
    return overlay, tuple(line.split()[0] for line in said)


def _with_linker_flags(arguments: Sequence[str], flags: str) -> list[str]:
    """Arguments of `go test` with further flags of the linker: the last -ldflags holds."""
    words = [*arguments]
    for index, word in enumerate(words):
        if word.startswith("-ldflags"):
            words[index if "=" in word else index + 1] += f" {flags}"
            return words
    return [*words, f"-ldflags={flags}"] if flags else words


def _packages(top: Path, arguments: Sequence[str]) -> list[Path]:
    """The folders whose tests have a function `Benchmark*`, as far as Go builds them here."""
    given = " ".join(arguments).replace("=", " ").split()
    tags = {one for flag, text in pairwise(given) if flag == "-tags" for one in text.split(",")}
    # Go does not build the modules inside of a module, unless a workspace uses them.
    work = next(
        (one / "go.work" for one in (top, *top.parents) if (one / "go.work").is_file()), top
    )
    used = {(work.parent / word.strip('"`')).resolve() for word in text_of(work).split()}
    modules = [one.parent for one in top.rglob("*/go.mod") if one.parent.resolve() not in used]
    found = {
        file.parent
        for file in sorted(top.rglob("*_test.go"))
        if not _is_skipped(file.relative_to(top)) and _has_benchmark(text_of(file), tags)
    }
    return sorted(one for one in found if not any(map(one.is_relative_to, modules)))


def _has_benchmark(text: str, tags: Collection[str]) -> bool:
    constraint = _BUILD.search(text)
    is_built = constraint is None or _holds(constraint[1], tags)
    return is_built and _HEADS.search(text) is not None


def _holds(constraint: str, tags: Collection[str]) -> bool:
    """Whether a file with this `//go:build` belongs to a build with these tags."""
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    known = {*tags, sys.platform, machine, "unix", "gc", "cgo"}
    words = {"&&": " and ", "||": " or ", "!": " not ", "(": "(", ")": ")"}
    text = _WORD.sub(
        lambda m: words.get(m[0]) or str(m[0] in known or m[0].startswith("go1.")), constraint
    )
    try:
        return _value(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError):
        return True  # Go itself says what is wrong


def _value(node: ast.expr) -> bool:
    if isinstance(node, ast.BoolOp):
        values = map(_value, node.values)
        return all(values) if isinstance(node.op, ast.And) else any(values)
    if isinstance(node, ast.UnaryOp):
        return not _value(node.operand)
    if isinstance(node, ast.Constant):
        return bool(node.value)
    raise ValueError(ast.dump(node))


def _is_skipped(path: Path) -> bool:
    """Whether Go leaves a file out, too."""
    return any(part in _SKIPPED or part.startswith((".", "_")) for part in path.parts[:-1])
