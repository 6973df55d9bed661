"""Finds the benchmarks of both sides, and decides with whose files each of them is measured.

The base's version of a benchmark decides. What only the head has is measured with the head's
files, and so is, beside it, the head's version of a benchmark that the head edits. A benchmark
whose base version does not run on the head is measured with each side's own files.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from benchgate.gate.evidence import files_of
from benchgate.gate.other_files import TOGETHER
from benchgate.measure.arm import ArmName
from benchgate.measure.contract import Discovery, tasks_of
from benchgate.measure.languages import LANGUAGES
from benchgate.model.run import NEW_VERSION, BenchmarkFiles, renamed
from benchgate.session.explainer import Explainer

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from benchgate.config import Benchmark
    from benchgate.measure.contract import (
        Definition,
        DiscoveryFailure,
        Division,
        Engine,
        Observation,
        Task,
    )
    from benchgate.measure.trees import Laying

EDITED: Final = "the pull request edits this benchmark; its new version counts after the merge"
"""The note on a benchmark whose head version differs from the base's, which decides."""

UNABLE: Final = "it does not run on the base"
"""How the note begins on a benchmark of the head that fails on the base."""

_VACUOUS = (
    "neither version runs code of the project outside of the benchmark's own files; move what it "
    "measures into a module of the project"
)
_DIFFERING = (
    "{} cannot be compared: the work differs between base and head, and the base's version cannot "
    "run on the head, because [build] or the benchmark's own command makes it"
)
_COMPILED_APART = (
    "{} differs between base and head, and [build] has compiled the benchmarks of each side from "
    "its own version"
)
_SCRIPT_APART = (
    "{} differs between base and head, and each side runs its own; if `data` names it, both run "
    "the same"
)
# Of these kinds, all benchmarks of a program fail if one file of it cannot be compiled.
_COMPILED = frozenset(kind for kind, one in LANGUAGES.items() if one.FAILS_AS_A_WHOLE)
_BUILT_BEFORE = frozenset(kind for kind, one in LANGUAGES.items() if one.BUILT_BEFORE)
_AS_IT_IS = Explainer()
_OTHER_ID = "the base's files do not define it there"
_MOVED = 'the head has the same benchmark as {0}: if you renamed it, add "{1}" = "{0}" to [aliases]'


@dataclass(slots=True, eq=False)
class FoundSet:
    """What an engine found.

    Attributes:
        files: whose benchmark files lie in the trees when it measures.
        discovery: under the names that the result gives the benchmarks.
        names: by such a name, what the engine calls the benchmark, if that differs.
        explain: words what the engine observes.
    """

    engine: Engine
    discovery: Discovery
    files: BenchmarkFiles = BenchmarkFiles.OWN
    names: Mapping[str, str] = field(default_factory=dict)
    explain: Explainer = field(default_factory=Explainer)
    _public: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self._public = {name: id_ for id_, name in self.names.items()}

    def own(self, ids: Iterable[str]) -> list[str]:
        """What the engine calls some benchmarks."""
        return [self.names.get(id_, id_) for id_ in ids]

    def public(self, own: Iterable[str]) -> list[str]:
        """What the result calls benchmarks of the engine."""
        return [self._public.get(name, name) for name in own]

    def named(self, observation: Observation) -> Observation:
        """An observation of the engine in words for readers, and under the result's name."""
        [id_] = self.public([observation.benchmark])
        return replace(self.explain.observation(observation), benchmark=id_)

    def told(self, starting: Callable[[str], None]) -> Callable[[str], None]:
        """What the engine is to call in place of a function that wants the result's names."""
        return lambda name: starting(self.public([name])[0])

    def tasks(
        self, ids: Sequence[str], rng: random.Random, round_index: int, division: Division
    ) -> list[Task]:
        """Divide a round of the engine, with the result's names; see `contract.tasks_of`."""
        costs_s = {self.names.get(id_, id_): cost_s for id_, cost_s in division.costs_s.items()}
        own = replace(division, costs_s=costs_s)
        tasks = tasks_of(self.engine, self.own(ids), rng, round_index, own)
        return [
            replace(task, ids=tuple(self.public(task.ids)), run=partial(self._run, task))
            for task in tasks
        ]

    def _run(
        self, task: Task, cpu: int | None, starting: Callable[[str], None]
    ) -> Iterator[Observation]:
        yield from map(self.named, task.run(cpu, self.told(starting)))


def found_by(
    engines: Iterable[Engine],
    explain: Explainer = _AS_IT_IS,
    files: BenchmarkFiles = BenchmarkFiles.OWN,
) -> Iterator[FoundSet]:
    """Let each engine find its benchmarks."""
    return (
        FoundSet(engine, explain.discovery(engine.discover()), files, explain=explain)
        for engine in engines
    )


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables [[benchmark]] that engines are made for, and whose files they run with."""

    files: BenchmarkFiles
    base: Sequence[Benchmark]
    head: Sequence[Benchmark]
    has_canary: bool = False


@dataclass(frozen=True, slots=True)
class Attempt:
    """What running benchmarks once on one side has shown.

    Attributes:
        errors: the error by id, of those that fail.
        without_own_code: those that ran no code of the side outside of their own files.
    """

    errors: Mapping[str, str]
    without_own_code: Collection[str]


@dataclass(frozen=True, slots=True)
class SetFinder:
    """Finds the benchmarks of two sides.

    Attributes:
        laying: what differs between the sides' benchmarks.
        lay: lays the files of one side over both trees, or each side's own.
        make: makes engines for tables, without the base's benchmarks of the given ids.
        attempt: tries the benchmarks of the given ids on one side.
        aliases: old id to new id.
        explain: words what engines say.
        tell: tells the user what will happen.
    """

    laying: Laying
    lay: Callable[[BenchmarkFiles], None]
    make: Callable[[Tables, Collection[str]], Sequence[Engine]]
    attempt: Callable[[ArmName, Tables, Collection[str]], Attempt]
    aliases: Mapping[str, str]
    explain: Explainer
    tell: Callable[[str], None]

    def find_by_head(self) -> list[FoundSet]:
        """Find the head's benchmarks, and which of them run on the base."""
        every = (*self.laying.common, *self.laying.of_head)
        tables = Tables(BenchmarkFiles.HEAD, every, every, has_canary=True)
        found = self._discover(tables)
        found, unable = self._able(tables, found, _definitions(found, ArmName.HEAD))
        notes = self._note_scripts(found, unable)
        return [_kept(one, notes=notes, failures_of=[ArmName.HEAD]) for one in found]

    def find_by_base(self) -> list[FoundSet]:
        """Find the base's benchmarks, what only the head has, and what the head edits."""
        laying = self.laying
        common = Tables(BenchmarkFiles.BASE, laying.common, laying.common, has_canary=True)
        alike = self._discover(common)
        notes = self._note_scripts(alike, self._note_compiled(alike))
        found = [_kept(one, notes=notes, failures_of=list(ArmName)) for one in alike]
        self._tell_differing(found)
        if not (laying.of_base or laying.of_head):
            return found
        of_base = Tables(BenchmarkFiles.BASE, laying.of_base, laying.of_base)
        of_head = Tables(BenchmarkFiles.HEAD, laying.of_head, laying.of_head)
        by_base, by_head = self._discover(of_base), self._discover(of_head)
        base, on_head = (_definitions(by_base, arm) for arm in (ArmName.BASE, ArmName.HEAD))
        head = _definitions(by_head, ArmName.HEAD)
        new_ids = renamed(base, head, self.aliases)
        ids = {old: new_ids.get(old, old) for old in base}
        fresh = head.keys() - ids.values()
        edited = {
            new
            for old, new in ids.items()
            if old in on_head and new in head and self._is_edited(base[old], head[new])
        }
        by_head, unable = self._able(of_head, by_head, fresh | edited)
        together = self._changed_together(of_base, by_base, ids, head, edited)
        unread = _failures(by_head, ArmName.HEAD)
        deleted = {new for new in ids.values() if new not in head and not _covering(unread, new)}

        def by_base_as(one: Definition, arm: ArmName) -> str:
            new = ids.get(one.id, "")
            return "" if new in together or (arm is ArmName.HEAD and new in deleted) else new

        def by_head_as(one: Definition, _arm: ArmName) -> str:
            if one.id in fresh:
                return one.id
            return one.id + NEW_VERSION if one.id in edited - together.keys() else ""

        notes = dict.fromkeys(edited, EDITED) | _moved(
            [base[id_] for id_ in base.keys() & deleted], [head[id_] for id_ in fresh]
        )
        notes = self._note_scripts(by_base, notes)
        of_base_only, of_head_only = [ArmName.BASE], [ArmName.HEAD]
        found += [_kept(x, by_base_as, notes=notes, failures_of=of_base_only) for x in by_base]
        found += [_kept(x, by_head_as, notes=unable, failures_of=of_head_only) for x in by_head]
        if together:
            own = self._discover(Tables(BenchmarkFiles.OWN, laying.of_base, laying.of_head))
            found += [
                _kept(
                    one,
                    lambda each, _: each.id if each.id in together else "",
                    notes=together,
                    of_base={id_ for id_, note in together.items() if not note},
                )
                for one in own
            ]
        return found

    def _is_edited(self, base: Definition, head: Definition) -> bool:
        # Nobody knows which of them read a file that no `data` names.
        return self.laying.edits_data or head.workload != base.workload

    def _note_compiled(self, found: Sequence[FoundSet]) -> dict[str, str]:
        """Say that each side runs its own version of edited benchmarks in C++."""
        if not self.laying.compiled:
            return {}
        note = _COMPILED_APART.format(_some(self.laying.compiled))
        self.tell(note)
        of_all = (one for arm in ArmName for one in _definitions(found, arm).values())
        return {one.id: note for one in of_all if one.kind in _BUILT_BEFORE}

    def _note_scripts(
        self, found: Sequence[FoundSet], notes: Mapping[str, str]
    ) -> Mapping[str, str]:
        """Say, beside other notes, that each side runs its own version of a suite's script."""
        said = {
            title: _SCRIPT_APART.format(_some(names))
            for title, names in self.laying.scripts.items()
        }
        every = (one for arm in ArmName for one in _definitions(found, arm).values())
        own = {one.id: said[one.suite] for one in every if one.suite in said}
        for note in dict.fromkeys(own.values()):
            self.tell(note)
        return {
            **notes,
            **{id_: "; ".join(filter(None, (notes.get(id_), note))) for id_, note in own.items()},
        }

    def _tell_differing(self, found: Sequence[FoundSet]) -> None:
        """Say what cannot be compared, because the base's version cannot run on the head."""
        base, head = (_definitions(found, arm) for arm in ArmName)
        differing = [
            id_ for id_ in base.keys() & head.keys() if base[id_].workload != head[id_].workload
        ]
        if differing:
            self.tell(_DIFFERING.format(_some(sorted(differing))))

    def _discover(self, tables: Tables, unable: Collection[str] = ()) -> list[FoundSet]:
        self.lay(tables.files)
        return list(found_by(self.make(tables, unable), self.explain, tables.files))

    def _able(
        self, tables: Tables, found: list[FoundSet], ids: Collection[str]
    ) -> tuple[list[FoundSet], Mapping[str, str]]:
        """Leave benchmarks of the head out of the base if they do not run there.

        Args:
            ids: those that are to run there.

        Returns:
            The rest, and by id a note on each that is left out.
        """
        on_base = _definitions(found, ArmName.BASE)
        unread = _failures(found, ArmName.BASE)
        why = {id_: one.error for id_ in ids if (one := _covering(unread, id_))}
        self.lay(tables.files)
        tried = self.attempt(ArmName.BASE, tables, on_base.keys() & ids)
        if tried.errors:
            found = self._discover(tables, tried.errors.keys())
        errors = {**why, **tried.errors}
        return found, {id_: f"{UNABLE}: {_line(error)}" for id_, error in errors.items()}

    def _changed_together(
        self,
        tables: Tables,
        by_base: Sequence[FoundSet],
        ids: Mapping[str, str],
        head: Mapping[str, Definition],
        edited: Collection[str],
    ) -> dict[str, str]:
        """Find what each side must run in its own version; return by id a note that says why.

        The note is empty if both versions are the same, and only other code in their program keeps
        the base's from being built on the head.
        """
        on_base, on_head = (_definitions(by_base, arm) for arm in (ArmName.BASE, ArmName.HEAD))
        unread = _failures(by_base, ArmName.HEAD)
        self.lay(tables.files)
        tried = self.attempt(
            ArmName.HEAD, tables, [old for old, new in ids.items() if new in edited]
        )
        found = {}
        for old, new in ids.items():
            failure = _covering(unread, old)
            if new not in head or (failure and failure.of_all):
                continue
            error = tried.errors.get(old)
            if old not in on_head:
                error = failure.error if failure else _OTHER_ID
            is_same = on_base[old].workload == head[new].workload and not self.laying.edits_data
            if error is not None and is_same and on_base[old].kind in _COMPILED:
                found[new] = ""
            elif error is not None:
                why = f"the base's version does not run on the head ({_line(error)})"
                found[new] = f"{TOGETHER}: {why}"
            elif old in tried.without_own_code:
                found[new] = f"{TOGETHER}: {_VACUOUS}"
        return found


def _some(names: Sequence[str]) -> str:
    return f"{names[0]} and {len(names) - 1} more" if len(names) > 1 else names[0]


def _line(error: str) -> str:
    return error.partition("\n")[0]


def _definitions(found: Iterable[FoundSet], arm: ArmName) -> dict[str, Definition]:
    return {one.id: one for each in found for one in each.discovery.found.get(arm, ())}


def _failures(found: Iterable[FoundSet], arm: ArmName) -> list[DiscoveryFailure]:
    return [one for each in found for one in each.discovery.failures if one.arm is arm]


def _moved(gone: Iterable[Definition], fresh: Iterable[Definition]) -> dict[str, str]:
    """Note on each benchmark that is gone which new one has the same definition, if it is one."""
    alike: dict[str, list[str]] = {}
    for one in fresh:
        alike.setdefault(one.workload, []).append(one.id)
    pairs = {one.id: alike.get(one.workload, []) for one in gone}
    return {id_: _MOVED.format(new[0], id_) for id_, new in pairs.items() if len(new) == 1}


def _covering(failures: Iterable[DiscoveryFailure], id_: str) -> DiscoveryFailure | None:
    """The failure that stands for the file or function of a benchmark, if there is one."""
    places = {id_, *files_of(id_)}
    return next((one for one in failures if one.id in places), None)


def _kept(
    found: FoundSet,
    name_of: Callable[[Definition, ArmName], str] = lambda one, _: one.id,
    *,
    notes: Mapping[str, str] = MappingProxyType({}),
    failures_of: Collection[ArmName] = (),
    of_base: Collection[str] = (),
) -> FoundSet:
    """Keep a part of what an engine found, under other names.

    Args:
        name_of: the name of a benchmark in the result; "" to leave it out.
        notes: by the id in the head; on its definition there, or on the base's if there is none.
        failures_of: the sides whose failures count; a side's own files tell those of the other.
        of_base: those whose version is the base's, whichever files lie in the trees.
    """
    named = {
        arm: {name: one for one in definitions if (name := name_of(one, arm))}
        for arm, definitions in found.discovery.found.items()
    }
    on_head = named.get(ArmName.HEAD, {})
    kept = {
        arm: tuple(
            _as(
                one,
                name,
                arm,
                BenchmarkFiles.BASE if name in of_base else found.files,
                notes if one is on_head.get(name, one) else {},
            )
            for name, one in of_arm.items()
        )
        for arm, of_arm in named.items()
    }
    every = [pair for of_arm in named.values() for pair in of_arm.items()]
    names = {name: one.id for name, one in every if name != one.id}
    failures = tuple(
        one
        for one in found.discovery.failures
        if one.arm in failures_of or (one.of_all and failures_of)
    )
    discovery = replace(found.discovery, found=kept, failures=failures)
    return replace(found, discovery=discovery, names=names)


def _as(
    one: Definition, name: str, arm: ArmName, files: BenchmarkFiles, notes: Mapping[str, str]
) -> Definition:
    version_of = name.removesuffix(NEW_VERSION) if files is BenchmarkFiles.HEAD else name
    note = notes.get(version_of)
    is_renamed = arm is ArmName.BASE and name != one.id and version_of == name
    return replace(
        one,
        id=name,
        notes=(note, *one.notes) if note else one.notes,
        renamed_from=one.id if is_renamed else one.renamed_from,
        files=files,
        new_version_of=version_of if version_of != name else None,
    )
