"""Finds the benchmarks of Rust."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from benchgate.project.build_steps import COMPILED, BuildSteps, Suite, command_table, one_or_all
from benchgate.project.tree import ProjectTree, in_folder, table_at, words_at
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from benchgate.project.build_steps import Value


_CRITERION = frozenset({"criterion", "codspeed-criterion-compat"})
# What a package depends on, by the format of what its benchmarks print.
_PRINTING = {
    "divan": frozenset({"divan", "codspeed-divan-compat"}),
    "gungraun": frozenset({"gungraun", "iai-callgrind"}),
}
_NOT_READ = "iai"
_LIBTEST = re.compile(r"^\s*#\[bench\]", re.MULTILINE)


def cargo_suites(tree: ProjectTree) -> Iterator[Suite]:
    """The benchmarks of Rust in each workspace, and in each package outside of one."""
    manifests = {path.parent: tree.read_toml(path) for path in tree.named("Cargo.toml")}
    roots: dict[PurePosixPath, list[PurePosixPath]] = {}
    for folder in manifests:
        around = [one for one in folder.parents if "workspace" in manifests.get(one, {})]
        roots.setdefault(around[-1] if around else folder, []).append(folder)
    for root, folders in roots.items():
        found = _Workspace(tree, root, {one: manifests[one] for one in folders})
        found.look()
        yield from found.suites()


@dataclass(frozen=True, slots=True)
class _Bench:
    """A benchmark program of a package, and the features that it requires."""

    package: PurePosixPath
    name: str
    path: PurePosixPath
    features: tuple[str, ...] = ()


@dataclass(slots=True)
class _Workspace:
    """A workspace of Cargo, or a package outside of one.

    Attributes:
        packages: their manifests.
        named: the benchmarks of Criterion.
        printing: the benchmarks of tools that print a table, by the tool.
        compiled_in: the number of functions with #[bench], by their target; "" is of another kind.
        is_live: whether benchgate can measure the benchmarks of Criterion itself.
    """

    tree: ProjectTree
    root: PurePosixPath
    packages: Mapping[PurePosixPath, Mapping[str, Any]]
    named: list[_Bench] = field(default_factory=list)
    printing: dict[str, list[str]] = field(default_factory=dict)
    compiled_in: Counter[str] = field(default_factory=Counter)
    is_live: bool = True

    def look(self) -> None:
        for folder, manifest in self.packages.items():
            depends = _crates(manifest)
            benches = self._benches(folder, manifest)
            if not _CRITERION.isdisjoint(depends):
                self._look_at(benches)
                continue
            for tool, crates in _PRINTING.items():
                if benches and not crates.isdisjoint(depends):
                    self.printing.setdefault(tool, []).extend(benches)
            inner = [one for one in self.packages if one != folder and one.is_relative_to(folder)]
            for path in self.tree.below(folder):
                is_own = not any(path.is_relative_to(one) for one in inner)
                found = len(_LIBTEST.findall(self.tree.read(path))) if path.suffix == ".rs" else 0
                if is_own and found:
                    self.compiled_in[self._target(folder, benches, path)] += found
            if _NOT_READ in depends:
                where = in_folder(folder)
                self.tree.note(f"benchgate does not read what {_NOT_READ} prints{where}.")

    def _look_at(self, benches: Mapping[str, _Bench]) -> None:
        """Note which benchmarks are of Criterion, and whether benchgate can measure all of them."""
        for bench in benches.values():
            code = self.tree.read(bench.path)
            if code and "criterion" not in code:
                continue
            self.named.append(bench)
            # A `main` of another kind cannot be called once more, as benchgate needs.
            self.is_live = self.is_live and (not code or "criterion_main" in code)

    def _target(self, folder: PurePosixPath, benches: Collection[str], path: PurePosixPath) -> str:
        """The target that a file belongs to, if it has a worker."""
        top, *inside = path.relative_to(folder).parts
        name = PurePosixPath(inside[0]).stem if inside else ""
        if top == "src" and self.tree.has(folder / "src" / "lib.rs"):
            return str(folder / "lib")
        return str(folder / name) if top == "benches" and name in benches else ""

    def _benches(self, folder: PurePosixPath, manifest: Mapping[str, Any]) -> dict[str, _Bench]:
        """The benchmark programs of a package."""
        declared = manifest.get("bench")
        benches = {
            str(one["name"]): _Bench(
                folder,
                str(one["name"]),
                folder / str(one.get("path", f"benches/{one['name']}.rs")),
                words_at(one, "required-features"),
            )
            for one in (declared if isinstance(declared, list) else ())
            if isinstance(one, dict) and "name" in one
        }
        if table_at(manifest, "package").get("autobenches", True):
            for path in self.tree.below(folder / "benches"):
                target = path.parent if path.name == "main.rs" else path
                if path.suffix == ".rs" and target.parent == folder / "benches":
                    benches.setdefault(target.stem, _Bench(folder, target.stem, path))
        return benches

    def suites(self) -> Iterator[Suite]:
        if self.named and self.is_live:
            yield from self._live_criterion()
        elif self.named:
            yield self._criterion_files()
        for tool, printing in self.printing.items():
            names = dict.fromkeys(printing)
            runner = " Its runner and valgrind must be installed." if tool == "gungraun" else ""
            yield self._suite(
                f"the benchmarks of {tool} {', '.join(names)}",
                f"The benchmarks of {tool}.{runner}",
                "".join(f" --bench {name}" for name in names),
                format=tool,
            )
        files = [self.root / name for name in ("rust-toolchain.toml", "rust-toolchain")]
        is_nightly = any("nightly" in self.tree.read(file) for file in files)
        if self.compiled_in:
            yield self._libtest(is_nightly=is_nightly)

    def _live_criterion(self) -> Iterator[Suite]:
        """Those of Criterion that benchgate measures itself: a suite for each set of features."""
        by_features: dict[tuple[str, ...], list[_Bench]] = {}
        for one in self.named:
            by_features.setdefault(one.features, []).append(one)
        for required, benches in by_features.items():
            features = f"--features {','.join(required)}"
            yield Suite(
                f"{_of_criterion(benches)}{in_folder(self.root)}",
                {
                    "rust": one_or_all([str(one.package / one.name) for one in benches]),
                    **({"arguments": features} if required else {}),
                },
                "The benchmarks of Criterion.",
                self.root,
                BuildSteps(tools=("cargo",)),
            )

    def _criterion_files(self) -> Suite:
        """Those of Criterion whose own files are read."""
        edit: tuple[str, ...] = ()
        options = ""
        features = ",".join(dict.fromkeys(name for one in self.named for name in one.features))
        if features and len(self.packages) > 1:
            edit = (f"Benchmarks require the features {features}: add `--features`.",)
        elif features:
            options = f" --features {features}"
        return replace(
            self._suite(
                _of_criterion(self.named),
                "The benchmarks of Criterion. Short `warm_up_time` and `measurement_time` in "
                "their code leave time for more rounds.",
                options,
                output="target/criterion",
            ),
            to_edit=edit,
        )

    def _libtest(self, *, is_nightly: bool) -> Suite:
        """The functions with #[bench]."""
        found = counted(self.compiled_in.total(), "function") + " with #[bench]"
        if self.compiled_in[""]:
            return self._suite(
                found,
                "The functions with #[bench]. Only a nightly compiler has them.",
                program="cargo" if is_nightly else "cargo +nightly",
            )
        env = {} if is_nightly else {"env": {"RUSTC_BOOTSTRAP": "1"}}
        return Suite(
            f"{found}{in_folder(self.root)}",
            {"rust": one_or_all(list(self.compiled_in)), **env},
            "The functions with #[bench]."
            f"{' RUSTC_BOOTSTRAP lets a stable compiler build them.' if env else ''}",
            self.root,
            BuildSteps(tools=("cargo",)),
        )

    def _suite(
        self, found: str, comment: str, options: str = "", program: str = "cargo", **table: Value
    ) -> Suite:
        root = self.root
        workspace = " --workspace" if len(self.packages) > 1 else ""
        locked = " --locked" if self.tree.has(root / "Cargo.lock") else ""
        command = f"{program} bench{workspace}{locked}{options}"
        inside = "" if str(root) == "." else f"/{root}"
        env = {"CARGO_TARGET_DIR": f"{{root}}{inside}/target"}  # base and head never share it
        manifest = f" --manifest-path {root}/Cargo.toml" if inside else ""
        return Suite(
            f"{found}{in_folder(root)}",
            command_table(command, root, **table, env=env),
            comment,
            root,
            BuildSteps((f"{command} --no-run{manifest}",), env, COMPILED, ("cargo",)),
        )


def _of_criterion(benches: Sequence[_Bench]) -> str:
    names = list(dict.fromkeys(one.name for one in benches))
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""
    return f"the Criterion benchmarks {', '.join(names[:4])}{more}"


def _crates(manifest: Mapping[str, Any]) -> frozenset[str]:
    """What a package depends on, also on some platforms only, by the names of packages."""
    return frozenset(
        str(value.get("package", name)) if isinstance(value, dict) else name
        for table in (manifest, *table_at(manifest, "target").values())
        for kind in ("dependencies", "dev-dependencies")
        for name, value in table_at(table, kind).items()
    )
