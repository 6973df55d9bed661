"""Finds suites in JavaScript: of tinybench, mitata, benchmark.js, vitest and deno bench."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections import defaultdict
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from benchgate.measure.languages import is_file_of_vitest
from benchgate.project.build_steps import (
    BuildSteps,
    Suite,
    command_table,
    node_build,
    one_or_all,
    run_in,
)
from benchgate.project.tree import ProjectTree, in_folder, table_at
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from benchgate.project.build_steps import Value

_SCRIPT = re.compile(r"\.[cm]?[jt]sx?$")
_RUNS_VITEST = re.compile(r"\bvitest\s+bench\b")
_VITEST_OPTION = re.compile(r"(?<=\s)(?:--config|--project|--mode|--root|-c)[=\s]\S+")
_RUNS = re.compile(r"\brun\s*\(")
_IMPORT = r"""(?:from\s+|require\(\s*|import\s+|import\(\s*)["']{}["']"""
_RELATIVE = re.compile(_IMPORT.format(r"(\.{1,2}/[^\"']*|\.{1,2})"))
_ENDINGS = ("", ".js", ".mjs", ".cjs", ".ts", "/index.js", "/index.mjs", "/index.cjs", "/index.ts")
_IN_THREAD = re.compile(r"\b(?:parentPort|workerData)\b")
_STARTS_THREAD = re.compile(r"\bnew Worker\s*\(")
_MAX_PACKAGES = 50
_MAX_SUITES = 5
_MAX_NAMED = 6
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

_BENCHMARKS = re.compile(r"bench|perf", re.IGNORECASE)
_STEPS = re.compile(r"&&|\|\|?|;|&(?!\d)")
_REDIRECTED = re.compile(r"\d?>{1,2}&?\s*\S+")
_ASSIGNED = re.compile(r"\w+=")
_STARTERS = frozenset({"npx", "pnpm", "yarn", "exec"})
_HOOKS = {"tsx": "tsx", "esno": "tsx", "jiti": "jiti/register"}
_OTHER_RUNNERS = frozenset({"bun", "ts-node", "vite-node"})
_LOADING = frozenset({"-r", "--require", "--import", "--loader", "--experimental-loader"})
_WITH_VALUE = frozenset({*_LOADING, "-C", "--conditions", "--env-file", "--tsconfig"})


@dataclass(frozen=True, slots=True)
class _Run:
    """How a script is run.

    Attributes:
        command: the whole command, for the folder of `place`.
        place: the folder in which it runs.
        options: of node, and those of the script after `--`; None if something else runs it.
        env: variables that are set for it.
        is_named: whether package.json names it as its benchmarks.
    """

    command: str
    place: PurePosixPath
    options: tuple[str, ...] | None = ()
    env: Mapping[str, str] = field(default_factory=dict)
    is_named: bool = False

    @property
    def rank(self) -> tuple[bool, bool]:
        """The best way to run a script is that of its benchmarks, and in node."""
        return self.is_named, self.options is not None


def node_suites(tree: ProjectTree) -> Iterator[Suite]:
    """The packages that have benchmarks."""
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
    sources = _Sources(tree, frozenset(path for files in owned.values() for path in files))
    runs: dict[PurePosixPath, _Run] = {}
    for path, run in (one for each in manifests.items() for one in _runs(sources, *each)):
        if path not in runs or run.rank > runs[path].rank:
            runs[path] = run
    for folder, files in owned.items():
        around = [one for one in (*reversed(folder.parents), folder) if one in manifests]
        depends = {
            name
            for one in around
            for kind in ("dependencies", "devDependencies")
            for name in table_at(manifests[one], kind)
        }
        # A workspace is installed from its outermost folder, which has the lock.
        is_one = _is_workspace(tree.top / around[0], manifests[around[0]])
        build = _build_in(tree, {one: manifests[one] for one in around[: 1 if is_one else None]})
        benches = [path for path in files if is_file_of_vitest(tree.top / path)]
        if benches and "vitest" in depends:
            inner = any(folder in one.parents and _has_benches(tree, owned[one]) for one in owned)
            table: dict[str, Value] = {
                "node": one_or_all([*map(str, benches)] if inner else [str(folder)])
            }
            if given := _vitest_options(manifests[folder]):
                table["arguments"] = given
            if folder.parts:
                table |= {"cwd": str(folder), "group": str(folder)}
            yield Suite(
                f"{counted(len(benches), 'file')} with benchmarks of vitest{in_folder(folder)}",
                table,
                "The benchmarks of vitest.",
                folder,
                build,
            )
        scripts = [path for path in files if path not in benches]
        yield from _scripts(sources, folder, scripts, runs, depends=depends, build=build)


def _is_workspace(folder: Path, package: Mapping[str, Any]) -> bool:
    files = ("pnpm-workspace.yaml", "lerna.json")
    return "workspaces" in package or any((folder / one).is_file() for one in files)


def _build_in(
    tree: ProjectTree, manifests: Mapping[PurePosixPath, Mapping[str, Any]]
) -> BuildSteps:
    """What builds packages that lie in each other, the outermost one first."""
    steps = {folder: node_build(tree, folder, one) for folder, one in manifests.items()}
    return BuildSteps(
        tuple(run_in(folder, one) for folder, step in steps.items() for one in step.commands),
        reason=next((step.reason for step in steps.values() if step.reason), ""),
        tools=tuple(dict.fromkeys(tool for step in steps.values() for tool in step.tools)),
    )


def _has_benches(tree: ProjectTree, files: Sequence[PurePosixPath]) -> bool:
    return any(is_file_of_vitest(tree.top / path) for path in files)


def _vitest_options(package: Mapping[str, Any]) -> str:
    """The options with which package.json runs `vitest bench`, as far as they choose what runs."""
    commands = map(str, table_at(package, "scripts").values())
    given = next((one for one in commands if _RUNS_VITEST.search(one)), "")
    return " ".join(_VITEST_OPTION.findall(given))


@dataclass(frozen=True, slots=True)
class _Sources:
    """The scripts of a project, and what they import from each other."""

    tree: ProjectTree
    paths: frozenset[PurePosixPath]

    def find(self, folder: PurePosixPath, name: str) -> PurePosixPath | None:
        """The script that a name means in a folder; None for none."""
        plain = posixpath.normpath(folder / name)
        named = (PurePosixPath(f"{plain}{ending}") for ending in _ENDINGS)
        return next((one for one in named if one in self.paths), None)

    def read(self, script: PurePosixPath) -> dict[PurePosixPath, str]:
        """The text of a script, and those of the scripts that it imports."""
        found = {script: self.tree.read(script)}
        open_ = [script]
        while open_:
            path = open_.pop()
            for name in _RELATIVE.findall(found[path]):
                imported = self.find(path.parent, name)
                if imported and imported not in found:
                    found[imported] = self.tree.read(imported)
                    open_.append(imported)
        return found


def _runs(
    sources: _Sources, folder: PurePosixPath, package: Mapping[str, Any]
) -> Iterator[tuple[PurePosixPath, _Run]]:
    """The scripts that the commands of a package.json run."""
    for name, command in table_at(package, "scripts").items():
        place = folder
        for step in _STEPS.split(_REDIRECTED.sub("", str(command))):
            try:
                words = shlex.split(step)
            except ValueError:
                continue
            if words[:1] == ["cd"]:
                place = PurePosixPath(posixpath.normpath(place / "".join(words[1:2])))
            elif found := _run(sources, place, words, is_named=bool(_BENCHMARKS.search(name))):
                yield found


def _run(
    sources: _Sources, place: PurePosixPath, words: Sequence[str], *, is_named: bool
) -> tuple[PurePosixPath, _Run] | None:
    """The script that a command runs; None if it runs none."""
    rest, env = list(words), dict[str, str]()
    while rest and (rest[0] == "cross-env" or _ASSIGNED.match(rest[0])):
        name, _, value = rest.pop(0).partition("=")
        if value:
            env[name] = value
    while rest and rest[0] in _STARTERS:
        rest.pop(0)
    if not rest or rest[0] not in {"node", *_HOOKS, *_OTHER_RUNNERS}:
        return None
    command = shlex.join(rest if rest[0] == "node" else ["npx", *rest])
    runner = rest.pop(0)
    options = ["--import", _HOOKS[runner]] if runner in _HOOKS else []
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        values = [rest.pop(0)] if option in _WITH_VALUE and rest else []
        if option == "--tsconfig" and values:  # of tsx itself
            env["TSX_TSCONFIG_PATH"] = values[0]
        else:
            options += [option, *values]
    if rest[:1] == ["run"]:
        rest.pop(0)
    script = sources.find(place, rest[0]) if rest else None
    if script is None:
        return None
    if more := rest[1:]:
        options += ["--", *more]
    is_node = runner not in _OTHER_RUNNERS
    return script, _Run(command, place, tuple(options) if is_node else None, env, is_named)


def _scripts(
    sources: _Sources,
    folder: PurePosixPath,
    files: Sequence[PurePosixPath],
    runs: Mapping[PurePosixPath, _Run],
    *,
    depends: set[str],
    build: BuildSteps,
) -> Iterator[Suite]:
    """The scripts of a package that run benchmarks: those that package.json names, or else all."""
    patterns = {
        library: re.compile(_IMPORT.format(re.escape(library)))
        for library in _LIBRARIES
        if library in depends
    }
    if not patterns:
        return
    codes = {path: sources.tree.read(path) for path in files}
    threads = {
        path: code
        for path, code in codes.items()
        if _IN_THREAD.search(code) and not _STARTS_THREAD.search(code)
    }
    in_threads = "\n".join(threads.values())
    found: dict[PurePosixPath, _Script] = {}
    named: dict[PurePosixPath, _Script] = {}
    read: set[PurePosixPath] = set()
    for path in (one for one in files if one not in threads):
        if library := _used(patterns, codes[path]):
            found[path] = _Script(path, library, codes[path])
        if path in runs and runs[path].is_named:
            inside = sources.read(path)
            code = "\n".join(inside.values())
            if library := _used(patterns, code):
                named[path] = _Script(path, library, code)
            elif _STARTS_THREAD.search(code) and (library := _used(patterns, in_threads)):
                named[path] = _Script(path, library, code + in_threads, is_live=False)
            read |= inside.keys() if library else set()
    live = {path: one for path, one in named.items() if one.is_live}
    chosen = list((live or named or found).values())
    stems = [one.path.stem for one in chosen]
    suites = [
        _suite(
            script,
            runs.get(script.path) or _default_run(folder, script.path, depends),
            build,
            is_only=stems.count(script.path.stem) == 1,
        )
        for script in chosen
    ]
    joined = _joined(suites)
    yield from joined[:_MAX_SUITES]
    taken = {one.path for one in chosen}
    _note_left_out(sources.tree, "they are too many", [s.place for s in joined[_MAX_SUITES:]])
    threaded = [path for path in named if path not in taken]
    why = "their benchmarks run in threads, so benchgate measures them only as a `suite`"
    _note_left_out(sources.tree, why, threaded)
    unnamed = [path for path in found if path not in (taken | read)] if named else []
    why = 'package.json does not name them as benchmarks; `node = "PATH"` adds one'
    _note_left_out(sources.tree, why, [path for path in unnamed if path not in named])


def _joined(suites: Sequence[Suite]) -> list[Suite]:
    """Put scripts that run alike into one table."""
    alike: dict[str, list[Suite]] = {}
    for suite in suites:
        same = {name: value for name, value in suite.table.items() if name != "node"}
        is_alone = "node" not in suite.table
        key = f"{suite.place}" if is_alone else f"{suite.comment} {sorted(same.items())!r}"
        alike.setdefault(key, []).append(suite)
    return [
        some[0]
        if len(some) == 1
        else replace(
            some[0],
            found=f"{len(some)} scripts with {some[0].found.partition(' with ')[2]}"
            f"{in_folder(some[0].place.parent)}",
            table={**some[0].table, "node": tuple(str(one.table["node"]) for one in some)},
        )
        for some in alike.values()
    ]


def _note_left_out(tree: ProjectTree, why: str, scripts: Sequence[PurePosixPath]) -> None:
    if scripts:
        named = ", ".join(map(str, scripts[:_MAX_NAMED]))
        more = f" and {len(scripts) - _MAX_NAMED} more" if len(scripts) > _MAX_NAMED else ""
        tree.note(f"Left out: {named}{more}, because {why}.")


@dataclass(frozen=True, slots=True)
class _Script:
    """A script that runs benchmarks.

    Attributes:
        code: its text, and those of the scripts that it needs.
        is_live: whether the benchmarks run in the thread of the script.
    """

    path: PurePosixPath
    library: str
    code: str
    is_live: bool = True


def _used(patterns: Mapping[str, re.Pattern[str]], code: str) -> str:
    """The library whose benchmarks a text runs; "" for none."""
    if not _RUNS.search(code):
        return ""
    return next((name for name, pattern in patterns.items() if pattern.search(code)), "")


def _default_run(folder: PurePosixPath, path: PurePosixPath, depends: set[str]) -> _Run:
    """How a script is run that no package.json names."""
    is_typed = path.suffix in {".ts", ".mts", ".tsx"} and "tsx" in depends
    program = "npx tsx" if is_typed else "node"
    command = f"{program} {shlex.quote(str(path.relative_to(folder)))}"
    return _Run(command, folder, ("--import", "tsx") if is_typed else ())


def _suite(script: _Script, run: _Run, build: BuildSteps, *, is_only: bool) -> Suite:
    """The suite of a script.

    Args:
        is_only: whether no other one has the same name.
    """
    title, printed, shows = _LIBRARIES[script.library]
    env: dict[str, Value] = {"env": dict(run.env)} if run.env else {}
    found = f"the script {script.path} with benchmarks of {title}"
    if script.is_live and run.options is not None:
        table: dict[str, Value] = {"node": str(script.path)}
        if run.options:
            table["arguments"] = shlex.join(run.options)
        if run.place.parts:
            table["cwd"] = str(run.place)
        if not is_only:
            table["group"] = str(script.path.parent)
        return Suite(found, {**table, **env}, f"The benchmarks of {title}.", script.path, build)
    return Suite(
        found,
        {**command_table(run.command, run.place), **env},
        f"The benchmarks of {title}, as the script prints them.",
        script.path,
        build,
        to_edit=() if shows.search(script.code) else (f"{script.path} must print {printed}.",),
    )


_DENO_BENCH = re.compile(r"\bDeno\.bench\s*\(")
_DENO_NAMED = re.compile(r"(?:^|[._])bench\.m?[jt]sx?$")
_DENO_TASK = re.compile(r"[\"']deno bench\b([^\"'&|;>]*)")


def deno_suites(tree: ProjectTree) -> Iterator[Suite]:
    """The files with `Deno.bench`, in each project of Deno."""
    projects = {path.parent for path in tree.named("deno.json", "deno.jsonc")}
    found: dict[PurePosixPath, list[PurePosixPath]] = defaultdict(list)
    for path in tree.files:
        is_near = _SCRIPT.search(path.name) and _BENCHMARKS.search(str(path))
        if is_near and _DENO_BENCH.search(tree.read(path)):
            around = (folder for folder in path.parents if folder in projects)
            found[next(around, PurePosixPath())].append(path)
    for folder, paths in found.items():
        texts = (tree.read(folder / name) for name in ("deno.json", "deno.jsonc"))
        task = next((one[1] for text in texts if (one := _DENO_TASK.search(text))), None)
        if task is None:
            others = [one for one in paths if not _DENO_NAMED.search(one.name)]
            # Without names, deno searches the folder.
            task = "".join(f" {shlex.quote(str(p.relative_to(folder)))}" for p in paths if others)
        yield Suite(
            f"{counted(len(paths), 'file')} with benchmarks of deno bench{in_folder(folder)}",
            command_table(f"deno bench --json{task.rstrip()}", folder),
            "The benchmarks of deno bench. It prints the mean of each, and no single times.",
            folder,
            BuildSteps(tools=("deno",)),
        )
