"""Finds a program of a project that could be its first benchmark."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from benchgate.project.build_steps import (
    BuildSteps,
    node_build,
    read_text,
    read_toml,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from benchgate.project.tree import ProjectTree


_VARIABLE = re.compile(r"^([\w.-]+)[ \t]*(?:\?|:{1,2})?=[ \t]*(.*?)[ \t]*(?:#.*)?$", re.MULTILINE)
_USE = re.compile(r"\$[({]([\w.-]+)[)}]")
_RULE = re.compile(r"^([^\s#=:.%][^=:#\n]*?)[ \t]*:(?![=:])(.*?)(?:#.*)?$", re.MULTILINE)
_PHONY = re.compile(r"^\.PHONY[ \t]*:(.*)$", re.MULTILINE)
_LINKED = re.compile(r"(?:^|\s)-o\s+(\S+)")
_NO_FILES = frozenset({"all", "build", "default"})
_NO_PROGRAMS = (".o", ".a", ".so", ".d", ".dylib", ".lo", ".c", ".cc", ".cpp", ".h", ".hpp")
_CMAKE_PROGRAM = re.compile(r"^\s*add_executable\s*\(\s*([\w.+-]+)(?!.*\bIMPORTED\b)", re.MULTILINE)
_MESON_PROGRAM = re.compile(r"^\s*(?:\w+\s*=\s*)?executable\s*\(\s*'([^']+)'", re.MULTILINE)
_C = "C or C++"
_GO_MAIN = re.compile(r"^package\s+main\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Program:
    """A program that benchgate can measure as a command.

    Attributes:
        language: of the project, for people.
        name: of the program; "" if the project's files do not tell which programs there are.
        command: what to run; a stand-in if there is no name.
        build: what creates it.
    """

    language: str
    name: str
    command: str
    build: BuildSteps = field(default_factory=BuildSteps)


def _rust_programs(top: Path, _manifest: str) -> Iterator[str]:
    manifests = [top / "Cargo.toml", *sorted(top.glob("*/Cargo.toml"))]
    for manifest in (*manifests, *sorted(top.glob("*/*/Cargo.toml"))):
        document = read_toml(manifest)
        yield from (one["name"] for one in document.get("bin", ()) if "name" in one)
        if (manifest.parent / "src" / "main.rs").is_file():
            yield str(document.get("package", {}).get("name", ""))
        yield from (path.stem for path in sorted(manifest.parent.glob("src/bin/*.rs")))


def _go_programs(top: Path, manifest: str) -> Iterator[str]:
    module = re.search(r"^module\s+(\S+)", manifest, re.MULTILINE)
    for pattern in ("*.go", "cmd/*/*.go", "*/*.go"):
        for file in sorted(top.glob(pattern)):
            if not file.name.endswith("_test.go") and _GO_MAIN.search(read_text(file)):
                own = re.sub(r"/v\d+$", "", module[1] if module else top.name)
                yield PurePosixPath(own).name if file.parent == top else file.parent.name


def _made_programs(_top: Path, makefile: str) -> Iterator[str]:
    """The programs that a makefile links: those that its first rule makes come first."""
    joined = makefile.replace("\\\n", " ")
    variables = dict(reversed(_VARIABLE.findall(joined)))
    rules = [
        (_expanded(targets, variables).split(), _expanded(needs, variables).split())
        for targets, needs in _RULE.findall(joined)
    ]
    linked = [_expanded(name, variables) for name in _LINKED.findall(joined)]
    phony = {name for names in _PHONY.findall(joined) for name in names.split()} | _NO_FILES
    made = {*linked, *(target for targets, _ in rules for target in targets)} - phony
    first = rules[0] if rules else ([], [])
    for name in (*first[1], *first[0], *linked):
        plain = name.removeprefix("./")
        if name in made and "$" not in name and not plain.endswith(_NO_PROGRAMS):
            yield plain


def _expanded(text: str, variables: Mapping[str, str], depth: int = 5) -> str:
    """Replace simple variables; leave functions and automatic variables alone."""
    if depth == 0:
        return text
    return _USE.sub(
        lambda use: _expanded(variables.get(use[1], use[0]), variables, depth - 1), text
    )


def find_program(tree: ProjectTree) -> Program | None:
    """Find the first program of a project that is not written in Python."""
    return next(filter(None, _programs(tree)), None)


def _programs(tree: ProjectTree) -> Iterator[Program | None]:
    top = tree.top
    locked = " --locked" if tree.has(PurePosixPath("Cargo.lock")) else ""
    cargo = f"cargo build --release{locked}"
    env = {"CARGO_TARGET_DIR": "{env}"}
    yield _built(top / "Cargo.toml", "Rust", _rust_programs, "{env}/release", cargo, **env)
    go = "go build -trimpath -buildvcs=false -o {env}/bin/ ./..."
    yield _built(top / "go.mod", "Go", _go_programs, "{env}/bin", go)
    yield _node_program(tree)
    cmake = ("cmake -S . -B {env} -DCMAKE_BUILD_TYPE=Release", "cmake --build {env} --parallel")
    yield _built(top / "CMakeLists.txt", _C, _found_by(_CMAKE_PROGRAM), "{env}", *cmake)
    meson = ("meson setup --buildtype release {env}", "meson compile -C {env}")
    yield _built(top / "meson.build", _C, _found_by(_MESON_PROGRAM), "{env}", *meson)
    makefiles = [top / name for name in ("GNUmakefile", "makefile", "Makefile")]
    if any(True for pattern in ("*.[ch]*", "*/*.[ch]*") for _ in top.glob(pattern)):
        makefile = next(filter(read_text, makefiles), makefiles[0])
        yield _built(makefile, _C, _made_programs, ".", "make")


def _found_by(pattern: re.Pattern[str]) -> Callable[[Path, str], list[str]]:
    return lambda _, text: pattern.findall(text)


def _built(
    file: Path,
    language: str,
    names: Callable[[Path, str], Iterable[str]],
    folder: str,
    *commands: str,
    **env: str,
) -> Program | None:
    """The first program of a project that has a file.

    Args:
        names: of the programs, by the folder and the text of the file.
        folder: that they are built into.
    """
    text = read_text(file)
    if not text:
        return None
    name = next(iter(names(file.parent, text)), "")
    command = f"{folder}/{name or 'my-program'} --help"
    tool = commands[0].partition(" ")[0]
    build = BuildSteps(commands, env, "the program is compiled", (tool,))
    return Program(language, PurePosixPath(name).name, command, build)


def _node_program(tree: ProjectTree) -> Program | None:
    top = tree.top
    package = tree.read_json(PurePosixPath("package.json"))
    if not package:
        return None
    build = node_build(tree, PurePosixPath(), package)
    own_name = PurePosixPath(str(package.get("name", top.name))).name  # without a scope
    programs = package.get("bin")
    if isinstance(programs, str):
        programs = {own_name: programs}
    if isinstance(programs, dict) and programs:
        name, script = next(iter(programs.items()))
        return Program("Node", name, f"node {PurePosixPath(str(script))} --help", build)
    main = package.get("main")
    entry = PurePosixPath(main if isinstance(main, str) else "index.js").as_posix()
    if (top / entry).is_file() or build.commands:
        return Program("Node", own_name, f"node -e 'import(\"./{entry}\")'", build)
    return Program("Node", "", "node my-program.js", build)
