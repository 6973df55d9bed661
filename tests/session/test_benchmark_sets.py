"""With whose files each benchmark is measured, from what engines find with either side's files."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchgate.measure.arm import ArmName
from benchgate.measure.contract.engine import ignore
from benchgate.measure.contract.found import Definition, Discovery, DiscoveryFailure
from benchgate.measure.sources.bench_files import search_of
from benchgate.measure.trees.file_plan import FilePlan
from benchgate.measure.trees.laying import LaidTree, Laying
from benchgate.model.run import BenchmarkFiles, Tier
from benchgate.session.benchmark_sets import EDITED, Attempt, FoundSet, SetFinder, Tables
from benchgate.session.explainer import Explainer

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from benchgate.measure.contract.observation import Observation

BASE, HEAD, OWN = BenchmarkFiles.BASE, BenchmarkFiles.HEAD, BenchmarkFiles.OWN
SIDES = (ArmName.BASE, ArmName.HEAD)

Side = dict[str, str]
"""Benchmarks by id: their work; or, by the id of a file, "!" and the error of reading it."""


@dataclass
class FakeEngine:
    """Finds what one set of files defines on each side."""

    sides: Mapping[ArmName, Side]
    kind: str = "python"
    suite: str = ""

    def discover(self) -> Discovery:
        failures = tuple(
            DiscoveryFailure(arm, id_, work[1:])
            for arm, side in self.sides.items()
            for id_, work in side.items()
            if work.startswith("!")
        )
        found = {
            arm: tuple(
                Definition(id_, work, Tier.LOCKSTEP, kind=self.kind, suite=self.suite)
                for id_, work in side.items()
                if not work.startswith("!")
            )
            for arm, side in self.sides.items()
        }
        return Discovery(found, failures)

    def measure_round(
        self,
        ids: Sequence[str],
        rng: random.Random,
        round_index: int,
        starting: Callable[[str], None] = ignore,
    ) -> Iterator[Observation]:
        raise NotImplementedError

    def close(self) -> None: ...


@dataclass
class Scene:
    """Two sides whose benchmark files differ.

    Attributes:
        of_base, of_head: what the files of the base and of the head define on each side.
        failing: for each side and set the errors of benchmarks that are tried.
        laid: what was laid, in order.
    """

    of_base: tuple[Side, Side]
    of_head: tuple[Side, Side]
    failing: dict[tuple[ArmName, BenchmarkFiles], dict[str, str]] = field(default_factory=dict)
    without_own_code: frozenset[str] = frozenset()
    aliases: dict[str, str] = field(default_factory=dict)
    kind: str = "python"
    compiled: tuple[str, ...] = ()
    suite: str = ""
    scripts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    is_common: bool = False
    edits: frozenset[str] = frozenset()
    laid: list[BenchmarkFiles] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    tried: list[tuple[ArmName, BenchmarkFiles, set[str]]] = field(default_factory=list)

    def find(self) -> dict[str, tuple[BenchmarkFiles, Mapping[ArmName, Definition], str]]:
        """By id: whose files run, the definitions by side, and what the engine calls it."""
        benchmarks = (search_of(("benchmarks",)),)
        none = Path("none")
        trees = {arm: LaidTree(none, none, FilePlan(), none) for arm in SIDES}
        for tree in trees.values():
            tree.plan = FilePlan(self.edits)
        is_common = self.is_common or bool(self.compiled)
        common, apart = (benchmarks, ()) if is_common else ((), benchmarks)
        laying = Laying(common, apart, apart, trees, self.compiled, self.scripts)
        finder = SetFinder(
            laying,
            self.laid.append,
            self.make,
            self.attempt,
            self.aliases,
            Explainer(),
            self.told.append,
        )
        self.found = finder.find_by_base()
        every: dict[str, tuple[BenchmarkFiles, dict[ArmName, Definition], str]] = {}
        for found in self.found:
            for arm, definitions in found.discovery.found.items():
                for one in definitions:
                    assert found.files in {one.files, OWN}
                    own = found.names.get(one.id, one.id)
                    known = every.setdefault(one.id, (one.files, {}, own))
                    assert known[0] is one.files
                    known[1][arm] = one
        return dict(every)

    @property
    def failures(self) -> list[tuple[ArmName, str]]:
        return [(one.arm, one.id) for each in self.found for one in each.discovery.failures]

    def make(self, tables: Tables, unable: Collection[str]) -> list[FakeEngine]:
        if not tables.base:
            return []
        if tables.files is OWN:
            own = (self.of_base[0], self.of_head[1])
            return [FakeEngine(dict(zip(SIDES, own, strict=True)), self.kind, self.suite)]
        base, head = self.of_base if tables.files is BASE else self.of_head
        able = {id_: work for id_, work in base.items() if id_ not in unable}
        return [FakeEngine(dict(zip(SIDES, (able, head), strict=True)), self.kind, self.suite)]

    def attempt(self, arm: ArmName, tables: Tables, ids: Collection[str]) -> Attempt:
        assert self.laid[-1] is tables.files
        self.tried.append((arm, tables.files, set(ids)))
        errors = self.failing.get((arm, tables.files), {})
        assert errors.keys() <= set(ids)
        return Attempt(errors, self.without_own_code)


def notes(definitions: Mapping[ArmName, Definition]) -> str:
    return " ".join(note for one in definitions.values() for note in one.notes)


def test_the_version_of_the_base_decides_and_that_of_the_head_is_shown() -> None:
    old, new = {"a": "old", "b": "same"}, {"a": "new", "b": "same"}
    found = Scene((old, old), (new, new)).find()
    assert {id_: files for id_, (files, _, _) in found.items()} == {
        "a": BASE,
        "b": BASE,
        "a (new version)": HEAD,
    }
    _, sides, own = found["a (new version)"]
    assert own == "a"
    assert {one.new_version_of for one in sides.values()} == {"a"}
    assert EDITED in notes(found["a"][1])
    assert not notes(found["b"][1])


def test_a_data_file_that_no_benchmark_names_may_concern_all() -> None:
    same = {"a": "same"}
    scene = Scene((same, same), (same, same), edits=frozenset({"benchmarks/words.txt"}))
    assert scene.find().keys() == {"a", "a (new version)"}
    scene.edits = frozenset({"benchmarks/helper.py"})
    assert scene.find().keys() == {"a"}


def test_what_only_the_head_has_runs_on_both_sides_if_it_can() -> None:
    scene = Scene(
        ({"a": "x"}, {"a": "x"}),
        ({"a": "x", "b": "y", "c": "z"}, {"a": "x", "b": "y", "c": "z", "late": "w"}),
        failing={(ArmName.BASE, HEAD): {"c": "TypeError: no"}},
    )
    found = scene.find()
    assert {id_: files for id_, (files, _, _) in found.items()} == {
        "a": BASE,
        **dict.fromkeys(["b", "c", "late"], HEAD),
    }
    assert found["b"][1].keys() == set(SIDES)
    assert found["c"][1].keys() == found["late"][1].keys() == {ArmName.HEAD}
    assert notes(found["c"][1]) == "it does not run on the base: TypeError: no"
    assert scene.tried[0] == (ArmName.BASE, HEAD, {"b", "c"})


def test_a_file_of_the_head_that_the_base_cannot_import_is_new() -> None:
    error = "!ImportError: cannot import name 'added'"
    scene = Scene(({"a/x": "x"}, {"a/x": "x"}), ({"b": error}, {"b/y": "y", "a/x": "x"}))
    found = scene.find()
    assert notes(found["b/y"][1]) == f"it does not run on the base: {error[1:]}"
    assert scene.failures == []


def test_if_the_version_of_the_base_does_not_run_each_side_runs_its_own() -> None:
    old, new = {"a": "old", "b": "old"}, {"a": "new", "b": "new"}
    scene = Scene(
        (old, old), ({}, new), failing={(ArmName.HEAD, BASE): {"a": "TypeError: missing"}}
    )
    found = scene.find()
    files, sides, _ = found["a"]
    assert files is OWN
    assert (sides[ArmName.BASE].workload, sides[ArmName.HEAD].workload) == ("old", "new")
    assert "the base's version does not run on the head (TypeError: missing)" in notes(sides)
    assert "a (new version)" not in found
    assert found["b"][0] is BASE


def test_a_file_of_the_base_that_the_head_cannot_import_is_run_in_both_versions() -> None:
    scene = Scene(({"f/a": "old"}, {"f": "!ImportError: gone"}), ({}, {"f/a": "new"}))
    files, sides, _ = scene.find()["f/a"]
    assert (files, len(sides)) == (OWN, 2)
    assert "ImportError: gone" in notes(sides)
    assert scene.failures == []


def test_a_program_that_the_files_of_the_base_break_costs_no_unedited_benchmark() -> None:
    old, new = {"f/a": "old", "f/b": "same"}, {"f/a": "new", "f/b": "same"}
    scene = Scene((old, {"f": "!undefined: x"}), ({"f": "!undefined: y"}, new), kind="go")
    found = scene.find()
    assert {id_: files for id_, (files, _, _) in found.items()} == {"f/a": OWN, "f/b": BASE}
    assert "the base's version does not run on the head (undefined: x)" in notes(found["f/a"][1])
    assert not notes(found["f/b"][1])
    scene.edits = frozenset({"benches/f.rs"})  # nobody knows which of them that edits
    assert notes(scene.find()["f/b"][1])


def test_what_build_compiles_from_edited_sources_is_told_before_it_is_measured() -> None:
    same = {"f/a": "same", "f/b": "other"}
    scene = Scene((same, same), ({}, {}), kind="cpp", compiled=("a.cc", "b.cc"))
    (sides,) = {notes(sides) for _, sides, _ in scene.find().values()}
    assert sides.startswith("a.cc and 1 more differs between base and head, and [build] has ")
    assert len(scene.told) == 1


@pytest.mark.parametrize("is_common", [True, False])
def test_an_edited_script_of_a_suite_is_told(*, is_common: bool) -> None:
    old, new = {"a": "old"}, {"a": "old" if is_common else "new"}
    scene = Scene((old, old), (new, new), suite="s", is_common=is_common)
    assert "run.py" not in notes(scene.find()["a"][1])
    scene.scripts = {"s": ("run.py",), "other": ("x.py",)}
    said = notes(scene.find()["a"][1])
    assert "run.py differs between base and head, and each side runs its own; if `data` na" in said
    assert said.startswith(f"{EDITED}; ") is not is_common
    (told,) = scene.told
    assert told.startswith("run.py differs between base and head")


def test_what_cannot_be_compared_is_told_before_it_is_measured() -> None:
    old, new = {"f/a": "old", "f/b": "same"}, {"f/a": "new", "f/b": "same"}
    scene = Scene((old, new), ({}, {}), kind="worker", is_common=True)
    assert scene.find().keys() == {"f/a", "f/b"}
    (told,) = scene.told
    assert told.startswith("f/a cannot be compared: the work differs between base and head")


def test_a_benchmark_that_runs_no_code_of_the_project_is_run_in_both_versions() -> None:
    old, new = {"a": "old"}, {"a": "new"}
    found = Scene((old, old), (new, new), without_own_code=frozenset({"a"})).find()
    assert found["a"][0] is OWN


def test_what_the_head_deletes_is_on_the_base_alone() -> None:
    old = {"a": "x", "b": "y"}
    found = Scene((old, old), ({}, {"a": "x"})).find()
    assert found["b"][1].keys() == {ArmName.BASE}


def test_what_was_renamed_without_an_alias_is_told() -> None:
    old = {"a": "x", "b": "y", "c": "z"}
    found = Scene((old, old), ({}, {"new": "x", "d": "z", "e": "z"})).find()
    said = 'the head has the same benchmark as new: if you renamed it, add "a" = "new" to [aliases]'
    assert notes(found["a"][1]) == said
    assert not notes(found["b"][1])
    assert not notes(found["c"][1])


def test_a_file_that_the_head_breaks_has_failed_and_the_base_still_decides() -> None:
    old = {"f/a": "x"}
    scene = Scene((old, old), ({"f": "!SyntaxError"}, {"f": "!SyntaxError"}))
    found = scene.find()
    assert found["f/a"][0] is BASE
    assert found["f/a"][1].keys() == set(SIDES)
    assert scene.failures == [(ArmName.HEAD, "f")]


def test_a_renamed_benchmark_runs_under_its_old_name() -> None:
    old, new = {"old": "x"}, {"new": "x"}
    found = Scene((old, old), (new, new), aliases={"old": "new"}).find()
    files, sides, own = found["new"]
    assert (files, own, len(found)) == (BASE, "old", 1)
    assert (sides[ArmName.BASE].own_id, sides[ArmName.HEAD].own_id) == ("old", "new")


def test_a_file_that_fails_on_both_sides_with_the_files_of_the_base_is_an_old_failure() -> None:
    broken = {"f": "!SyntaxError"}
    scene = Scene((broken, broken), ({"f/a": "x"}, {"f/a": "x"}))
    assert scene.find()["f/a"][0] is HEAD
    assert scene.failures == [(ArmName.BASE, "f")]


def test_names_are_translated_for_the_engine_and_back() -> None:
    found = FoundSet(FakeEngine({}), Discovery({}), names={"new": "old"})
    assert (found.own(["new", "b"]), found.public(["old", "b"])) == (["old", "b"], ["new", "b"])
