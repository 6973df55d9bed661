"""Finds the benchmarks that a project has: benchgate's own, and the suites of other tools."""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from benchgate.config.benchmarks import is_benchmark_file
from benchgate.measure.python_workers import topmost_folders
from benchgate.project.python_suites import PythonSuites, read_sources
from benchgate.project.requirements import BuildSteps, Suite, node_build
from benchgate.project.tree import ProjectTree, in_folder, list_tree, table_at, words_at
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
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
    tree = list_tree(top)
    sources = read_sources(tree)
    suites = PythonSuites(tree, sources).find()
    for find in (_cargo_suites, _go_suites, _node_suites, _cmake_suites, _java_suites):
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


def _command_table(command: str, folder: PurePosixPath, **more: Value) -> dict[str, Value]:
    """The keys of a [[benchmark]] whose suite is a command that runs in a folder."""
    table: dict[str, Value] = {"suite": command, **more}
    return table if str(folder) == "." else {**table, "cwd": str(folder)}


def _run_in(folder: PurePosixPath, command: str) -> str:
    """The command of `[build]` that runs another command in a folder."""
    if str(folder) == ".":
        return command
    return shlex.join(["sh", "-c", f"cd {shlex.quote(str(folder))} && {command}"])


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


@dataclass(slots=True)
class _Workspace:
    """A workspace of Cargo, or a package outside of one.

    Attributes:
        packages: their manifests.
        named: the benchmarks of Criterion.
        features: that these require.
        printing: the benchmarks of tools that print a table, by the tool.
        compiled_in: the number of functions with #[bench].
    """

    tree: ProjectTree
    root: PurePosixPath
    packages: Mapping[PurePosixPath, Mapping[str, Any]]
    named: list[str] = field(default_factory=list)
    features: list[str] = field(default_factory=list)
    printing: dict[str, list[str]] = field(default_factory=dict)
    compiled_in: int = 0

    def look(self) -> None:
        for folder, manifest in self.packages.items():
            depends = _crates(manifest)
            benches = self._benches(folder, manifest)
            if not _CRITERION.isdisjoint(depends):
                self.named += benches
                self.features += [one for required in benches.values() for one in required]
                continue
            for tool, crates in _PRINTING.items():
                if benches and not crates.isdisjoint(depends):
                    self.printing.setdefault(tool, []).extend(benches)
            inner = [one for one in self.packages if one != folder and one.is_relative_to(folder)]
            self.compiled_in += sum(
                len(_LIBTEST.findall(self.tree.read(path)))
                for path in self.tree.below(folder)
                if path.suffix == ".rs" and not any(path.is_relative_to(one) for one in inner)
            )
            if _NOT_READ in depends:
                where = in_folder(folder)
                self.tree.note(f"benchgate does not read what {_NOT_READ} prints{where}.")

    def _benches(
        self, folder: PurePosixPath, manifest: Mapping[str, Any]
    ) -> dict[str, tuple[str, ...]]:
        """The benchmark programs of a package, and the features that they require."""
        declared = manifest.get("bench")
        benches = {
            str(one["name"]): words_at(one, "required-features")
            for one in (declared if isinstance(declared, list) else ())
            if isinstance(one, dict) and "name" in one
        }
        if table_at(manifest, "package").get("autobenches", True):
            for path in self.tree.below(folder / "benches"):
                if path.suffix == ".rs" and path.parent == folder / "benches":
                    benches.setdefault(path.stem, ())
        return benches

    def suites(self) -> Iterator[Suite]:
        if self.named:
            more = f" and {len(self.named) - 4} more" if len(self.named) > 4 else ""
            edit: tuple[str, ...] = ()
            options = ""
            if self.features and len(self.packages) > 1:
                named = ", ".join(self.features)
                edit = (f"Benchmarks require the features {named}: add `--features`.",)
            elif self.features:
                options = f" --features {','.join(dict.fromkeys(self.features))}"
            yield replace(
                self._suite(
                    f"the Criterion benchmarks {', '.join(self.named[:4])}{more}",
                    "The benchmarks of Criterion. Short `warm_up_time` and `measurement_time` in "
                    "their code leave time for more rounds.",
                    options,
                    output="target/criterion",
                ),
                to_edit=edit,
            )
        for tool, benches in self.printing.items():
            names = dict.fromkeys(benches)
            runner = " Its runner and valgrind must be installed." if tool == "gungraun" else ""
            yield self._suite(
                f"the benchmarks of {tool} {', '.join(names)}",
                f"The benchmarks of {tool}.{runner}",
                "".join(f" --bench {name}" for name in names),
                format=tool,
            )
        if self.compiled_in:
            files = [self.root / name for name in ("rust-toolchain.toml", "rust-toolchain")]
            is_nightly = any("nightly" in self.tree.read(file) for file in files)
            yield self._suite(
                f"{counted(self.compiled_in, 'function')} with #[bench]",
                "The functions with #[bench]. Only a nightly compiler has them.",
                program="cargo" if is_nightly else "cargo +nightly",
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
            _command_table(command, root, **table, env=env),
            comment,
            root,
            BuildSteps((f"{command} --no-run{manifest}",), env, _COMPILED, ("cargo",)),
        )


def _crates(manifest: Mapping[str, Any]) -> frozenset[str]:
    """What a package depends on, also on some platforms only, by the names of packages."""
    return frozenset(
        str(value.get("package", name)) if isinstance(value, dict) else name
        for table in (manifest, *table_at(manifest, "target").values())
        for kind in ("dependencies", "dev-dependencies")
        for name, value in table_at(table, kind).items()
    )


_GO_BENCHMARK = re.compile(r"^func Benchmark(?![a-z])\w*\(\s*\w+ \*testing\.B\s*\)", re.MULTILINE)


def _go_suites(tree: ProjectTree) -> Iterator[Suite]:
    """The modules that have functions `Benchmark...` in their tests."""
    modules = {path.parent for path in tree.named("go.mod")}
    counts: dict[PurePosixPath, dict[PurePosixPath, int]] = defaultdict(dict)
    for path in tree.named("*_test.go") if modules else ():
        module = next((folder for folder in path.parents if folder in modules), None)
        if module is None or any(part.startswith("_") for part in path.parts):
            continue
        if found := len(_GO_BENCHMARK.findall(tree.read(path))):
            counts[module][path.parent] = counts[module].get(path.parent, 0) + found
    for module, packages in sorted(counts.items()):
        total, in_packages = sum(packages.values()), counted(len(packages), "package")
        compiling = _run_in(module, "go test -run=NONE ./...")
        command = "go test -run=NONE -bench=. -benchmem -benchtime=0.1s -count=5 ./..."
        yield Suite(
            f"{counted(total, 'benchmark')} of Go in {in_packages}{in_folder(module)}",
            _command_table(command, module),
            "The benchmarks of Go: functions Benchmark*. A short `-benchtime` leaves time for more "
            "rounds.",
            module,
            BuildSteps((compiling,), {}, "the tests are compiled", ("go",)),
        )


_SCRIPT = re.compile(r"\.[cm]?[jt]sx?$")
_VITEST = re.compile(r"\.(?:bench|benchmark)\.[cm]?[jt]sx?$")
_RUNS = re.compile(r"\brun\s*\(")
_IMPORT = r"""(?:from\s+|require\(\s*|import\s+|import\(\s*)["']{}["']"""
_MAX_PACKAGES = 50
_MAX_SCRIPTS = 5
_SHELL_SIGNS = re.compile(r"[&|;<>$`]")
# By library: its title, what a script must print, and what in its text shows that it does.
_LIBRARIES = {
    "mitata": (
        "mitata",
        "the results as JSON, by run({ format: 'json' })",
        re.compile(r"\bformat\b.*json"),
    ),
    "tinybench": (
        "tinybench",
        "JSON.stringify(bench.tasks.map(({ name, result }) => ({ name, result })))",
        re.compile(r"JSON\.stringify"),
    ),
    "benchmark": (
        "benchmark.js",
        "each result, by suite.on('cycle', event => console.log(String(event.target)))",
        re.compile(r"String\(|toString\(|target\}"),
    ),
}


def _node_suites(tree: ProjectTree) -> Iterator[Suite]:
    """The packages that have benchmarks, each with its own folder to run in."""
    manifests = {
        path.parent: tree.read_json(path)
        for path in list(tree.named("package.json"))[:_MAX_PACKAGES]
    }
    owned: dict[PurePosixPath, list[PurePosixPath]] = {folder: [] for folder in manifests}
    for path in tree.files if manifests else ():
        if _SCRIPT.search(path.name):
            folder = next((one for one in path.parents if one in owned), None)
            if folder is not None:
                owned[folder].append(path)
    for folder, files in owned.items():
        around = [one for one in (*reversed(folder.parents), folder) if one in manifests]
        depends = {
            name
            for one in around
            for kind in ("dependencies", "devDependencies")
            for name in table_at(manifests[one], kind)
        }
        # The outermost folder is that of the workspace, which has the lock.
        build = node_build(tree.top / around[0], manifests[around[0]])
        build = replace(build, commands=tuple(_run_in(around[0], one) for one in build.commands))
        yield from _node_package(
            tree, folder, files, manifests[folder], depends=depends, build=build
        )


def _node_package(
    tree: ProjectTree,
    folder: PurePosixPath,
    files: list[PurePosixPath],
    package: Mapping[str, Any],
    *,
    depends: set[str],
    build: BuildSteps,
) -> Iterator[Suite]:
    benches = [path for path in files if _VITEST.search(path.name)]
    if benches and "vitest" in depends:
        yield Suite(
            f"{counted(len(benches), 'file')} with benchmarks of vitest{in_folder(folder)}",
            _command_table("npx vitest bench --run --outputJson {output}", folder),
            "The benchmarks of vitest. Its file has the median time of each, and no single times.",
            folder,
            build,
        )
    seen: dict[PurePosixPath, str] = {}
    for library in (one for one in _LIBRARIES if one in depends):
        imports = re.compile(_IMPORT.format(re.escape(library)))
        for path in files:
            text = tree.read(path) if path not in benches else ""
            if imports.search(text) and _RUNS.search(text):
                seen.setdefault(path, library)
    for path, library in list(seen.items())[:_MAX_SCRIPTS]:
        title, printed, shows = _LIBRARIES[library]
        yield Suite(
            f"the script {path} with benchmarks of {title}",
            _command_table(_node_command(package, depends, path.relative_to(folder)), folder),
            f"The benchmarks of {title}, as the script prints them.",
            path,
            build,
            to_edit=() if shows.search(tree.read(path)) else (f"{path} must print {printed}.",),
        )
    if (more := len(seen) - _MAX_SCRIPTS) > 0:
        tree.note(f"Left out: {counted(more, 'more script')} with benchmarks{in_folder(folder)}.")


def _node_command(package: Mapping[str, Any], depends: set[str], script: PurePosixPath) -> str:
    """How a script is run: as the package's own scripts run it, otherwise by node or tsx."""
    for command in map(str, table_at(package, "scripts").values()):
        words = command.split()
        is_plain = words and not _SHELL_SIGNS.search(command)
        if is_plain and any(PurePosixPath(word) == script for word in words[1:]):
            return command if words[0] == "node" else f"npx {command}"
    is_typed = script.suffix in {".ts", ".mts", ".tsx"} and "tsx" in depends
    return f"{'npx tsx' if is_typed else 'node'} {shlex.quote(str(script))}"


_CMAKE_COMMENT = re.compile(r"#(?!\[).*")
_PROGRAM = re.compile(
    r"\badd_executable\s*\(\s*([\w.+-]+)((?:(?!IMPORTED|ALIAS)[^)])*)\)", re.IGNORECASE
)
_LINKS = re.compile(r"\btarget_link_libraries\s*\(\s*([\w.+-]+)([^)]*)\)", re.IGNORECASE)
_GOOGLE = re.compile(r"(?<![\w:-])benchmark(?:_main|::benchmark(?:_main)?)?(?![\w:-])")
_GOOGLE_HEADER = "<benchmark/benchmark.h>"
_CATCH = re.compile(r"\bCatch2?(?:::Catch2?\w*)?\b")
_CATCH_BENCHMARK = re.compile(r"\bBENCHMARK(?:_ADVANCED)?\s*\(")
_OPTION = re.compile(r"\b(?:option|set)\s*\(\s*(\w*BENCH\w*)\b[^)]*\bOFF\b[^)]*\)")
_PLACED = re.compile(
    r"CMAKE_RUNTIME_OUTPUT_DIRECTORY\s+\"?\$\{(?:CMAKE|PROJECT)_BINARY_DIR\}/?([\w./-]*)"
)
_SOURCE = re.compile(r"[\w./+-]+\.(?:cc|cpp|cxx|c\+\+|C)\b")
_MAX_PROGRAMS = 8
_OUTPUT = (
    "--benchmark_repetitions=10 --benchmark_min_time=0.05 --benchmark_out={output} "
    "--benchmark_out_format=json"
)


def _cmake_suites(tree: ProjectTree) -> list[Suite]:
    """The programs that are linked with Google Benchmark, or with Catch2 and have benchmarks."""
    if not tree.has(PurePosixPath("CMakeLists.txt")):
        return []
    texts = {
        path: _CMAKE_COMMENT.sub("", tree.read(path))
        for path in tree.named("CMakeLists.txt", "*.cmake")
    }
    options = sorted({name for text in texts.values() for name in _OPTION.findall(text)})
    placed = next((found[1] for text in texts.values() if (found := _PLACED.search(text))), None)
    switched = "".join(f" -D{name}=ON" for name in options)
    configure = f"cmake -S . -B {{env}} -DCMAKE_BUILD_TYPE=Release{switched}"
    build = BuildSteps((configure, "cmake --build {env} --parallel"), {}, _COMPILED, ("cmake",))
    suites = []
    for path, text in texts.items():
        if path.name != "CMakeLists.txt":
            continue
        # Each program is in a folder of its own, unless all are put into one.
        place = PurePosixPath(path.parent if placed is None else placed)
        suites += [
            Suite(
                f"the program {name} with benchmarks of {tool}{in_folder(path.parent)}",
                {"suite": f"{{env}}/{place / name}{arguments}"},
                f"The benchmarks of {tool}.",
                path.parent,
                build,
            )
            for name, tool, arguments in _programs(tree, path.parent, text)
        ]
    if not suites and any("benchmark::benchmark" in text for text in texts.values()):
        tree.note(
            "CMake builds programs with Google Benchmark, but their names are not plain text "
            f'in its files. Add a [[benchmark]] for each: suite = "{{env}}/PATH/PROGRAM {_OUTPUT}".'
        )
    if len(suites) > _MAX_PROGRAMS:
        left_out = "; ".join(suite.found for suite in suites[_MAX_PROGRAMS:])
        tree.note(f"Left out: {left_out}.")
    return suites[:_MAX_PROGRAMS]


def _programs(
    tree: ProjectTree, folder: PurePosixPath, text: str
) -> Iterator[tuple[str, str, str]]:
    """The programs with benchmarks of one CMakeLists.txt, each with its tool and its arguments."""
    links = dict[str, str]()
    for name, libraries in _LINKS.findall(text):
        links[name] = f"{links.get(name, '')} {libraries}"
    for name, sources in _PROGRAM.findall(text):
        codes = [tree.read(folder / one) for one in _SOURCE.findall(sources)]
        having = [code for code in codes if _CATCH_BENCHMARK.search(code)]
        if _GOOGLE.search(links.get(name, "")) or any(_GOOGLE_HEADER in code for code in codes):
            yield name, "Google Benchmark", f" {_OUTPUT}"
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
        _command_table(f"java -jar {jar} {options}", folder),
        "The benchmarks of JMH, each in one fork. Short iterations leave time for more rounds; if "
        "the code needs longer to warm up, use a longer `-w`.",
        folder,
        BuildSteps((command,), {}, _COMPILED, ("java" if has_wrapper else program,)),
    )
