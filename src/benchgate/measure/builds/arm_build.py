"""The build of one arm: run now, or what the same build left before."""

from __future__ import annotations

import shlex
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from benchgate.errors import BaselineError, MeasureError, UsageError
from benchgate.measure.builds.build_key import build_key
from benchgate.measure.builds.kept_builds import About, NotKeptError, snapshot
from benchgate.measure.processes import build, last_warnings, versions, with_warnings
from benchgate.measure.sources import packages_in
from benchgate.measure.trees import is_in_use

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from benchgate.config import Build
    from benchgate.measure.arm import Arm
    from benchgate.measure.builds.kept_builds import BuildCache
    from benchgate.measure.processes import Guardian
    from benchgate.measure.trees import FileState


class ArmBuild:
    """A build of an arm, which has not begun.

    Args:
        arm: with a fresh tree, and no environment yet.
        cache: where builds are kept; None if they are not.
        guardian: ends processes that outlive benchgate.

    Attributes:
        kept: what the same build left before; None if it must run.
    """

    def __init__(
        self, arm: Arm, build: Build, cache: BuildCache | None, guardian: Guardian
    ) -> None:
        self.arm = arm
        self.build = build
        self.kept: About | None = None
        self._cache = cache if build.commands else None
        self._guardian = guardian
        self._key = ""
        self._fresh: dict[str, FileState] = {}
        self._warnings: tuple[str, ...] = ()
        if self._cache:
            tools = self._tools_before()
            self._fresh = snapshot(arm)
            self._key = build_key(arm, build, tools)
            self.kept = self._cache.find(self._key)

    @property
    def packages(self) -> tuple[str, ...]:
        """What is installed for the arm."""
        return self.kept.packages if self.kept else packages_in(self.arm)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the build warned of, also if it was run before."""
        return self.kept.warnings if self.kept else self._warnings

    def forget(self) -> None:
        """Do not use what was left before."""
        self.kept = None

    def put(self) -> bool:
        """Put what was left before in place, if there is any; return whether that was done."""
        if self.kept and snapshot(self.arm) != self._fresh:
            self.forget()  # the build of the other side has changed this one
        if self._cache is None or self.kept is None:
            return False
        try:
            self._cache.put(self._key, self.arm, self.kept)
        except OSError as error:
            raise UsageError(
                f"an earlier build cannot be put in place in {self.arm.root.parent.parent}: "
                f"{error.strerror or error}",
                hint="Free some space there, or build again with --no-cache.",
            ) from None
        return True

    def run(self) -> str:
        """Run the build, and keep what it leaves; return why it is not kept, or "".

        Raises:
            MeasureError, BaselineError: as `build`.
        """
        last, idle = snapshot(self.arm) if self._cache else {}, ""
        is_fresh = last == self._fresh
        began_s = time.monotonic()
        for command in self.build.commands:
            with self._telling_warnings():
                found = build(
                    self.arm,
                    [command],
                    timeout_s=self.build.timeout_s,
                    variables=self.build.env,
                    guardian=self._guardian,
                )
            self._warnings = last_warnings((*self._warnings, *found))
            if self._cache:
                now = snapshot(self.arm)
                idle = idle or (shlex.join(command) if now == last else "")
                last = now
        if not is_fresh:
            return "the build of the other side has changed its tree"
        return self._keep(idle, time.monotonic() - began_s)

    def toolchains(self) -> dict[str, str]:
        """Ask the tools that the build names for their versions, by the name of the tool."""
        with self._telling_warnings():
            return self._versions(self.build.toolchains)

    @contextmanager
    def _telling_warnings(self) -> Iterator[None]:
        """Add to an error what the build has warned of: that may be why something is missing."""
        try:
            yield
        except (MeasureError, BaselineError) as error:
            error.details = with_warnings(error.details, self.warnings)
            raise

    def _tools_before(self) -> dict[str, str]:
        """Ask before the build, which may be what installs a tool."""
        found: dict[str, str] = {}
        for name, command in self.build.toolchains.items():
            with suppress(MeasureError, BaselineError):
                found |= self._versions({name: command})
        return found

    def _versions(self, commands: Mapping[str, Sequence[str]]) -> dict[str, str]:
        return versions(
            self.arm,
            commands,
            timeout_s=self.build.timeout_s,
            variables=self.build.env,
            guardian=self._guardian,
        )

    def _keep(self, idle: str, took_s: float) -> str:
        if self._cache is None:
            return ""
        if idle:
            return f"`{idle}` changes nothing in the tree or in {{env}}"
        if is_in_use(self.arm.root, self.arm.env):
            return "a process that it started still runs"
        about = About(
            project=self.arm.root.name,
            sha=self.arm.sha,
            session=self._cache.session,
            built_s=time.time(),
            took_s=took_s,
            packages=packages_in(self.arm),
            warnings=self._warnings,
        )
        try:
            self._cache.keep(self._key, self.arm, self._fresh, about)
        except NotKeptError as why:
            return str(why)
        return ""


def are_alike(builds: Iterable[ArmBuild]) -> bool:
    """Whether earlier builds have the packages of the others, which may be newer.

    A difference would look like a change of the project. It is one if all were built in the same
    session.
    """
    wanted = [one for one in builds if one.build.commands]
    sessions = {one.kept.session if one.kept else "" for one in wanted}
    return len({one.packages for one in wanted}) <= 1 or (len(sessions) == 1 and "" not in sessions)
