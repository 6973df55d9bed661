"""Finds the benchmarks that a project has: benchgate's own, and the suites of other tools."""

from __future__ import annotations

import re
import shlex
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from benchgate.config.benchmarks import is_benchmark_file
from benchgate.measure.languages import benchmarks_in
from benchgate.measure.sources import topmost_folders
from benchgate.project.javascript import deno_suites, node_suites
from benchgate.project.python_suites import PythonSuites, read_sources
from benchgate.project.requirements import BuildSteps, Suite, command_table, one_or_all
from benchgate.project.tree import ProjectTree, in_folder, list_tree, table_at, words_at
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from benchgate.project.python_suites import Sources
    from benchgate.project.requirements import Value


@dataclass(frozen=True, slots=True)
class FoundBenchmarks:
    """The benchmarks of a project.

    Attributes:
        tree: the files of the project, with notes on the search.
        own: folders and files that hold functions `bench_*`, relative to the top.
        suites: of other tools, the ones in Python first.
        unclear: folders of other files named `bench_*.py`, by what they seem to be for.
    """

    tree: ProjectTree
    own: tuple[str, ...]
    suites: tuple[Suite, ...]
    unclear: Mapping[str, tuple[str, ...]]

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was found, and what a person should know about it."""
        return (
            *(f"Found {suite.found}." for suite in self.suites),
            *(
                f"The files bench_*.py in {', '.join(places)} are for {tool}, but they do not tell "
                "how it runs them."
                for tool, places in self.unclear.items()
            ),
            *self.tree.notes,
        )


def find_benchmarks(top: Path, is_ignored: Callable[[Path], bool]) -> FoundBenchmarks:
    """Look for benchmarks below a folder; no code of the project runs.

    Args:
        is_ignored: whether git ignores a path, so that it is not measured.
    """
    tree = list_tree(top, is_ignored)
    sources = read_sources(tree)
    suites = PythonSuites(tree, sources).find()
    for find in (
        *(_cargo_suites, _go_suites, node_suites, deno_suites),
        *(_cmake_suites, _java_suites, _ruby_suites),
    ):
        suites += find(tree)
    measured = [suite for suite in suites if not is_ignored(top / suite.place)]
    return FoundBenchmarks(tree, _own(sources), tuple(measured), _unclear(sources, measured))


def _own(sources: Sources) -> tuple[str, ...]:
    """The folders that hold benchmarks for benchgate; its files, where other tools' are beside."""
    files = {path: one.tool for path, one in sources.items() if is_benchmark_file(path)}
    own = [path for path, tool in files.items() if tool is None]
    folders = topmost_folders(own)
    shared = [
        folder
        for folder in folders
        if any(tool and path.is_relative_to(folder) for path, tool in files.items())
    ]
    named = [str(path) for path in own if any(path.is_relative_to(one) for one in shared)]
    return (*(folder for folder in folders if folder not in shared), *named)


def _unclear(sources: Sources, suites: list[Suite]) -> Mapping[str, tuple[str, ...]]:
    """The folders of files that are named like benchmarks, but belong to no suite."""
    covered = [
        PurePosixPath(place)
        for suite in suites
        if suite.python
        for value in suite.table.values()
        for place in (value if isinstance(value, tuple | dict) else (str(value),))
    ]
    found: dict[str, set[str]] = {}
    for path, one in sources.items():
        is_covered = any(path.is_relative_to(place) for place in covered)
        if one.tool and is_benchmark_file(path) and not is_covered:
            found.setdefault(one.tool, set()).add(str(path.parent))
    return {tool: tuple(sorted(places)) for tool, places in sorted(found.items())}


_COMPILED = "the benchmarks are compiled"


_CRITERION = frozenset({"criterion", "codspeed-criterion-compat"})
# What a package depends on, by the format of what its benchmarks print.
_PRINTING = {
    "divan": frozenset({"divan", "codspeed-divan-compat"}),
    "gungraun": frozenset({"gungraun", "iai-callgrind"}),
}
_NOT_READ = "iai"
_LIBTEST = re.compile(r"^\s*#\[bench\]", re.MULTILINE)


def _cargo_suites(tree: ProjectTree) -> Iterator[Suite]:
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
        elif self.named:
            edit: tuple[str, ...] = ()
            options = ""
            features = ",".join(dict.fromkeys(name for one in self.named for name in one.features))
            if features and len(self.packages) > 1:
                edit = (f"Benchmarks require the features {features}: add `--features`.",)
            elif features:
                options = f" --features {features}"
            yield replace(
                self._suite(
                    _of_criterion(self.named),
                    "The benchmarks of Criterion. Short `warm_up_time` and `measurement_time` in "
                    "their code leave time for more rounds.",
                    options,
                    output="target/criterion",
                ),
                to_edit=edit,
            )
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
        found = counted(self.compiled_in.total(), "function") + " with #[bench]"
        if self.compiled_in[""]:
            yield self._suite(
                found,
                "The functions with #[bench]. Only a nightly compiler has them.",
                program="cargo" if is_nightly else "cargo +nightly",
            )
        elif self.compiled_in:
            env = {} if is_nightly else {"env": {"RUSTC_BOOTSTRAP": "1"}}
            yield Suite(
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
            BuildSteps((f"{command} --no-run{manifest}",), env, _COMPILED, ("cargo",)),
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


def _go_suites(tree: ProjectTree) -> Iterator[Suite]:
    """The modules that have functions `Benchmark...` in their tests."""
    modules = {path.parent for path in tree.named("go.mod")}
    counts: dict[PurePosixPath, dict[PurePosixPath, int]] = defaultdict(dict)
    for path in tree.named("*_test.go") if modules else ():
        module = next((folder for folder in path.parents if folder in modules), None)
        if module is None or any(part.startswith("_") for part in path.parts):
            continue
        if found := benchmarks_in(tree.read(path)):
            counts[module][path.parent] = counts[module].get(path.parent, 0) + found
    folders = tuple(map(str, sorted(counts)))
    if work := tree.read(PurePosixPath("go.work")):
        used = {PurePosixPath(word.strip('"`')) for word in work.split()}
        for module in sorted(counts.keys() - used):
            del counts[module]
            tree.note(f"go.work does not use the Go module{in_folder(module)}: it is left out.")
        folders = (".",)
    if not counts:
        return
    total = sum(sum(packages.values()) for packages in counts.values())
    places = sum(map(len, counts.values()))
    yield Suite(
        f"{counted(total, 'benchmark')} of Go in {counted(places, 'package')}",
        {"go": one_or_all(folders)},
        "The benchmarks of Go: functions Benchmark*.",
        PurePosixPath(),
        BuildSteps(tools=("go",)),
    )


_CMAKE_COMMENT = re.compile(r"#(?!\[).*")
_PROGRAM = re.compile(
    r"\badd_executable\s*\(\s*([\w.+-]+)((?:(?!IMPORTED|ALIAS)[^)])*)\)", re.IGNORECASE
)
_LINKS = re.compile(r"\btarget_link_libraries\s*\(\s*([\w.+-]+)([^)]*)\)", re.IGNORECASE)
_GOOGLE = re.compile(r"(?<![\w:-])benchmark(?:_main|::benchmark(?:_main)?)?(?![\w:-])")
_GOOGLE_HEADER = "<benchmark/benchmark.h>"
_CATCH = re.compile(r"\bCatch2?(?:::Catch2?\w*)?\b")
_CATCH_BENCHMARK = re.compile(r"\bBENCHMARK(?:_ADVANCED)?\s*\(")
# Those of Google Benchmark itself begin with BENCHMARK_.
_OPTION = re.compile(
    r'\b(?:option|set)\s*\(\s*((?!BENCHMARK_)\w*BENCH\w*)\b(?:"[^"]*"|[^)"])*\bOFF\b[^)]*\)'
)
_PLACED = re.compile(
    r"CMAKE_RUNTIME_OUTPUT_DIRECTORY\s+\"?\$\{(?:CMAKE|PROJECT)_BINARY_DIR\}/?([\w./-]*)"
)
_PROJECT = re.compile(r"^\s*project\s*\(", re.IGNORECASE | re.MULTILINE)
_ADDED = re.compile(r"\badd_subdirectory\s*\(\s*\"?([^\s\")]+)", re.IGNORECASE)
_SOURCE = re.compile(r"[\w./+-]+\.(?:cc|cpp|cxx|c\+\+|C)\b")
_MAX_PROGRAMS = 8
# The head has a folder `build` already if git does not ignore it, and CMake keeps to its old place.
_BUILT_IN = PurePosixPath("build/benchgate")


def _cmake_suites(tree: ProjectTree) -> list[Suite]:
    """The programs that are linked with Google Benchmark, or with Catch2 and have benchmarks."""
    texts = {
        path: _CMAKE_COMMENT.sub("", tree.read(path))
        for path in tree.named("CMakeLists.txt", "*.cmake")
    }
    added = {PurePosixPath(name).name for text in texts.values() for name in _ADDED.findall(text)}
    starts = [
        path.parent
        for path, text in texts.items()
        if path.name == "CMakeLists.txt"
        and (not path.parent.parts or (_PROJECT.search(text) and path.parent.name not in added))
    ]
    by_start: dict[PurePosixPath, dict[PurePosixPath, str]] = {}
    for path, text in texts.items():
        start = next((folder for folder in path.parents if folder in starts), None)
        if start is not None:
            by_start.setdefault(start, {})[path] = text
    having = [
        start for start, some in by_start.items() if any(_cmake_project(tree, start, some, ""))
    ]
    suites = [
        suite
        for start in having
        for suite in _cmake_project(tree, start, by_start[start], start if having[1:] else "")
    ]
    if not suites and any("benchmark::benchmark" in text for text in texts.values()):
        tree.note(
            "CMake builds programs with Google Benchmark, but their names are not plain text "
            f'in its files. Add a [[benchmark]] for each: cpp = "{_BUILT_IN}/PATH/PROGRAM".'
        )
    if len(suites) > _MAX_PROGRAMS:
        left_out = "; ".join(suite.found for suite in suites[_MAX_PROGRAMS:])
        tree.note(f"Left out: {left_out}.")
    return suites[:_MAX_PROGRAMS]


def _cmake_project(
    tree: ProjectTree,
    start: PurePosixPath,
    texts: Mapping[PurePosixPath, str],
    inside: PurePosixPath | str,
) -> Iterator[Suite]:
    """The programs with benchmarks of one project of CMake, which is built by itself.

    Args:
        start: its folder.
        texts: its files.
        inside: where in the folder of builds it is built.
    """
    options = sorted({name for text in texts.values() for name in _OPTION.findall(text)})
    placed = next((found[1] for text in texts.values() if (found := _PLACED.search(text))), None)
    switched = "".join(f" -D{name}=ON" for name in options)
    built_in = _BUILT_IN / inside
    configure = f"cmake -S {start} -B {built_in} -DCMAKE_BUILD_TYPE=Release{switched}"
    compiling = f"cmake --build {built_in} --parallel"
    build = BuildSteps((configure, compiling), {}, _COMPILED, ("cmake",))
    for path, text in texts.items():
        if path.name != "CMakeLists.txt":
            continue
        # Each program is in a folder of its own, unless all are put into one.
        place = built_in / (path.parent.relative_to(start) if placed is None else placed)
        for name, tool, arguments in _programs(tree, path.parent, text):
            yield Suite(
                f"the program {name} with benchmarks of {tool}{in_folder(path.parent)}",
                {"cpp": f"{place / name}"}
                if arguments is None
                else {"suite": f"{place / name}{arguments}"},
                f"The benchmarks of {tool}.",
                path.parent,
                build,
            )


def _programs(
    tree: ProjectTree, folder: PurePosixPath, text: str
) -> Iterator[tuple[str, str, str | None]]:
    """The programs with benchmarks of one CMakeLists.txt, each with its tool and its arguments.

    There are none for a program that need not write its results.
    """
    links = dict[str, str]()
    for name, libraries in _LINKS.findall(text):
        links[name] = f"{links.get(name, '')} {libraries}"
    for name, sources in _PROGRAM.findall(text):
        codes = [tree.read(folder / one) for one in _SOURCE.findall(sources)]
        having = [code for code in codes if _CATCH_BENCHMARK.search(code)]
        if _GOOGLE.search(links.get(name, "")) or any(_GOOGLE_HEADER in code for code in codes):
            yield name, "Google Benchmark", None
        elif _CATCH.search(links.get(name, "")) and having:
            # Tests with [!benchmark] run only if they are named.
            tags = ("[!benchmark]", "[benchmark]")
            tag = next((f" {tag}" for tag in tags if any(tag in code for code in having)), "")
            yield name, "Catch2", f"{tag} --reporter xml"


_XML_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_XML_MANAGED = re.compile(r"<dependencyManagement>.*?</dependencyManagement>", re.DOTALL)
_JMH_OF_MAVEN = re.compile(r"<artifactId>\s*jmh-core\s*</artifactId>")
_JAR = re.compile(r"<(?:uberjar\.name|uberjarName)>\s*([\w.-]+)\s*<")
_SHADED = re.compile(r"maven-(?:shade|assembly)-plugin")
_JMH_OF_GRADLE = re.compile(r"""["']me\.champeau\.(?:gradle\.)?jmh["']""")


def _java_suites(tree: ProjectTree) -> Iterator[Suite]:
    """The modules of Maven and Gradle that have benchmarks of JMH."""
    for path in tree.named("pom.xml"):
        text = _XML_COMMENT.sub("", tree.read(path))
        if not _JMH_OF_MAVEN.search(_XML_MANAGED.sub("", text)):
            continue
        folder, named = path.parent, _JAR.search(text)
        jar = f"target/{named[1] if named else 'benchmarks'}.jar"
        module = ""
        if str(folder) != ".":
            is_inner = tree.has(PurePosixPath("pom.xml"))
            module = f" -pl {folder} -am" if is_inner else f" -f {folder}/pom.xml"
        build = f"-q -DskipTests{module} package"
        edit = (f"{path} does not say how its jar is built: name the jar.",)
        suite = _jmh(tree, folder, "pom.xml", jar, program="mvn", arguments=build)
        yield replace(suite, to_edit=() if _SHADED.search(text) else edit)
    for path in tree.named("build.gradle", "build.gradle.kts"):
        if _JMH_OF_GRADLE.search(tree.read(path)):
            task = ":".join(["", *path.parent.parts, "jmhJar"])
            jar = "build/libs/*-jmh.jar"
            suite = _jmh(
                tree, path.parent, "Gradle", jar, program="gradle", arguments=f"--quiet {task}"
            )
            yield replace(suite, table={**suite.table, "shell": True})


def _jmh(
    tree: ProjectTree, folder: PurePosixPath, what: str, jar: str, *, program: str, arguments: str
) -> Suite:
    """A module whose jar a program builds, or its wrapper in the project."""
    wrapper = f"{program}w"
    has_wrapper = tree.has(PurePosixPath(wrapper))
    options = "-f 1 -wi 3 -i 10 -w 100ms -r 100ms -rf json -rff {output}"
    command = f"{f'./{wrapper}' if has_wrapper else program} {arguments}"
    return Suite(
        f"benchmarks of JMH{in_folder(folder)} ({what})",
        command_table(f"java -jar {jar} {options}", folder),
        "The benchmarks of JMH, each in one fork. Short iterations leave time for more rounds; if "
        "the code needs longer to warm up, use a longer `-w`.",
        folder,
        BuildSteps((command,), {}, _COMPILED, ("java" if has_wrapper else program,)),
    )


_IPS = re.compile(r"""^\s*require ["']benchmark/ips["']|\bBenchmark\.ips\b""", re.MULTILINE)
_WRITTEN = re.compile(r"""\.json!\s*\(?\s*(?:["']([\w./-]+)["']|\w)""")
_GEM = "benchmark-ips"


def _ruby_suites(tree: ProjectTree) -> Iterator[Suite]:
    """The scripts that use benchmark-ips."""
    near = (path for path in tree.named("*.rb") if re.search("bench|perf", str(path)))
    scripts = {path: code for path in near if _IPS.search(code := tree.read(path))}
    gems = (tree.read(path) for path in tree.named("Gemfile", "Gemfile.lock", "*.gemspec"))
    bundled = tree.has(PurePosixPath("Gemfile")) and any(_GEM in text for text in gems)
    env = {"BUNDLE_PATH": "{env}/bundle"}
    build = BuildSteps(tools=("ruby",))
    if bundled:
        build = BuildSteps(("bundle install",), env, "the project has dependencies", ("bundle",))
    library = " -Ilib" if any(True for _ in tree.below(PurePosixPath("lib"))) else ""
    ruby = "bundle exec ruby" if bundled else f"ruby{library}"
    for path, code in list(scripts.items())[:_MAX_PROGRAMS]:
        written = _WRITTEN.search(code)
        output: dict[str, Value] = {"output": written[1]} if written and written[1] else {}
        last = "" if output else " {output}"
        yield Suite(
            f"the script {path} with benchmarks of {_GEM}",
            {
                "suite": f"{ruby} {shlex.quote(str(path))}{last}",
                **output,
                **({"env": env} if bundled else {}),
            },
            f"The benchmarks of {_GEM}.",
            path,
            build,
            to_edit=() if written else (f"{path} must write its results: x.json! ARGV.fetch(0)",),
        )
    if (more := len(scripts) - _MAX_PROGRAMS) > 0:
        tree.note(f"Left out: {counted(more, 'more script')} with benchmarks of {_GEM}.")
