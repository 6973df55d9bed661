"""Finds benchmarks of Rust: of Criterion, divan and gungraun, and of the compiler's own harness."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from benchgate.project.needs import Build
from benchgate.project.suites import Suite, command_table, in_folder
from benchgate.project.tree import table_at, words_at
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import PurePosixPath

    from benchgate.project.tree import ProjectTree

_CRITERION = frozenset({"criterion", "codspeed-criterion-compat"})
# What a package depends on, by the format of what its benchmarks print.
_PRINTING = {
    "divan": frozenset({"divan", "codspeed-divan-compat"}),
    "gungraun": frozenset({"gungraun", "iai-callgrind"}),
}
_NOT_READ = ("iai",)
_LIBTEST = re.compile(r"^\s*#\[bench\]", re.MULTILINE)
_KINDS_OF_DEPENDENCIES = ("dependencies", "dev-dependencies")


def find_cargo_suites(tree: ProjectTree) -> list[Suite]:
    """Find the packages and workspaces that have benchmarks."""
    manifests = {path.parent: tree.read_toml(path) for path in tree.named("Cargo.toml")}
    roots: dict[PurePosixPath, list[PurePosixPath]] = {}
    for folder in manifests:
        around = [one for one in folder.parents if "workspace" in manifests.get(one, {})]
        roots.setdefault(around[-1] if around else folder, []).append(folder)
    return [
        suite
        for root, folders in roots.items()
        for suite in _suites(tree, root, {one: manifests[one] for one in folders})
    ]


def _suites(
    tree: ProjectTree, root: PurePosixPath, packages: Mapping[PurePosixPath, Mapping[str, Any]]
) -> Iterator[Suite]:
    """The suites of a workspace, or of a package outside of one."""
    named: list[str] = []
    features: list[str] = []
    printing: dict[str, list[str]] = {}
    compiled_in = 0
    for folder, manifest in packages.items():
        depends = _dependencies(manifest)
        benches = _benches(tree, folder, manifest)
        if not _CRITERION.isdisjoint(depends):
            named += [name for name, _ in benches]
            features += [one for _, required in benches for one in required]
            continue
        for tool, crates in _PRINTING.items():
            if benches and not crates.isdisjoint(depends):
                printing.setdefault(tool, []).extend(name for name, _ in benches)
        sources = [path for path in tree.below(folder) if path.suffix == ".rs"]
        inner = [one for one in packages if one != folder and one.is_relative_to(folder)]
        compiled_in += sum(
            len(_LIBTEST.findall(tree.read(path)))
            for path in sources
            if not any(path.is_relative_to(one) for one in inner)
        )
        if other := next((one for one in _NOT_READ if one in depends), None):
            tree.note(f"benchgate does not read what {other} prints{in_folder(folder)}.")
    if named:
        yield _criterion(tree, root, named, features, is_workspace=len(packages) > 1)
    for tool, names in printing.items():
        yield _printed(tree, root, tool, names, is_workspace=len(packages) > 1)
    if compiled_in:
        yield _libtest(tree, root, compiled_in, is_workspace=len(packages) > 1)


def _dependencies(manifest: Mapping[str, Any]) -> frozenset[str]:
    """What a package depends on, also on some platforms only, by the names of packages."""
    tables = [manifest, *table_at(manifest, "target").values()]
    found: set[str] = set()
    for table in tables:
        for kind in _KINDS_OF_DEPENDENCIES:
            for name, value in table_at(table, kind).items():
                found.add(str(value.get("package", name)) if isinstance(value, dict) else name)
    return frozenset(found)


def _benches(
    tree: ProjectTree, folder: PurePosixPath, manifest: Mapping[str, Any]
) -> list[tuple[str, tuple[str, ...]]]:
    """The benchmark programs of a package: their names, and the features that they require."""
    declared = manifest.get("bench")
    tables = declared if isinstance(declared, list) else []
    benches = {
        str(one["name"]): words_at(one, "required-features")
        for one in tables
        if isinstance(one, dict) and "name" in one
    }
    if table_at(manifest, "package").get("autobenches", True):
        for path in tree.below(folder / "benches"):
            if path.suffix == ".rs" and path.parent == folder / "benches":
                benches.setdefault(path.stem, ())
    return list(benches.items())


def _command(
    tree: ProjectTree, root: PurePosixPath, features: Sequence[str], *, is_workspace: bool
) -> str:
    words = ["cargo bench"]
    words += ["--workspace"] if is_workspace else []
    words += ["--locked"] if tree.has(root / "Cargo.lock") else []
    if features and not is_workspace:
        words.append(f"--features {','.join(dict.fromkeys(features))}")
    return " ".join(words)


def _target(root: PurePosixPath) -> str:
    """A folder for what Cargo writes that base and head never share."""
    return "{root}/target" if str(root) == "." else f"{{root}}/{root}/target"


def _build(root: PurePosixPath, command: str) -> Build:
    folder = "" if str(root) == "." else f" --manifest-path {root}/Cargo.toml"
    return Build(
        (f"{command} --no-run{folder}",),
        {"CARGO_TARGET_DIR": _target(root)},
        "the benchmarks are compiled",
        ("cargo",),
    )


def _criterion(
    tree: ProjectTree,
    root: PurePosixPath,
    named: Sequence[str],
    features: Sequence[str],
    *,
    is_workspace: bool,
) -> Suite:
    command = _command(tree, root, features, is_workspace=is_workspace)
    shown = ", ".join(named[:4]) + (f" and {len(named) - 4} more" if len(named) > 4 else "")
    edit: tuple[str, ...] = ()
    if features and is_workspace:
        edit = (f"Benchmarks require the features {', '.join(features)}: add `--features`.",)
    return Suite(
        f"the Criterion benchmarks {shown}{in_folder(root)}",
        command_table(
            command,
            root,
            output="target/criterion",
            env={"CARGO_TARGET_DIR": _target(root)},
        ),
        "The benchmarks of Criterion. Short `warm_up_time` and `measurement_time` in their code "
        "leave time for more rounds.",
        root,
        _build(root, command),
        to_edit=edit,
    )


def _printed(
    tree: ProjectTree, root: PurePosixPath, tool: str, names: Sequence[str], *, is_workspace: bool
) -> Suite:
    command = _command(tree, root, (), is_workspace=is_workspace)
    command += "".join(f" --bench {name}" for name in dict.fromkeys(names))
    runner = " Its runner and valgrind must be installed." if tool == "gungraun" else ""
    return Suite(
        f"the benchmarks of {tool} {', '.join(dict.fromkeys(names))}{in_folder(root)}",
        command_table(command, root, format=tool, env={"CARGO_TARGET_DIR": _target(root)}),
        f"The benchmarks of {tool}.{runner}",
        root,
        _build(root, command),
    )


def _libtest(tree: ProjectTree, root: PurePosixPath, count: int, *, is_workspace: bool) -> Suite:
    toolchains = [tree.read(root / name) for name in ("rust-toolchain.toml", "rust-toolchain")]
    chosen = "" if any("nightly" in text for text in toolchains) else " +nightly"
    command = _command(tree, root, (), is_workspace=is_workspace)
    command = command.replace("cargo", f"cargo{chosen}", 1)
    return Suite(
        f"{counted(count, 'function')} with #[bench]{in_folder(root)}",
        command_table(command, root, env={"CARGO_TARGET_DIR": _target(root)}),
        "The functions with #[bench]. Only a nightly compiler has them.",
        root,
        _build(root, command),
    )
