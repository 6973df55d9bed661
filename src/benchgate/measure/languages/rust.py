"""Rust: targets of Criterion and of `#[bench]`, which Cargo builds."""

from __future__ import annotations

import json
import os
import re
import tomllib
from dataclasses import replace
from pathlib import Path, PurePosixPath
from shutil import copytree
from typing import TYPE_CHECKING, Any, Final

from benchgate.config.live_benchmarks import RustBenchmark
from benchgate.errors import UsageError
from benchgate.measure.languages.language import (
    ADAPTERS,
    Language,
    NotBuiltError,
    Toolbox,
    WorkerProgram,
    lent,
    text_of,
)
from benchgate.measure.languages.linking import FOR_LINKERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.measure.arm import Arm

_EXECUTABLE: Final = re.compile(r"Executable [^(]*\((.+)\)$")
_CRITERION: Final = frozenset({"criterion", "codspeed-criterion-compat"})
_VERSION: Final = re.compile(r"\d+(\.\d+)*")


class Rust(Language[RustBenchmark]):
    """Targets that are built with a crate that is a worker, in place of criterion or test."""

    FAILS_AS_A_WHOLE = True
    LINKED_IN_ORDER = True
    OBSERVED_UNDER_CALLGRIND = True

    def find(self, arm: Arm, benchmark: RustBenchmark) -> Iterator[tuple[str, str]]:
        for path in benchmark.paths:
            target = PurePosixPath(path)
            if target.name in _bench_targets(arm.folder / target.parent):
                yield path, path

    def files(self, arm: Arm, benchmark: RustBenchmark) -> Iterator[Path]:
        for path, _ in self.find(arm, benchmark):
            target = PurePosixPath(path)
            yield from _files_of_target(arm.folder / target.parent, target.name)

    def build(
        self, tools: Toolbox, arm: Arm, benchmark: RustBenchmark, path: str, _layout: int
    ) -> WorkerProgram:
        package = replace(arm, inside=str(PurePosixPath(arm.inside, path).parent))
        option = _bench_targets(package.folder)[PurePosixPath(path).name]
        command = ["cargo", "bench", "--no-run", *option]
        folder = arm.env / "benchgate"
        for crate, version in sorted(_criterion_versions(package.folder)):
            made = folder / f"{crate}-{version}"
            if not made.is_dir():
                copytree(ADAPTERS / "rust" / "criterion", made)
                manifest = made / "Cargo.toml"
                text = text_of(manifest).replace("0.0.0", version)
                manifest.write_text(text.replace('"criterion"', json.dumps(crate)))
            patch = f"patch.crates-io.{re.sub('[^0-9a-z]', '-', made.name)}"
            command += ["--config", f"{patch}.path={json.dumps(str(made))}"]
            command += ["--config", f"{patch}.package={json.dumps(crate)}"]
        wrapped = {
            "RUSTC_WRAPPER": str(ADAPTERS / "rust" / "rustc"),
            "BENCHGATE_MADE": str(folder),
            # Outside of the tree, where each round moves and compares all files.
            "CARGO_TARGET_DIR": benchmark.env.get("CARGO_TARGET_DIR", str(folder / "target"))
            + lent(arm),
            **FOR_LINKERS,
        }
        if own := {**os.environ, **benchmark.env}.get("RUSTC_WRAPPER"):
            wrapped["BENCHGATE_RUSTC_WRAPPER"] = own
        lines = tools.run(package, benchmark, [*command, *benchmark.tool_arguments], wrapped)
        found = [m[1] for line in lines if (m := _EXECUTABLE.search(line))]
        if not found:
            raise NotBuiltError("\n".join(["cargo bench --no-run named no executable", *lines]))
        # Its target folder may be one of the arm, whose name was put in place of its path.
        program = str(package.folder / arm.substitute(found[-1]))
        return WorkerProgram((program, "--bench"), package.folder)


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


def _bench_targets(folder: Path) -> dict[str, tuple[str, ...]]:
    """Of each target of a Cargo package that may have benchmarks, the option that builds it."""
    manifest = _cargo_manifest(folder)
    names = [str(one.get("name")) for one in manifest.get("bench", [])]
    benches = folder / "benches"
    names += [file.stem for file in benches.glob("*.rs")]
    names += [file.parent.name for file in benches.glob("*/main.rs")]
    library = folder / manifest.get("lib", {}).get("path", "src/lib.rs")
    found = {"lib": ("--lib",)} if library.is_file() else {}
    return found | {name: ("--bench", name) for name in names}


def _cargo_manifest(folder: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text_of(folder / "Cargo.toml"))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{folder / 'Cargo.toml'}: {error}") from error


def _files_of_target(folder: Path, name: str) -> Iterator[Path]:
    """All benchmarks of a Cargo package, or the file of one that lies elsewhere.

    Those in the library itself are a part of it.
    """
    if name == "lib":
        return
    named = _cargo_manifest(folder).get("bench", [])
    path = next((each["path"] for each in named if each.get("name") == name and "path" in each), "")
    yield from (folder / path,) if path else ()
    yield from (folder / "benches").rglob("*")
