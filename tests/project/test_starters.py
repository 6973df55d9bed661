from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchgate.project.starters import find_program
from benchgate.project.tree import list_tree

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = "int main(void) { return 0; }\n"


def write(top: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.mark.parametrize(
    ("makefile", "command"),
    [
        ("all: tool\ntool: main.c\n\tcc -o $@ $<\n", "./tool --help"),
        ("tool: main.o\n\tcc -o $@ $^\nmain.o: main.c\n", "./tool --help"),
        ("BIN = bin/tool\nall: $(BIN)\n$(BIN): main.c\n\tcc -o $@ main.c\n", "./bin/tool --help"),
        ("NAME := tool\n.PHONY: all\nall:\n\tcc -o ${NAME} main.c\n", "./tool --help"),
        (
            "# build\n.PHONY: all lib\nall: lib tool\nlib: x.a\ntool: $(SRC:.c=.o)\n\tcc -o $@\n",
            "./tool --help",
        ),
        ("include rules.mk\n", "./my-program --help"),
    ],
)
def test_the_program_of_a_makefile(tmp_path: Path, makefile: str, command: str) -> None:
    write(tmp_path, {"Makefile": makefile, "main.c": PROGRAM})
    found = find_program(list_tree(tmp_path))
    assert found is not None
    assert (found.command, found.build.commands) == (command, ("make",))


@pytest.mark.parametrize(
    ("files", "language", "command", "build"),
    [
        (
            {"Cargo.toml": '[package]\nname = "tool"\n', "src/main.rs": "", "Cargo.lock": ""},
            "Rust",
            "{env}/release/tool --help",
            "cargo build --release --locked",
        ),
        (
            {"Cargo.toml": "[workspace]\n", "crates/a/Cargo.toml": '[[bin]]\nname = "a-tool"\n'},
            "Rust",
            "{env}/release/a-tool --help",
            "cargo build --release",
        ),
        (
            {"go.mod": "module example.org/me/tool/v2\n", "main.go": "package main\n"},
            "Go",
            "{env}/bin/tool --help",
            "go build -trimpath -buildvcs=false -o {env}/bin/ ./...",
        ),
        (
            {"go.mod": "module m\n", "cmd/serve/a.go": "package main\n", "a.go": "package m\n"},
            "Go",
            "{env}/bin/serve --help",
            "go build -trimpath -buildvcs=false -o {env}/bin/ ./...",
        ),
        (
            {"CMakeLists.txt": "project(x C)\nadd_executable(tool main.c)\n", "Makefile": "all:\n"},
            "C or C++",
            "{env}/tool --help",
            "cmake -S . -B {env} -DCMAKE_BUILD_TYPE=Release",
        ),
        (
            {"meson.build": "project('x', 'c')\nexecutable('tool', 'main.c')\n"},
            "C or C++",
            "{env}/tool --help",
            "meson setup --buildtype release {env}",
        ),
        (
            {"package.json": '{"name": "@me/slug", "bin": "cli.js"}'},
            "Node",
            "node cli.js --help",
            None,
        ),
        (
            {"package.json": '{"bin": {"slug": "./cli.js"}, "dependencies": {"a": "1"}}'},
            "Node",
            "node cli.js --help",
            "npm install --no-package-lock",
        ),
        (
            {
                "package.json": '{"bin": "cli.js", "devDependencies": {"a": "1"}, '
                '"scripts": {"build": "tsc"}}',
                "package-lock.json": "{}",
            },
            "Node",
            "node cli.js --help",
            "npm ci",
        ),
        (
            {"package.json": '{"main": "lib/main.js"}', "lib/main.js": ""},
            "Node",
            "node -e 'import(\"./lib/main.js\")'",
            None,
        ),
    ],
)
def test_programs_in_other_languages(
    tmp_path: Path, files: dict[str, str], language: str, command: str, build: str | None
) -> None:
    write(tmp_path, files)
    found = find_program(list_tree(tmp_path))
    assert found is not None
    assert (found.language, found.command) == (language, command)
    assert next(iter(found.build.commands), None) == build
    assert found.name in {"tool", "a-tool", "serve", "slug", tmp_path.name}


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"package.json": "["},
        {"package.json": "[]"},
        {"package.json": '{"a":' * 5000 + "1" + "}" * 5000},
        {"Makefile": "all:\n\tls\n"},
    ],
)
def test_nothing_is_made_up(tmp_path: Path, files: dict[str, str]) -> None:
    write(tmp_path, files)
    assert find_program(list_tree(tmp_path)) is None
