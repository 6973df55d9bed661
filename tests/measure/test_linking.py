"""Programs that are linked again, with a real compiler and linker."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from benchgate.measure.languages import ADAPTERS
from benchgate.measure.languages.linking import LinkError, linked_again

if TYPE_CHECKING:
    from pathlib import Path

NM = shutil.which("nm") or "nm"

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None or shutil.which("ld.bfd") is None, reason="gcc: not installed"
)

FUNCTION = "__attribute__((noinline)) int {name}(int x) {{ {body} }}\n"
BODY = "for (int i = 0; i < x; i++) x ^= x * {n}; return x;"
NAMES = tuple(f"work{index}" for index in range(12))


def compile_c(
    folder: Path, *, more: tuple[str, ...] = (), longer: str = "", marked: bool = True
) -> Path:
    """Compile and link in two steps, as builds do, and remove the object files."""
    folder.mkdir()
    text = ""
    for index, name in enumerate((*more, *NAMES)):
        body = BODY.format(n=index + 3)
        text += FUNCTION.format(name=name, body=body * (40 if name == longer else 1))
    calls = " + ".join(f"{name}(argc)" for name in (*more, *NAMES))
    marker = '__attribute__((used)) const char *marker = "BENCHGATE_FD";\n' if marked else ""
    text += f"{marker}#include <stdio.h>\nint main(int argc, char **argv) {{\n"
    text += f'  printf("%d\\n", {calls});\n}}\n'
    (folder / "a.c").write_text(text)
    environ = {
        **os.environ,
        "BENCHGATE_PYTHON": sys.executable,
        "BENCHGATE_LINKS": str(folder / "links"),
    }
    for words in (["-O1", "-c", "a.c", "-o", "a.o"], ["a.o", "-o", "program", "-Wl,-Map,own.map"]):
        subprocess.run([ADAPTERS / "cpp" / "cc", *words], cwd=folder, env=environ, check=True)
    for name in ("a.o", "own.map"):
        (folder / name).unlink()
    return folder / "program"


def place(program: Path) -> tuple[Path, Path]:
    return program.parent / "links", program


def addresses(program: Path) -> dict[str, int]:
    lines = subprocess.check_output([NM, program], text=True).splitlines()
    found = (line.split() for line in lines)
    return {words[2]: int(words[0], 16) for words in found if words[1:2] == ["T"]}


def output(program: Path) -> str:
    return subprocess.check_output([program], text=True)


def test_common_functions_keep_their_addresses(tmp_path: Path) -> None:
    base = compile_c(tmp_path / "base")
    head = compile_c(tmp_path / "head", more=("new",), longer="work3")
    orders = set()
    for seed in (1, 2, 3):
        again = [
            linked_again(place(one), [place(other)], seed)
            for one, other in ((base, head), (head, base))
        ]
        made = [one for one in again if one]
        assert [output(one) for one in made] == [output(base), output(head)]
        first, second = map(addresses, made)
        assert {name: first[name] for name in NAMES} == {name: second[name] for name in NAMES}
        assert all(first[name] % 64 == 0 for name in NAMES)
        orders.add(tuple(sorted(NAMES, key=lambda name: first[name])))
    assert len(orders) == 3
    assert not list(tmp_path.rglob("own.map"))


def test_only_workers_are_kept_and_both_or_none(tmp_path: Path) -> None:
    program = compile_c(tmp_path / "base", marked=False)
    worker = compile_c(tmp_path / "head")
    assert linked_again(place(program), [], 1) is None
    assert linked_again(place(worker), [place(program)], 1) is None
    assert linked_again(place(worker), [], 1)


def test_the_linker_says_what_is_wrong(tmp_path: Path) -> None:
    program = compile_c(tmp_path / "base")
    for file in (tmp_path / "base" / "links").rglob("*.o"):
        file.unlink()
    with pytest.raises(LinkError, match="cannot find"):
        linked_again(place(program), [], 1)
