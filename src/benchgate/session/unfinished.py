"""A check that was interrupted, and what must still be the same to go on with it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchgate import __version__
from benchgate.errors import UsageError
from benchgate.measure.arm import ArmName
from benchgate.model.result import OF_THE_BUDGET
from benchgate.model.run import CHANGED_FILES_ID, before_round
from benchgate.session.outlook import some_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from benchgate.model.environment import Environment
    from benchgate.model.result import Result
    from benchgate.model.run import BenchmarkResult, Run, Source
    from benchgate.session.session import Session

_ANEW = "`benchgate check` without --continue measures anew."


@dataclass(frozen=True, slots=True, eq=False)
class Unfinished:
    """A check that was interrupted.

    What the rest of the rounds draws depends on the seed and on the number of each round, and what
    is decided depends on the launches and on the number of rounds at each look. All of that is in
    the result. So a check that goes on decides what it would have decided without an interruption.

    Attributes:
        name: what messages call its file.
        result: what it measured; the last round may have been measured in part.
    """

    name: str
    result: Result

    @classmethod
    def of(cls, result: Result, name: str) -> Self:
        """Take a result as a check that can go on."""
        shown = f"`benchgate compare {shlex.quote(name)}` shows what it found."
        if result.base is None or result.shards or result.screening:
            raise UsageError(
                f"{name}: only a check that measures base and head in turn can go on",
                hint=_ANEW,
            )
        if result.head.complete:
            raise UsageError(
                f"{name}: this check was not interrupted, so there is nothing to continue",
                hint=shown,
            )
        if result.tool != f"benchgate {__version__}":
            raise UsageError(
                f"{name}: {result.tool} began this check, and this is benchgate {__version__}",
                hint=_ANEW,
            )
        return cls(name, result)

    @property
    def seed(self) -> int:
        """What determines all random choices."""
        return self.result.head.seed

    @property
    def full_rounds(self) -> int:
        """How many rounds were measured to their end."""
        return self.result.head.full_rounds

    @property
    def spent_s(self) -> float:
        """How much of the budget is spent."""
        return sum(one.seconds for one in self.result.phases if one.phase in OF_THE_BUDGET)

    def until(self, rounds: int) -> Result:
        """What it had measured after this many rounds."""
        runs = {arm: _until(run, rounds) for arm, run in self._runs().items()}
        return replace(self.result, base=runs[ArmName.BASE], head=runs[ArmName.HEAD])

    def require_code(self, sources: Mapping[ArmName, Source]) -> None:
        """Compare the code of both sides."""
        for arm, run in self._runs().items():
            before, now = run.source, sources[arm]
            if before.sha != now.sha:
                raise UsageError(
                    f"{self.name}: the {arm} was {_short(before)}, and now it is {_short(now)}",
                    hint=f"Name the base with `--against {_short(before)}`. {_ANEW}"
                    if arm is ArmName.BASE
                    else f"Check out {_short(before)}. {_ANEW}",
                )
            if before.content != now.content:
                raise UsageError(
                    f"{self.name}: the uncommitted changes are not those that it measured",
                    hint=_ANEW,
                )

    def require_settings(self, screen_rounds: int, seed: int, *, until_decided: bool) -> None:
        """Compare the settings that decide how many rounds there are at each look."""
        then = self.result.head
        for name, before, now in (
            ("screen_rounds", then.screen_rounds, screen_rounds),
            ("seed", then.seed, seed),
            ("--until-decided", then.until_decided, until_decided),
        ):
            if before != now:
                raise UsageError(
                    f"{self.name}: {name} was {_said(before)}, and now it is {_said(now)}",
                    hint=f"Give the same options as then. {_ANEW}",
                )

    def require_machine(self, environments: Mapping[ArmName, Environment]) -> None:
        """Compare the machine and the toolchains."""
        for arm, run in self._runs().items():
            if differences := run.environment.differences(environments[arm]):
                raise UsageError(
                    f"{self.name}: it began on another machine, or with other tools: "
                    f"{'; '.join(differences)}",
                    hint=_ANEW,
                )

    def restore(self, session: Session) -> tuple[str, ...]:
        """Let a session go on with what was measured of the same benchmarks.

        Returns:
            Warnings for the result.
        """
        runs = self._runs()
        earlier = {
            arm: {one.id: one for one in run.benchmarks if one.id != CHANGED_FILES_ID}
            for arm, run in runs.items()
        }
        unread = {one.id for one in session.unread}
        for arm, known in earlier.items():
            now = {
                one.own_id: one.workload
                for one in session.definitions(arm)
                if one.id not in session.hidden
            }
            for id_, one in known.items():
                if id_ not in now.keys() | unread:
                    raise self._other_benchmarks(f"{id_} of the {arm} is not measured now")
                if id_ in now and one.workload != now[id_]:
                    raise self._other_benchmarks(f"{id_} of the {arm} is another one now")
        if not self.full_rounds:
            return ()
        begun = {
            one.id
            for arm in session.arms
            for one in session.definitions(arm)
            if one.own_id in earlier[arm]
        }
        new = [id_ for id_ in session.ids if id_ not in begun]
        session.leave_out(new)
        session.restore(
            {
                arm: tuple(_until_round(one, self.full_rounds) for one in known.values())
                for arm, known in earlier.items()
            },
            self.full_rounds,
        )
        said = [f"this check was interrupted in round {self.full_rounds + 1}, and continued"]
        if new:
            said.append(
                f"not continued, because the check began without them or skipped them: "
                f"{some_of(new)}"
            )
        return tuple(said)

    def _other_benchmarks(self, what: str) -> UsageError:
        return UsageError(
            f"{self.name}: the benchmarks are not those that it began with: {what}",
            hint=f"Give the same options as then. {_ANEW}",
        )

    def _runs(self) -> dict[ArmName, Run]:
        runs = {ArmName.BASE: self.result.base, ArmName.HEAD: self.result.head}
        return {arm: run for arm, run in runs.items() if run is not None}


def _until(run: Run, rounds: int) -> Run:
    return replace(run, benchmarks=tuple(_until_round(one, rounds) for one in run.benchmarks))


def _until_round(one: BenchmarkResult, rounds: int) -> BenchmarkResult:
    """Leave out later launches; a metric without any others was first measured in one of these."""
    series = tuple(
        replace(each, launches=kept)
        for each in one.series
        if (kept := before_round(each.launches, rounds))
    )
    load = one.load and replace(one.load, launches=before_round(one.load.launches, rounds))
    return replace(one, series=series, load=load)


def _short(source: Source) -> str:
    return (source.sha or "")[:12]


def _said(value: object) -> str:
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)
