"""Suites of other languages that a project has, and what benchgate needs to run them."""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from benchgate.project.requirements import Build, node_build
from benchgate.project.tree import table_at, words_at
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchgate.project.requirements import PythonSuite
    from benchgate.project.tree import ProjectTree


Value = str | bool | tuple[str, ...] | dict[str, str]
"""What a key of the configuration is set to."""


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite that was found.

    Attributes:
        found: what was found and where, without "Found" and the full stop.
        table: the keys of its [[benchmark]].
        comment: what the table measures, one sentence.
        build: what it needs before it can run; see `python` for a suite in Python.
        python: what a suite in Python needs to be installed; None for any other suite.
        to_edit: what only a person can know, one sentence each.
        place: the folder or file that is measured.
    """

    found: str
    table: Mapping[str, Value]
    comment: str
    place: PurePosixPath
    build: Build = field(default_factory=Build)
    python: PythonSuite | None = None
    to_edit: tuple[str, ...] = ()


def command_table(command: str, folder: PurePosixPath, **more: Value) -> dict[str, Value]:
    """The keys of a [[benchmark]] whose suite is a command that runs in a folder."""
    table: dict[str, Value] = {"suite": command, **more}
    if str(folder) != ".":
        table["cwd"] = str(folder)
    return table


def run_in(folder: PurePosixPath, command: str) -> str:
    """Return the command of `[build]` that runs another command in a folder."""
    if str(folder) == ".":
        return command
    return shlex.join(["sh", "-c", f"cd {shlex.quote(str(folder))} && {command}"])


def in_folder(folder: PurePosixPath) -> str:
    """Say where something is; "" for the folder that was searched."""
    return "" if str(folder) == "." else f" in {folder}"


def in_places(places: Sequence[PurePosixPath]) -> str:
    """Say where several things are, and name at most three places."""
    named = [str(place) for place in places if str(place) != "."][:3]
    more = len(places) - len(named)
    if not named:
        return ""
    return f" in {', '.join(named)}{f' and {more} more places' if more > 0 else ''}"


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
        for suite in _cargo_suites(tree, root, {one: manifests[one] for one in folders})
    ]


def _cargo_suites(
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


def _cargo_command(
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


def _cargo_build(root: PurePosixPath, command: str) -> Build:
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
    command = _cargo_command(tree, root, features, is_workspace=is_workspace)
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
        _cargo_build(root, command),
        to_edit=edit,
    )


def _printed(
    tree: ProjectTree, root: PurePosixPath, tool: str, names: Sequence[str], *, is_workspace: bool
) -> Suite:
    command = _cargo_command(tree, root, (), is_workspace=is_workspace)
    command += "".join(f" --bench {name}" for name in dict.fromkeys(names))
    runner = " Its runner and valgrind must be installed." if tool == "gungraun" else ""
    return Suite(
        f"the benchmarks of {tool} {', '.join(dict.fromkeys(names))}{in_folder(root)}",
        command_table(command, root, format=tool, env={"CARGO_TARGET_DIR": _target(root)}),
        f"The benchmarks of {tool}.{runner}",
        root,
        _cargo_build(root, command),
    )


def _libtest(tree: ProjectTree, root: PurePosixPath, count: int, *, is_workspace: bool) -> Suite:
    toolchains = [tree.read(root / name) for name in ("rust-toolchain.toml", "rust-toolchain")]
    chosen = "" if any("nightly" in text for text in toolchains) else " +nightly"
    command = _cargo_command(tree, root, (), is_workspace=is_workspace)
    command = command.replace("cargo", f"cargo{chosen}", 1)
    return Suite(
        f"{counted(count, 'function')} with #[bench]{in_folder(root)}",
        command_table(command, root, env={"CARGO_TARGET_DIR": _target(root)}),
        "The functions with #[bench]. Only a nightly compiler has them.",
        root,
        _cargo_build(root, command),
    )


_SCRIPT = re.compile(r"\.[cm]?[jt]sx?$")
_VITEST = re.compile(r"\.(?:bench|benchmark)\.[cm]?[jt]sx?$")
_RUNS = re.compile(r"\brun\s*\(")
_IMPORT = r"""(?:from\s+|require\(\s*|import\s+|import\(\s*)["']{}["']"""
_MAX_PACKAGES = 50
_MAX_SCRIPTS = 5
_SHELL_SIGNS = re.compile(r"[&|;<>$`]")

# What a script must print, and what in its text shows that it does.
_LIBRARIES = {
    "mitata": ("the results as JSON, by run({ format: 'json' })", re.compile(r"\bformat\b.*json")),
    "tinybench": (
        "JSON.stringify(bench.tasks.map(({ name, result }) => ({ name, result })))",
        re.compile(r"JSON\.stringify"),
    ),
    "benchmark": (
        "each result, by suite.on('cycle', event => console.log(String(event.target)))",
        re.compile(r"String\(|toString\(|target\}"),
    ),
}
_TITLES = {"benchmark": "benchmark.js"}


def find_node_suites(tree: ProjectTree) -> list[Suite]:
    """Find the packages that have benchmarks, each with its own folder to run in."""
    manifests = {
        path.parent: tree.read_json(path)
        for path in list(tree.named("package.json"))[:_MAX_PACKAGES]
    }
    scripts = [path for path in tree.files if _SCRIPT.search(path.name)] if manifests else []
    owned: dict[PurePosixPath, list[PurePosixPath]] = {folder: [] for folder in manifests}
    for path in scripts:
        folder = next((one for one in path.parents if one in owned), None)
        if folder is not None:
            owned[folder].append(path)
    return [
        suite
        for folder, files in owned.items()
        for suite in _node_suites(tree, manifests, folder, files)
    ]


def _node_suites(
    tree: ProjectTree,
    manifests: Mapping[PurePosixPath, Mapping[str, Any]],
    folder: PurePosixPath,
    files: list[PurePosixPath],
) -> Iterator[Suite]:
    """The suites of one package."""
    around = [manifests[one] for one in (folder, *folder.parents) if one in manifests]
    depends = {
        name
        for package in around
        for kind in ("dependencies", "devDependencies")
        for name in table_at(package, kind)
    }
    build = _node_build(tree, folder, manifests)
    benches = [path for path in files if _VITEST.search(path.name)]
    if benches and "vitest" in depends:
        yield Suite(
            f"{counted(len(benches), 'file')} with benchmarks of vitest{in_folder(folder)}",
            command_table("npx vitest bench --run --outputJson {output}", folder),
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
    scripts = [
        _script(tree, path, library, build, _node_command(manifests[folder], depends, folder, path))
        for path, library in seen.items()
    ]
    yield from scripts[:_MAX_SCRIPTS]
    if (more := len(scripts) - _MAX_SCRIPTS) > 0:
        tree.note(f"Left out: {counted(more, 'more script')} with benchmarks{in_folder(folder)}.")


def _script(
    tree: ProjectTree, path: PurePosixPath, library: str, build: Build, table: Mapping[str, Value]
) -> Suite:
    """A script that measures with a library, and prints the results."""
    printed, shows = _LIBRARIES[library]
    title = _TITLES.get(library, library)
    to_edit = () if shows.search(tree.read(path)) else (f"{path} must print {printed}.",)
    return Suite(
        f"the script {path} with benchmarks of {title}",
        table,
        f"The benchmarks of {title}, as the script prints them.",
        path,
        build,
        to_edit=to_edit,
    )


def _node_command(
    package: Mapping[str, Any], depends: set[str], folder: PurePosixPath, path: PurePosixPath
) -> dict[str, Value]:
    """How a script is run: as the package's own scripts run it, otherwise by node or tsx."""
    script = path.relative_to(folder)
    for command in table_at(package, "scripts").values():
        words = str(command).split()
        if _SHELL_SIGNS.search(str(command)) or not words:
            continue
        if any(PurePosixPath(word) == script for word in words[1:]):
            runs = str(command) if words[0] == "node" else f"npx {command}"
            return command_table(runs, folder)
    runner = "npx tsx" if path.suffix in {".ts", ".mts", ".tsx"} and "tsx" in depends else "node"
    return command_table(f"{runner} {shlex.quote(str(script))}", folder)


def _node_build(
    tree: ProjectTree,
    folder: PurePosixPath,
    manifests: Mapping[PurePosixPath, Mapping[str, Any]],
) -> Build:
    """What installs a package: from its outermost folder, where a workspace has its lock."""
    root = next(one for one in (*reversed(folder.parents), folder) if one in manifests)
    build = node_build(tree.top / root, manifests[root])
    return replace(build, commands=tuple(run_in(root, one) for one in build.commands))


_XML_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_JMH_OF_MAVEN = re.compile(r"<artifactId>\s*jmh-core\s*</artifactId>")
_JAR = re.compile(r"<(?:uberjar\.name|uberjarName)>\s*([\w.-]+)\s*<")
_SHADED = re.compile(r"maven-(?:shade|assembly)-plugin")
_JMH_OF_GRADLE = re.compile(r"""["']me\.champeau\.(?:gradle\.)?jmh["']""")
_OPTIONS = "-f 1 -wi 3 -i 10 -w 100ms -r 100ms -rf json -rff {output}"
_JAVA_COMMENT = (
    "The benchmarks of JMH, each in one fork. Short iterations leave time for more rounds; if the "
    "code needs longer to warm up, use a longer `-w`."
)
_REASON = "the benchmarks are compiled"


def find_java_suites(tree: ProjectTree) -> list[Suite]:
    """Find the modules of Maven and Gradle that have benchmarks of JMH."""
    suites = []
    for path in tree.named("pom.xml"):
        text = _XML_COMMENT.sub("", tree.read(path))
        managed = re.sub(
            r"<dependencyManagement>.*?</dependencyManagement>", "", text, flags=re.DOTALL
        )
        if _JMH_OF_MAVEN.search(managed):
            suites.append(_of_maven(tree, path.parent, text))
    suites += [
        _of_gradle(tree, path.parent)
        for path in tree.named("build.gradle", "build.gradle.kts")
        if _JMH_OF_GRADLE.search(tree.read(path))
    ]
    return suites


def _of_maven(tree: ProjectTree, folder: PurePosixPath, text: str) -> Suite:
    named = _JAR.search(text)
    jar = f"{named[1] if named else 'benchmarks'}.jar"
    maven = "./mvnw" if tree.has(PurePosixPath("mvnw")) else "mvn"
    is_module = str(folder) != "." and tree.has(PurePosixPath("pom.xml"))
    module = f" -pl {folder} -am" if is_module else ""
    alone = f" -f {folder}/pom.xml" if str(folder) != "." and not is_module else ""
    edit: tuple[str, ...] = ()
    if not _SHADED.search(text):
        edit = (f"{folder / 'pom.xml'} does not say how its jar is built: name the jar.",)
    return Suite(
        f"benchmarks of JMH{in_folder(folder)} (pom.xml)",
        command_table(f"java -jar target/{jar} {_OPTIONS}", folder),
        _JAVA_COMMENT,
        folder,
        Build((f"{maven} -q -DskipTests{module}{alone} package",), {}, _REASON, (_tool(maven),)),
        to_edit=edit,
    )


def _of_gradle(tree: ProjectTree, folder: PurePosixPath) -> Suite:
    gradle = "./gradlew" if tree.has(PurePosixPath("gradlew")) else "gradle"
    task = ":".join(["", *folder.parts, "jmhJar"])
    return Suite(
        f"benchmarks of JMH{in_folder(folder)} (Gradle)",
        command_table(f"java -jar build/libs/*-jmh.jar {_OPTIONS}", folder) | {"shell": True},
        _JAVA_COMMENT,
        folder,
        Build((f"{gradle} --quiet {task}",), {}, _REASON, (_tool(gradle),)),
    )


def _tool(command: str) -> str:
    return "java" if command.startswith("./") else command


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


def find_cmake_suites(tree: ProjectTree) -> list[Suite]:
    """Find programs that are linked with Google Benchmark, or with Catch2 and have benchmarks."""
    if not tree.has(PurePosixPath("CMakeLists.txt")):
        return []
    texts = {
        path: _CMAKE_COMMENT.sub("", tree.read(path))
        for path in tree.named("CMakeLists.txt", "*.cmake")
    }
    options = sorted({name for text in texts.values() for name in _OPTION.findall(text)})
    placed = next((found[1] for text in texts.values() if (found := _PLACED.search(text))), None)
    suites = [
        suite
        for path, text in texts.items()
        if path.name == "CMakeLists.txt"
        for suite in _programs(tree, path.parent, text, _cmake_build(options), placed)
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


def _cmake_build(options: list[str]) -> Build:
    switched = "".join(f" -D{name}=ON" for name in options)
    return Build(
        (
            f"cmake -S . -B {{env}} -DCMAKE_BUILD_TYPE=Release{switched}",
            "cmake --build {env} --parallel",
        ),
        {},
        "the benchmarks are compiled",
        ("cmake",),
    )


def _programs(
    tree: ProjectTree, folder: PurePosixPath, text: str, build: Build, placed: str | None
) -> Iterator[Suite]:
    """The programs with benchmarks of one CMakeLists.txt.

    Args:
        placed: the folder in the build folder that all programs are put into; None if each has its
            own.
    """
    links = dict[str, str]()
    for name, libraries in _LINKS.findall(text):
        links[name] = f"{links.get(name, '')} {libraries}"
    for name, sources in _PROGRAM.findall(text):
        place = PurePosixPath(folder if placed is None else placed) / name
        codes = [tree.read(folder / one) for one in _SOURCE.findall(sources)]
        having = [code for code in codes if _CATCH_BENCHMARK.search(code)]
        if _GOOGLE.search(links.get(name, "")) or any(_GOOGLE_HEADER in code for code in codes):
            tool, arguments = "Google Benchmark", f" {_OUTPUT}"
        elif _CATCH.search(links.get(name, "")) and having:
            tool, arguments = "Catch2", f"{_tag(having)} --reporter xml"
        else:
            continue
        yield Suite(
            f"the program {name} with benchmarks of {tool}{in_folder(folder)}",
            {"suite": f"{{env}}/{place}{arguments}"},
            f"The benchmarks of {tool}.",
            folder,
            build,
        )


def _tag(codes: list[str]) -> str:
    """The tag that chooses the benchmarks: tests with [!benchmark] run only if they are named."""
    tags = ("[!benchmark]", "[benchmark]")
    return next((f" {tag}" for tag in tags if any(tag in code for code in codes)), "")


_BENCHMARK = re.compile(r"^func Benchmark(?![a-z])\w*\(\s*\w+ \*testing\.B\s*\)", re.MULTILINE)
_COMMAND = "go test -run=NONE -bench=. -benchmem -benchtime=0.1s -count=5 ./..."
_COMPILING = "go test -run=NONE ./..."


def find_go_suites(tree: ProjectTree) -> list[Suite]:
    """Find the modules that have functions `Benchmark...` in their tests."""
    modules = {path.parent for path in tree.named("go.mod")}
    counts: dict[PurePosixPath, dict[PurePosixPath, int]] = defaultdict(dict)
    for path in tree.named("*_test.go") if modules else ():
        module = next((folder for folder in path.parents if folder in modules), None)
        if module is None or any(part.startswith("_") for part in path.parts):
            continue
        if found := len(_BENCHMARK.findall(tree.read(path))):
            counts[module][path.parent] = counts[module].get(path.parent, 0) + found
    return [_suite(module, packages) for module, packages in sorted(counts.items())]


def _suite(module: PurePosixPath, packages: dict[PurePosixPath, int]) -> Suite:
    total, in_packages = sum(packages.values()), counted(len(packages), "package")
    return Suite(
        f"{counted(total, 'benchmark')} of Go in {in_packages}{in_folder(module)}",
        command_table(_COMMAND, module),
        "The benchmarks of Go: functions Benchmark*. A short `-benchtime` leaves time for more "
        "rounds.",
        module,
        Build((run_in(module, _COMPILING),), {}, "the tests are compiled", ("go",)),
    )
