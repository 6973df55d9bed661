"""The benchmark files of one side over the tree of the other, in real folders."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.measure.test_workloads import EDITS

from benchgate._worker.workloads import Workloads
from benchgate.config import loads
from benchgate.errors import UsageError
from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.trees.file_plan import FilePlan, Tree, plan
from benchgate.measure.trees.laying import LaidTree, Laying

if TYPE_CHECKING:
    from collections.abc import Mapping

PYTHON = '[[benchmark]]\npython = "benchmarks"\n'


def tree(folder: Path, files: Mapping[str, str]) -> Arm:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    folder.mkdir(exist_ok=True)
    name = ArmName(folder.name)
    return Arm(name, folder, folder.with_name(f"{name}-env"))


def content(arm: Arm) -> dict[str, str]:
    files = (path for path in arm.root.rglob("*") if path.is_file())
    return {path.relative_to(arm.root).as_posix(): path.read_text() for path in files}


def over(given: Arm, onto: Arm, config: str, store: Path) -> LaidTree:
    benchmarks = loads(config, "benchgate.toml").benchmarks
    return LaidTree(onto.root, given.root, plan(Tree(given), Tree(onto), benchmarks), store)


def lent(
    tmp_path: Path, head: Mapping[str, str], base: Mapping[str, str], config: str = PYTHON
) -> dict[str, str]:
    """Lay the benchmarks of the head over the base; return what the base then has."""
    arms = tree(tmp_path / "head", head), tree(tmp_path / "base", base)
    laid = over(*arms, config, tmp_path / "store")
    laid.lay(laid=True)
    assert content(arms[0]) == head
    found = content(arms[1])
    laid.lay(laid=False)
    assert content(arms[1]) == base
    return found


def test_the_whole_folder_of_benchmarks_replaces_that_of_the_base(
    tmp_path: Path,
) -> None:
    head = {
        "src/toy/__init__.py": "new",
        "benchmarks/bench_a.py": "new",
        "benchmarks/helper.py": "new",
        "benchmarks/data/words.txt": "new",
    }
    base = {
        "src/toy/__init__.py": "old",
        "benchmarks/bench_a.py": "old",
        "benchmarks/bench_gone.py": "old",
        "benchmarks/old_helper.py": "old",
    }
    expected = {**head, "src/toy/__init__.py": "old"}
    assert lent(tmp_path, head, base) == expected


def test_beside_code_of_the_project_only_the_benchmark_files_are_replaced(tmp_path: Path) -> None:
    head = {"toy/__init__.py": "new", "toy/core.py": "new", "toy/bench_a.py": "new"}
    base = {"toy/__init__.py": "old", "toy/core.py": "old", "toy/bench_b.py": "old"}
    expected = {"toy/__init__.py": "old", "toy/core.py": "old", "toy/bench_a.py": "new"}
    assert lent(tmp_path, head, base, PYTHON.replace("benchmarks", "toy")) == expected


def test_data_files_are_lent_unless_they_are_code_of_the_project(tmp_path: Path) -> None:
    named = (
        'def bench_a(): ...\n\n\nbench_a.data = ["fixtures/*", "src/toy/*", "setup.py", "../*"]\n'
    )
    head = {
        "benchmarks/bench_a.py": named,
        "fixtures/new.txt": "new",
        "more/x.json": "new",
        "setup.py": "new",
        "src/toy/__init__.py": "new",
        "src/toy/table.json": "new",
    }
    base = {
        "fixtures/old.txt": "old",
        "more/x.json": "old",
        "setup.py": "old",
        "src/toy/__init__.py": "old",
        "src/toy/table.json": "old",
    }
    config = f'{PYTHON}data = ["more/*.json"]\n'
    assert lent(tmp_path, head, base, config) == {
        "benchmarks/bench_a.py": named,
        "fixtures/new.txt": "new",
        "more/x.json": "new",
        "setup.py": "old",
        "src/toy/__init__.py": "old",
        "src/toy/table.json": "old",
    }


def test_the_script_of_a_command_is_lent_if_its_data_names_it(tmp_path: Path) -> None:
    command = '[[benchmark]]\nname = "a"\ncommand = "sh tools/run.sh"\ndata = ["tools/run.sh"]\n'
    head = {"tools/run.sh": "new", "tools/other.sh": "new"}
    assert lent(tmp_path, head, {}, command) == {"tools/run.sh": "new"}


@pytest.mark.parametrize(
    ("table", "named"),
    [
        ('suite = "python3 bench/run.py --quick"', ["bench/run.py"]),
        ('suite = "python3 -m tool --config=bench/conf.json bench/run.py"', ["bench/run.py"]),
        ('suite = "python3 {root}/bench/run.py"', ["bench/run.py"]),
        ('suite = "cd bench; ../bench/run.py|sort"\nshell = true', []),
        ('suite = "true && bench/run.py>out"\nshell = true', ["bench/run.py"]),
        ('suite = "python3 run.py"\ncwd = "bench"', ["bench/run.py"]),
        ('suite = "python3 bench/run.py"\ndata = ["bench/*.py"]', []),
        ('suite = "python3 bench/same.py bench bench/new.py ../outside.py"', []),
        ('name = "a"\ncommand = "python3 bench/run.py"', []),
    ],
)
def test_the_edited_files_that_a_suite_names_are_known(
    tmp_path: Path, table: str, named: list[str]
) -> None:
    base = tree(tmp_path / "base", {"bench/run.py": "old", "bench/same.py": ""})
    head = tree(tmp_path / "head", {"bench/run.py": "new", "bench/same.py": "", "bench/new.py": ""})
    (tmp_path / "outside.py").touch()
    config = loads(f"[[benchmark]]\n{table}\n", "benchgate.toml")
    laying = Laying.of(base, head, dict.fromkeys(ArmName, config), tmp_path / "store")
    assert [name for names in laying.scripts.values() for name in names] == named


GO = "func BenchmarkA(b *testing.B) {\n}\n"
VITEST = "import { bench } from 'vitest'"
LENT: dict[str, tuple[str, dict[str, str], dict[str, str], set[str], set[str]]] = {
    "go": (
        'go = "./..."',
        {
            "a/a.go": "new",
            "a/a_test.go": f"{GO}// new",
            "a/help_test.go": "new",
            "a/testdata/x/words": "new",
            "b/b_test.go": "func TestB(t *testing.T) {\n}\n",
        },
        {
            "a/a.go": "old",
            "a/a_test.go": GO,
            "a/gone_test.go": "old",
            "b/b_test.go": "old",
            "c/c_test.go": GO,
        },
        {"a/a_test.go", "a/help_test.go", "a/testdata/x/words"},
        {"a/gone_test.go", "c/c_test.go"},
    ),
    "a folder of scripts": (
        'node = ["benchmarks/run/bench.js"]',
        {
            "benchmarks/run/bench.js": "new",
            "benchmarks/help.js": "new",
            "benchmarks/package.json": "{}",
            "benchmarks/node_modules/a/index.js": "new",
            "index.js": "new",
        },
        {
            "benchmarks/run/bench.js": "old",
            "benchmarks/run/gone.js": "old",
            "benchmarks/node_modules/a/index.js": "old",
            "index.js": "old",
        },
        {"benchmarks/run/bench.js", "benchmarks/help.js", "benchmarks/package.json"},
        {"benchmarks/run/gone.js"},
    ),
    "a script beside code": (
        'node = ["bench.js", "src/perf/bench.js", "test-utils/bench.js"]',
        {
            "bench.js": "new",
            "index.js": "new",
            "src/perf/bench.js": "new",
            "src/perf/index.js": "new",
            "test-utils/package.json": '{"main": "index.js"}',
            "test-utils/bench.js": "new",
            "test-utils/index.js": "new",
        },
        {"index.js": "old", "src/perf/index.js": "old", "test-utils/index.js": "old"},
        {"bench.js", "src/perf/bench.js", "test-utils/bench.js"},
        set(),
    ),
    "vitest": (
        'node = "src"',
        {"src/a.bench.ts": VITEST, "src/a.ts": "new", "src/b/b.bench.ts": VITEST},
        {"src/a.bench.ts": "old", "src/a.ts": "old", "src/gone.bench.ts": VITEST},
        {"src/a.bench.ts", "src/b/b.bench.ts"},
        {"src/gone.bench.ts"},
    ),
    "rust": (
        'rust = ["words", "tools/speed", "lib"]',
        {
            "Cargo.toml": "",
            "src/lib.rs": "new",
            "benches/words.rs": "new",
            "benches/common/mod.rs": "new",
            "tools/Cargo.toml": '[[bench]]\nname = "speed"\npath = "perf/speed.rs"\n',
            "tools/perf/speed.rs": "new",
            "tools/perf/other.rs": "new",
        },
        {
            "Cargo.toml": "",
            "src/lib.rs": "old",
            "benches/words.rs": "old",
            "tools/Cargo.toml": '[[bench]]\nname = "speed"\npath = "perf/speed.rs"\n',
            "tools/perf/speed.rs": "old",
            "tools/perf/other.rs": "old",
        },
        {"benches/words.rs", "benches/common/mod.rs", "tools/perf/speed.rs"},
        set(),
    ),
    "what others compile": (
        'cpp = "build/bench"\n[[benchmark]]\nworker = "bin/worker"\npaths = ["worker.c"]',
        {"bench.cc": "new", "worker.c": "new", "build/bench": "new"},
        {"bench.cc": "old", "worker.c": "old", "build/bench": "old"},
        set(),
        set(),
    ),
}


@pytest.mark.parametrize("name", LENT)
def test_the_benchmark_files_of_other_languages_are_lent(tmp_path: Path, name: str) -> None:
    table, head, base, given, gone = LENT[name]
    kept = {name: text for name, text in base.items() if name not in gone}
    expected = kept | {name: head[name] for name in given}
    assert lent(tmp_path, head, base, f"[[benchmark]]\n{table}\n") == expected


def test_a_lent_file_is_new_to_a_compiler(tmp_path: Path) -> None:
    arms = (tree(tmp_path / name, {"a_test.go": f"{GO}// {name}"}) for name in ("head", "base"))
    head, base = arms
    for arm in (head, base):
        os.utime(arm.root / "a_test.go", (1_000, 1_000))
    over(head, base, '[[benchmark]]\ngo = "."\n', tmp_path / "store").lay(laid=True)
    assert (base.root / "a_test.go").stat().st_mtime > 1_000


@pytest.mark.parametrize("place", ["toy.py", "toy/__init__.py"])
@pytest.mark.parametrize("own", ["src/toy/__init__.py", "toy/__init__.py", "src/toy.py"])
def test_a_helper_must_not_hide_the_base(tmp_path: Path, place: str, own: str) -> None:
    head = {"benchmarks/bench_a.py": "", f"benchmarks/{place}": ""}
    with pytest.raises(UsageError, match="has the name of a module of the base, toy") as raised:
        lent(tmp_path, head, {own: ""})
    assert raised.value.hint.startswith("Rename benchmarks/toy")


def test_a_helper_may_have_the_name_of_a_module_that_is_out_of_reach(tmp_path: Path) -> None:
    head = {"benchmarks/bench_a.py": "", "benchmarks/common.py": "new"}
    head["benchmarks/conftest.py"] = "new"
    others = {"docs/tools/common/__init__.py": "old", "conftest.py": "old"}
    base = {**others, "benchmarks/common.py": "old"}
    assert lent(tmp_path, head, base) == {**head, **others}


@pytest.mark.parametrize("where", ["benchmarks", "pkg"])
@pytest.mark.parametrize(("was", "now"), EDITS)
def test_no_edit_of_a_benchmark_runs_in_place_of_the_base(
    tmp_path: Path, was: str, now: str, where: str
) -> None:
    """Whether benchgate understands the edit or not, for example by `import *` of a new helper."""
    code = {"pkg/__init__.py": "", "project.py": "code"}
    file, helper = f"{where}/bench_it.py", f"{where}/shrink.py"
    base = tree(tmp_path / "base", {**code, file: was})
    head = tree(tmp_path / "head", {**code, file: now, helper: "DATA = []"})
    before = content(head)
    laid = over(base, head, PYTHON.replace("benchmarks", where), tmp_path / "store")
    laid.lay(laid=True)
    assert (head.root / file).read_bytes() == (base.root / file).read_bytes()
    # Beside code of the project, it is code, and no text of the base imports it.
    assert content(head) == content(base) | ({helper: "DATA = []"} if where == "pkg" else {})
    works = (worked(arm, file) for arm in (base, head))
    assert next(works) == next(works)
    laid.lay(laid=False)
    assert content(head) == before


def worked(arm: Arm, file: str) -> dict[str, str]:
    """The parts of the work of the benchmark in a file, as the worker reads them."""
    path = arm.root / file
    folders = [str(path.parent), str(arm.root)]
    return Workloads(str(path), folders[0], folders).parts("bench_a", with_params=True)


# What lies at `benchmarks/words` in the other tree; a text that begins with "->" is a link.
AT_WORDS = {
    "file": {"benchmarks/words": "a file"},
    "folder": {"benchmarks/words/list.txt": "old", "benchmarks/words/more/list.txt": "old"},
    "link": {"benchmarks/words": "-> ../src/toy", "src/toy/bench_a.py": "code"},
    "link to nothing": {"benchmarks/words": "-> nowhere"},
    "nothing": {},
}


def linked(folder: Path, files: Mapping[str, str]) -> Arm:
    arm = tree(folder, {name: text for name, text in files.items() if text[:2] != "->"})
    for name, text in files.items():
        if text[:2] == "->":
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).symlink_to(text.removeprefix("-> "))
    return arm


def everything(arm: Arm) -> dict[str, str]:
    paths = (path for path in arm.root.rglob("*") if path.is_symlink() or not path.is_dir())
    return {
        path.relative_to(arm.root).as_posix(): f"-> {path.readlink()}"
        if path.is_symlink()
        else path.read_text()
        for path in paths
    }


def read_in(folder: Path) -> dict[Path, str]:
    """What a program reads there, through links, too."""
    walked = os.walk(folder, followlinks=True)
    paths = [Path(place, name) for place, _, names in walked for name in names]
    return {path.relative_to(folder): path.read_text() for path in paths if path.exists()}


@pytest.mark.parametrize("where", ["benchmarks", "pkg"])
@pytest.mark.parametrize("old", AT_WORDS)
@pytest.mark.parametrize("new", AT_WORDS)
def test_a_file_a_folder_and_a_link_replace_each_other(
    tmp_path: Path, old: str, new: str, where: str
) -> None:
    code = {"src/toy/__init__.py": "code", "pkg/__init__.py": ""}
    base, head = (
        {name.replace("benchmarks", where): text for name, text in each.items()} | code
        for each in (AT_WORDS[old], AT_WORDS[new])
    )
    config = f'[[benchmark]]\npython = "{where}"\ndata = ["{where}/words", "{where}/words/**/*"]\n'
    bench = {f"{where}/bench_a.py": ""}
    given, onto = linked(tmp_path / "head", head | bench), linked(tmp_path / "base", base | bench)
    before = everything(onto)
    laid = over(given, onto, config, tmp_path / "store")
    for _ in range(2):
        laid.lay(laid=True)
        found = everything(onto)
        assert found["src/toy/__init__.py"] == "code"
        if where == "benchmarks":
            assert read_in(onto.root / where) == read_in(given.root / where)
        laid.lay(laid=False)
        assert everything(onto) == before
    assert everything(given) == head | bench


def test_behind_a_link_that_both_trees_have_are_their_files(tmp_path: Path) -> None:
    head = {"benchmarks": "-> perf", "perf/bench_a.py": "new", "perf/bench_b.py": "both"}
    base = {"benchmarks": "-> perf", "perf/bench_a.py": "old", "perf/bench_b.py": "both"}
    given, onto = linked(tmp_path / "head", head), linked(tmp_path / "base", base)
    laid = over(given, onto, PYTHON, tmp_path / "store")
    assert laid.plan == FilePlan(given=frozenset({"perf/bench_a.py"}))
    laid.lay(laid=True)
    assert everything(onto) == head


@pytest.mark.parametrize("outside", [True, False])
def test_a_link_in_the_place_of_the_benchmarks_is_replaced(tmp_path: Path, outside: bool) -> None:  # noqa: FBT001 - a parameter of a test
    base = linked(tmp_path / "base", {"benchmarks/bench_a.py": "old", "benchmarks/x.txt": "old"})
    target = str(tmp_path / "head" / "src") if outside else "src"
    files = {"benchmarks": f"-> {target}", "src/bench_a.py": "new", "src/toy.py": "code"}
    head = linked(tmp_path / "head", files)
    laid = over(base, head, PYTHON, tmp_path / "store")
    laid.lay(laid=True)
    expected = {name: text for name, text in files.items() if name != "benchmarks"}
    assert everything(head) == {**expected, **everything(base)}
    laid.lay(laid=False)
    assert everything(head) == files


def test_nothing_outside_of_the_tree_is_touched(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "bench_own.py").write_text("mine")
    (outside / "x.txt").write_text("mine")
    base = tree(tmp_path / "base", {})
    for name in ("benchmarks", "fixtures"):
        (base.root / name).symlink_to(outside)
    files = {"benchmarks/bench_a.py": "new", "fixtures/x.txt": "new"}
    head = tree(tmp_path / "head", files)
    over(head, base, f'{PYTHON}data = ["fixtures/*"]\n', tmp_path / "store").lay(laid=True)
    kept = {path.name: path.read_text() for path in outside.iterdir()}
    assert kept == {"bench_own.py": "mine", "x.txt": "mine"}


def test_scenario_files_are_lent_but_not_what_they_name(tmp_path: Path) -> None:
    head = {"load/orders.toml": "new", "load/users.csv": "new", "schema.sql": "new"}
    base = {"load/orders.toml": "old", "load/users.csv": "old", "schema.sql": "old"}
    config = '[[benchmark]]\nscenario = "load/orders.toml"\ndata = ["load/*.csv"]\n'

    assert lent(tmp_path, head, base, config) == head | {"schema.sql": "old"}
