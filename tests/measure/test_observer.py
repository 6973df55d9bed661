"""What programs call: of Python, and those that a project built."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from tests.measure.benchmarks import program

from benchgate.config import Measure
from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.contract.settings import EngineSettings, StartingEnvironment
from benchgate.measure.programs.engine import CommandEngine
from benchgate.model.calls import Edit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from benchgate.measure.contract.observation import Observation
    from benchgate.measure.processes.guardian import Guardian
    from benchgate.model.calls import CallTree

MAIN = """
import sys
import text
LIMIT = 3
def main():
    return sum(len(text.slug("a b c")) for _ in range(LIMIT))
if __name__ == "__main__":
    main()
    sys.exit(0)
"""
TEXT = """
def slug(title):
    return "-".join(clean(word) for word in title.split())
def clean(word):
    return word.strip()
"""
TOOL = """
#include <stdlib.h>
__attribute__((noinline)) static unsigned sum(const char *s) {
  unsigned a = 1;
  for (; *s; s++) a = a * 31 + *s;
  return a;
}
int main(void) {
  volatile unsigned total = 0;
  for (int i = 0; i < 10; i++)
    total += sum("text");
  return 0;
}
"""


@pytest.fixture
def observe(tmp_path: Path, guardian: Guardian) -> Iterator[Callable[..., list[Observation]]]:
    """Observe a command whose files can be edited in the head."""
    engines = []

    def observing(
        command: tuple[str, ...],
        files: dict[str, str],
        edit: tuple[str, str, str] = ("", "", ""),
        build: tuple[str, ...] = (),
        limit_s: float = 60.0,
    ) -> list[Observation]:
        arms = []
        for name in ArmName:
            root = tmp_path / name
            root.mkdir()
            for file, text in files.items():
                is_edited = name is ArmName.HEAD and file == edit[0]
                assert not is_edited or edit[1] in text
                (root / file).write_text(text.replace(*edit[1:]) if is_edited else text)
            if build:
                subprocess.run(build, cwd=root, check=True)
            arms.append(Arm(name, root, tmp_path / f"{name}-env"))
        spec = program("one", command, executions=1)
        settings = EngineSettings(Measure(), outside=StartingEnvironment(dict(os.environ)))
        engine = CommandEngine({arm.name: [spec] for arm in arms}, arms, guardian, settings)
        engines.append(engine)
        engine.discover()
        assert engine.observes("one")
        return list(engine.observe("one", limit_s, ["time"]))

    yield observing
    for engine in engines:
        engine.close()


def trees(seen: list[Observation]) -> list[CallTree]:
    """Those of base and head."""
    found = {one.arm: one.calls["time"] for one in seen if one.calls}
    assert len(found) == 2, [one.notes for one in seen]
    return [found[ArmName.BASE], found[ArmName.HEAD]]


def calls(tree: CallTree) -> Counter[str]:
    found = Counter[str]()
    for _, number, count in tree.nodes:
        found[tree.functions[number].name] += count
    return found


def edits(tree: CallTree) -> dict[str, Edit]:
    return {one.name: one.edit for one in tree.functions if one.is_own}


PYTHON = (sys.executable, "main.py")
FILES = {"main.py": MAIN, "text.py": TEXT}


def test_a_program_of_python(observe: Callable[..., list[Observation]]) -> None:
    edit = "text.py", "clean(word) for", "clean(clean(word)) for"
    base, head = trees(observe(PYTHON, FILES, edit))
    assert (calls(base)["clean"], calls(head)["clean"]) == (9, 18)
    assert calls(base)["main"] == calls(head)["main"] == 1
    assert edits(head)["slug"] is Edit.EDITED
    assert edits(head)["clean"] is edits(head)["main"] is Edit.NONE
    assert {one.path for one in head.functions if one.is_own} == {"main.py", "text.py"}
    assert sum(one.own for one in head.functions) > 0
    assert not any("sitecustomize" in one.path for one in head.functions)


def test_what_runs_when_a_file_is_imported(observe: Callable[..., list[Observation]]) -> None:
    edit = "main.py", "LIMIT = 3", "LIMIT = 4"
    head = trees(observe(PYTHON, FILES, edit))[1]
    by_place = {(one.path, one.name): one.edit for one in head.functions if one.is_own}
    assert by_place["main.py", "<module>"] is Edit.EDITED
    assert by_place["main.py", "main"] is Edit.BESIDE
    assert by_place["text.py", "<module>"] is Edit.NONE


def test_a_script_starts_the_program(observe: Callable[..., list[Observation]]) -> None:
    script = f'"{sys.executable}" -c "print(1)"; "{sys.executable}" main.py'
    base, _ = trees(observe(("/bin/sh", "-c", script), FILES))
    assert calls(base)["clean"] == 9


def test_a_module_that_customizes_the_site_still_does(
    observe: Callable[..., list[Observation]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "sitecustomize.py").write_text("import os\nos.environ['CUSTOMIZED'] = 'yes'\n")
    monkeypatch.setenv("PYTHONPATH", str(own))
    main = MAIN.replace("LIMIT = 3", "import os\nLIMIT = 5 if os.environ['CUSTOMIZED'] else 0")
    base, _ = trees(observe(PYTHON, {**FILES, "main.py": main}))
    assert calls(base)["clean"] == 15


SCRIPT = """
const { slug, later } = require("./text.cjs");
later("a").then(() => {
  for (let i = 0; i < 30000; i++) slug("a b c");
  process.exit(0);
});
"""
MODULE = """
function clean(word) { return word.trim(); }
exports.slug = (title) => title.split(" ").map((word) => clean(word)).join("-");
exports.later = async function later(word) {
  await null;
  return clean(word);
};
"""


@pytest.mark.skipif(not shutil.which("node"), reason="node is missing")
def test_a_program_of_node(observe: Callable[..., list[Observation]]) -> None:
    edit = "text.cjs", "clean(word))", "clean(clean(word)))"
    files = {"main.cjs": SCRIPT, "text.cjs": MODULE}
    base, head = trees(observe(("node", "main.cjs"), files, edit))
    assert (calls(base)["clean"], calls(head)["clean"]) == (90_001, 180_001)
    assert calls(base)["later"] == calls(head)["later"] == 1
    assert edits(head)["exports.slug"] is Edit.EDITED
    assert edits(head)["later"] is Edit.BESIDE
    assert all(one.is_counted for one in head.functions)
    assert sum(one.own for one in head.functions) > 0


@pytest.mark.parametrize(
    ("command", "limit_s", "why"),
    [
        (PYTHON, 0.0, "it makes too many calls to count them in time"),
        (
            ("/bin/true",),
            60.0,
            "it is no program of Python or Node, nor one that the project built",
        ),
        ((sys.executable, "-c", "raise SystemExit(3)"), 60.0, "exited with 3"),
        (
            (sys.executable, "-c", "import time; time.sleep(99)"),
            60.0,
            "it took longer than 0.5 s",
        ),
    ],
)
def test_a_note_says_why_nothing_is_known(
    observe: Callable[..., list[Observation]],
    monkeypatch: pytest.MonkeyPatch,
    command: tuple[str, ...],
    limit_s: float,
    why: str,
) -> None:
    monkeypatch.setattr("benchgate.measure.programs.engine._COUNT_S", 0.0)
    if "sleep" in command[-1]:
        monkeypatch.setattr("benchgate.measure.programs.observer.LIMIT_S", 0.5)
    for one in observe(command, FILES, limit_s=limit_s):
        assert one.error is None
        assert one.notes[0].startswith("what it calls is not known: ")
        assert why in one.notes[0]


@pytest.mark.skipif(
    not (shutil.which("gcc") and shutil.which("valgrind")), reason="gcc or valgrind is missing"
)
def test_a_program_that_the_project_built(observe: Callable[..., list[Observation]]) -> None:
    base, head = trees(
        observe(
            ("./tool",),
            {"tool.c": TOOL},
            ("tool.c", 'sum("text");', 'sum("text") + sum("more");'),
            ("gcc", "-g", "-O1", "-o", "tool", "tool.c"),
        )
    )
    assert (calls(base)["sum"], calls(head)["sum"]) == (10, 20)
    assert edits(head)["main"] is Edit.EDITED
    assert edits(head)["sum"] is Edit.BESIDE
