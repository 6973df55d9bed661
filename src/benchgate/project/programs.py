"""Finds the program of a project in another language, and how it is built."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from benchgate.project.needs import Build, read_text, read_toml
from benchgate.project.tree import table_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_VARIABLE = re.compile(r"^([\w.-]+)[ \t]*(?:\?|:{1,2})?=[ \t]*(.*?)[ \t]*(?:#.*)?$", re.MULTILINE)
_USE = re.compile(r"\$[({]([\w.-]+)[)}]")
_RULE = re.compile(r"^([^\s#=:.%][^=:#\n]*?)[ \t]*:(?![=:])(.*?)(?:#.*)?$", re.MULTILINE)
_PHONY = re.compile(r"^\.PHONY[ \t]*:(.*)$", re.MULTILINE)
_LINKED = re.compile(r"(?:^|\s)-o\s+(\S+)")
_NO_FILES = frozenset({"all", "build", "default"})
_NO_PROGRAMS = (".o", ".a", ".so", ".d", ".dylib", ".lo", ".c", ".cc", ".cpp", ".h", ".hpp")
_CMAKE_PROGRAM = re.compile(r"^\s*add_executable\s*\(\s*([\w.+-]+)(?!.*\bIMPORTED\b)", re.MULTILINE)
_MESON_PROGRAM = re.compile(r"^\s*(?:\w+\s*=\s*)?executable\s*\(\s*'([^']+)'", re.MULTILINE)
_GO_MAIN = re.compile(r"^package\s+main\b", re.MULTILINE)
_NODE_INSTALLS = (
    ("package-lock.json", "npm ci", "npm"),
    ("pnpm-lock.yaml", "pnpm install --frozen-lockfile", "pnpm"),
    ("yarn.lock", "yarn install --frozen-lockfile", "yarn"),
)
"""Lock files, and the command and the tool that install what they say."""

_GO_FLAGS = "-trimpath -buildvcs=false"


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
    build: Build = field(default_factory=Build)


def find_program(top: Path) -> Program | None:
    """Find the first program of a project that is not written in Python."""
    finders: tuple[Callable[[Path], Program | None], ...]
    finders = (_rust, _go, _node, _cmake, _meson, _make)
    return next((found for find in finders if (found := find(top))), None)


def _built(language: str, build: Build, names: Iterable[str], folder: str) -> Program:
    name = next(iter(names), "")
    command = f"{folder}/{name or 'my-program'} --help"
    return Program(language, PurePosixPath(name).name, command, build)


def _compiled(*commands: str, tool: str, **env: str) -> Build:
    return Build(commands, env, "the program is compiled", (tool,))


def _rust(top: Path) -> Program | None:
    if not (top / "Cargo.toml").is_file():
        return None
    locked = " --locked" if (top / "Cargo.lock").is_file() else ""
    build = _compiled(f"cargo build --release{locked}", tool="cargo", CARGO_TARGET_DIR="{env}")
    return _built("Rust", build, _rust_programs(top), "{env}/release")


def _rust_programs(top: Path) -> Iterator[str]:
    manifests = [top / "Cargo.toml", *sorted(top.glob("*/Cargo.toml"))]
    for manifest in (*manifests, *sorted(top.glob("*/*/Cargo.toml"))):
        document = read_toml(manifest)
        yield from (one["name"] for one in document.get("bin", ()) if "name" in one)
        if (manifest.parent / "src" / "main.rs").is_file():
            yield str(document.get("package", {}).get("name", ""))
        yield from (path.stem for path in sorted(manifest.parent.glob("src/bin/*.rs")))


def _go(top: Path) -> Program | None:
    if not (top / "go.mod").is_file():
        return None
    build = _compiled(f"go build {_GO_FLAGS} -o {{env}}/bin/ ./...", tool="go")
    return _built("Go", build, _go_programs(top), "{env}/bin")


def _go_programs(top: Path) -> Iterator[str]:
    module = re.search(r"^module\s+(\S+)", read_text(top / "go.mod"), re.MULTILINE)
    for pattern in ("*.go", "cmd/*/*.go", "*/*.go"):
        for file in sorted(top.glob(pattern)):
            if not file.name.endswith("_test.go") and _GO_MAIN.search(read_text(file)):
                own = re.sub(r"/v\d+$", "", module[1] if module else top.name)
                yield PurePosixPath(own).name if file.parent == top else file.parent.name


def _node(top: Path) -> Program | None:
    try:
        package = json.loads((top / "package.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(package, dict):
        return None
    build = node_build(top, package)
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


def node_build(folder: Path, package: Mapping[str, Any]) -> Build:
    """What installs the dependencies of a Node package and runs its build script.

    Args:
        folder: of the package, or of the workspace that it belongs to.
        package: what its package.json says.
    """
    commands, tool = [], "npm"
    if package.get("dependencies") or package.get("devDependencies"):
        install, tool = next(
            (one for lock, *one in _NODE_INSTALLS if (folder / lock).is_file()),
            ("npm install --no-package-lock", "npm"),
        )
        commands.append(install)
    if "build" in table_at(package, "scripts"):
        commands.append(f"{tool} run build")
    reason = "the project has dependencies or a build script"
    return Build(tuple(commands), {}, reason, (tool,)) if commands else Build()


def _cmake(top: Path) -> Program | None:
    text = read_text(top / "CMakeLists.txt")
    if not text:
        return None
    build = _compiled(
        "cmake -S . -B {env} -DCMAKE_BUILD_TYPE=Release",
        "cmake --build {env} --parallel",
        tool="cmake",
    )
    return _built("C or C++", build, _CMAKE_PROGRAM.findall(text), "{env}")


def _meson(top: Path) -> Program | None:
    text = read_text(top / "meson.build")
    if not text:
        return None
    build = _compiled(
        "meson setup --buildtype release {env}", "meson compile -C {env}", tool="meson"
    )
    return _built("C or C++", build, _MESON_PROGRAM.findall(text), "{env}")


def _make(top: Path) -> Program | None:
    text = next((text for name in _MAKEFILES if (text := read_text(top / name))), "")
    has_sources = any(True for pattern in ("*.[ch]*", "*/*.[ch]*") for _ in top.glob(pattern))
    if not text or not has_sources:
        return None
    return _built("C or C++", _compiled("make", tool="make"), _made_programs(text), ".")


def _made_programs(makefile: str) -> Iterator[str]:
    """The programs that a makefile links: those that its first rule makes come first."""
    joined = makefile.replace("\\\n", " ")
    variables = dict(reversed(_VARIABLE.findall(joined)))
    rules = [
        (_expanded(targets, variables).split(), _expanded(needs, variables).split())
        for targets, needs in _RULE.findall(joined)
    ]
    made = {target for targets, _ in rules for target in targets}
    linked = [_expanded(name, variables) for name in _LINKED.findall(joined)]
    made.update(linked)
    phony = {name for names in _PHONY.findall(joined) for name in names.split()} | _NO_FILES
    first = rules[0] if rules else ([], [])
    for name in (*first[1], *first[0], *linked):
        plain = name.removeprefix("./")
        if name in made - phony and "$" not in name and not plain.endswith(_NO_PROGRAMS):
            yield plain


def _expanded(text: str, variables: Mapping[str, str], depth: int = 5) -> str:
    """Replace simple variables; leave functions and automatic variables alone."""
    if depth == 0:
        return text
    return _USE.sub(
        lambda use: _expanded(variables.get(use[1], use[0]), variables, depth - 1), text
    )
