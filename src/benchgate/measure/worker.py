"""benchgate's side of a worker: asks it for steps and samples, and checks whose code it runs.

See `_worker/__main__.py` for the protocol.

A worker's process also runs the user's code, which may write to any descriptor by mistake. So a
reply in a wrong format counts as a failure of the benchmark.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchgate.measure.engine import MEASURES
from benchgate.measure.worker_process import (
    ForeignModuleError,
    WorkerFailedError,
    WorkerProcess,
    WorkerSkippedError,
)
from benchgate.model.run import LARGEST
from benchgate.stats.timer import Timer, timer
from benchgate.units import TIME_UNITS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchgate.measure.engine import Arm
    from benchgate.measure.guardian import Guardian
    from benchgate.measure.memory_layout import Layout
    from benchgate.measure.own_code import ProvidedModules


if TYPE_CHECKING:
    Check = Callable[[object], bool]

_LARGEST = 2**63
_MOST_DIGITS = 19  # of a number below that


def read_reply(step: str, line: bytes) -> dict[str, Any] | None:
    """Read the reply to a step; None if its format is wrong.

    Args:
        step: the step that was requested; "sample" for a line that is not two numbers.
    """
    try:
        reply = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(reply, dict):
        return None
    fields = _ERROR if "error" in reply else _FIELDS.get(step)
    return reply if fields is not None and _has_fields(fields)(reply) else None


def read_pid(line: bytes) -> int | None:
    """Read the process id of a worker; None if the format is wrong."""
    if not line.isdigit() or len(line) > _MOST_DIGITS:
        return None
    pid = int(line)
    return pid if 0 < pid < _LARGEST else None


def read_sample(line: bytes) -> tuple[int, int] | None:
    """Read the wall and CPU time of a sample, in nanoseconds; None if the format is wrong."""
    try:
        wall_ns, cpu_ns = map(int, line.split())
    except ValueError:
        return None
    return (wall_ns, cpu_ns) if _is_whole(wall_ns) and _is_whole(cpu_ns) else None


def _is(*kinds: type) -> Check:
    return lambda value: isinstance(value, kinds)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LARGEST


def _is_number(value: object) -> bool:
    return isinstance(value, float) and abs(value) <= LARGEST  # False for NaN


def _at_least(least: int) -> Check:
    return lambda value: isinstance(value, int) and _is_whole(value) and value >= least


def _if_any(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _list_of(check: Check) -> Check:
    return lambda value: isinstance(value, list) and all(map(check, value))


def _table_of(check: Check) -> Check:
    return lambda value: isinstance(value, dict) and all(map(check, value.values()))


def _has_fields(fields: Mapping[str, Check]) -> Check:
    def check(value: object) -> bool:
        return isinstance(value, dict) and all(
            name in value and is_right(value[name]) for name, is_right in fields.items()
        )

    return check


def _is_pair(value: object) -> bool:
    return _list_of(_is(str))(value) and isinstance(value, list) and len(value) == 2


def _is_companion(value: object) -> bool:
    return value in {"threads", "processes"} if isinstance(value, str) else False


_ERROR: Mapping[str, Check] = {"error": _is(str), "trace": _is(str)}
_ORIGINS: Mapping[str, Check] = {
    "foreign": _list_of(_is_pair),
    "elsewhere": _list_of(_is_pair),
    "packages": _list_of(_is_pair),
    "shared": _list_of(_is(str)),
    "has_own": _is(bool),
    "own": _list_of(_is_pair),
}
_BENCHMARK: Mapping[str, Check] = {
    "id": _is(str),
    "file": _is(str),
    "parts": _table_of(_is(str)),
    "location": _is(str, type(None)),
    "parallel": _is(bool),
    "unit": lambda value: value is None or value in TIME_UNITS,
    "data": _list_of(_is(str)),
    "measures": lambda value: value in MEASURES if isinstance(value, str) else False,
    "of_unit": _is(str),
    "timeout_s": lambda value: value is None or _is_number(value),
    "notes": _list_of(_is(str)),
}
_FIELDS: Mapping[str, Mapping[str, Check]] = {
    "file": {
        "benchmarks": _list_of(_has_fields(_BENCHMARK)),
        "faults": _table_of(_is(str)),
        "executable": _is(str, type(None)),
        "python": _is(str),
        "clock_steps_ns": _list_of(_is_whole),
        "folders": _list_of(_is(str)),
        **_ORIGINS,
    },
    "open": {
        "rss_is_own": _is(bool),
        "is_inside": _is(bool),
        "times_each": _is(bool),
        "number": _at_least(1),
    },
    "calibrate": {
        "loops": _at_least(1),
        "sample_ns": _at_least(1),
        "first_ns": _is_whole,
        "beside_ns": _at_least(0),
        "waiting_ratio": _is_number,
        "is_several": _is(bool),
        "has_number": _is(bool),
    },
    "time": {"sample_ns": _at_least(1)},
    "loops": {},
    "begin": {},
    "count": {},
    "peak": {"peak_rss": _at_least(0)},
    "end": {},
    "value": {"value": _is_number},
    "allocations": {"alloc_peak": _if_any(_at_least(0)), "alloc_blocks": _if_any(_at_least(0))},
    "close": {"changed": _list_of(_is(str)), "beside": _list_of(_is_companion), **_ORIGINS},
}


_MODULES_NAMED = 5
_NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '([^']+)'")


@dataclass(frozen=True, slots=True)
class WorkerSetting:
    """The settings that a worker is started with.

    Attributes:
        interpreter: the command that starts Python.
        under: a program, and its arguments, that executes the interpreter; empty for none.
        file: the benchmark file.
        helpers: folder whose modules belong to the benchmarks; None if there is none.
        own: folders whose code belongs to this arm only.
        own_interpreter: whether the interpreter belongs to this arm only, too.
        provided: modules that may come from `own` only; None to not check this.
        path: entries for sys.path, before the interpreter's own.
        cpus: CPUs to run on; None leaves the choice to the OS.
        forbidden: trees that no module may come from: the user's checkout, the other arm.
        variables: the whole environment of the process, except the hash seed.
        layout: decides where its objects lie in memory.
        path_after: entries for sys.path, after the interpreter's own.
        host: which host in the worker runs the file: "python", or the tool whose suite it is.
        arguments: further arguments of that tool.
    """

    interpreter: Sequence[str]
    file: Path
    path: Sequence[str]
    cpus: Sequence[int] | None
    forbidden: Sequence[Path]
    variables: Mapping[str, str]
    layout: Layout
    path_after: Sequence[str] = ()
    helpers: Path | None = None
    own: Sequence[Path] = ()
    own_interpreter: bool = False
    provided: ProvidedModules | None = None
    host: str = "python"
    arguments: Sequence[str] = ()
    under: Sequence[str] = ()


class Worker(WorkerProcess):
    """A worker process, which runs from construction until `close` or `kill`.

    Attributes:
        timer: its clock, once it is ready.
        packages: files of the installed modules that it has imported, as far as known.
    """

    timer: Timer

    def __init__(
        self, arm: Arm, setting: WorkerSetting, guardian: Guardian, *, describe: bool = False
    ) -> None:
        environ = {**setting.variables, **setting.layout.variables}
        super().__init__(arm, [*setting.under, *setting.interpreter], environ, guardian)
        self.packages: dict[str, Path] = {}
        self.runs_own_code = True
        self._interpreter = setting.interpreter[0]
        self._provided = setting.provided
        self._send_step(
            "file",
            file=str(setting.file),
            host=setting.host,
            arguments=list(setting.arguments),
            root=str(arm.root),
            helpers=str(setting.helpers) if setting.helpers else None,
            path=list(setting.path),
            path_after=list(setting.path_after),
            cpus=list(setting.cpus) if setting.cpus else None,
            own=[str(p) for p in setting.own],
            own_interpreter=setting.own_interpreter,
            provided=sorted(setting.provided.modules) if setting.provided else [],
            forbidden=[str(p) for p in setting.forbidden],
            occupy=[setting.layout.blocks, setting.layout.chunks, setting.layout.gap_bytes],
            describe=describe,
        )

    def ready(self, timeout_s: float) -> dict[str, Any]:
        """Wait until the benchmark file is imported; return the worker's first reply.

        Raises:
            WorkerFailedError: when the import fails, a module came from a forbidden tree, or the
                clock runs backwards.
        """
        self.allow(timeout_s)
        line = self.line()
        pid = read_pid(line)
        if pid is None:
            raise self.intruded(line)
        self.pid = pid
        hello = self._reply("file")
        try:
            self.timer = timer(np.array(hello["clock_steps_ns"], dtype=np.float64))
        except ValueError as error:
            raise WorkerFailedError(self, str(error)) from None
        return hello

    def ask(self, step: str, **arguments: object) -> dict[str, Any]:
        """Let the worker carry out one step; return its reply."""
        self._send_step(step, **arguments)
        return self._reply(step)

    def sample(self) -> tuple[int, int]:
        """Let the worker take one sample, and wait for it; see `begin_sample`, `end_sample`."""
        self.begin_sample()
        return self.end_sample()

    def begin_sample(self) -> None:
        """Let the worker take one sample. It has the whole time limit that was set last."""
        self.allow(self._allowed_s)
        self.send(b"s\n")

    def end_sample(self) -> tuple[int, int]:
        """Wait for the sample that was begun; return (wall_ns, cpu_ns) of all its loops."""
        line = self.line()
        sample = read_sample(line)
        if sample is None:
            raise self._refused(self._read_reply("sample", line))
        wall_ns, cpu_ns = sample
        if wall_ns < 0 or cpu_ns < 0:
            raise WorkerFailedError(self, f"a clock ran backwards: {wall_ns} ns, CPU {cpu_ns} ns")
        return wall_ns, cpu_ns

    def _send_step(self, step: str, **arguments: object) -> None:
        self.send(json.dumps({"do": step, **arguments}).encode() + b"\n")

    def _reply(self, step: str) -> dict[str, Any]:
        reply = self._read_reply(step, self.line())
        if "error" in reply:
            raise self._refused(reply)
        if reply.get("foreign"):
            raise self._foreign(*reply["foreign"][0])
        self._require_own(reply)
        if "has_own" in reply:
            self.runs_own_code = reply["has_own"] or reply.get("had_children", False)
        self.packages.update((module, Path(file)) for module, file in reply.get("packages", ()))
        return reply

    def _read_reply(self, step: str, line: bytes) -> dict[str, Any]:
        reply = read_reply(step, line)
        if reply is None:
            raise self.intruded(line)
        return reply

    def _require_own(self, reply: Mapping[str, Any]) -> None:
        """Refuse imports that both arms would share, if this arm's own code is to be measured."""
        if self._provided is None:
            return
        for module, file in reply.get("elsewhere", ()):
            if self._provided.is_installed_copy(module, Path(file)):
                folder = self._from_configuration(self._provided.modules[module])
                raise ForeignModuleError(
                    self,
                    f"the {self.arm.name} imported {module} from {file}, not from its own tree: "
                    "base and head would run the same code",
                    f"{_remedy(folder)}, or build an environment for each side in [build].",
                )
        if reply.get("had_children") is False and reply["shared"]:
            names = ", ".join(reply["shared"][:_MODULES_NAMED])
            raise ForeignModuleError(
                self,
                f"it imported nothing from the tree or environment of the {self.arm.name}: "
                f"base and head would run the same code ({names})",
                f"{_remedy('')}. If a dependency is what it measures, set `allow_foreign = true`.",
            )

    def _from_configuration(self, folder: str) -> str:
        """A folder of the tree as the configuration would name it; "" if it is unknown."""
        return os.path.relpath(folder, self.arm.inside) if folder else ""

    def _refused(self, reply: Mapping[str, Any]) -> WorkerFailedError:
        """Make an exception from the error that the worker reports."""
        if reply.get("skipped"):
            return WorkerSkippedError(self, reply["error"])
        parts = reply["trace"], self.tail()
        line = reply["error"] + self._about_missing_module(reply["error"])
        return WorkerFailedError(self, line, "\n".join(part for part in parts if part))

    def _about_missing_module(self, error: str) -> str:
        """Say where a module that cannot be imported belongs; "" for any other error."""
        missing = _NO_MODULE.fullmatch(error)
        if missing is None:
            return ""
        module = missing[1].partition(".")[0]
        if self._provided and self._provided.modules.get(module):
            return f". {_remedy(self._provided.modules[module])}"
        interpreter = self.arm.generalize(self._interpreter)
        if interpreter.startswith("{env}"):
            return f". Let [build] install it for {interpreter}"
        return f". Install it for {interpreter}, or let [build] install it into {{env}}"

    def _foreign(self, module: str, file: str) -> ForeignModuleError:
        return ForeignModuleError(
            self,
            f"the {self.arm.name} imported {module} from {file}, not from its own tree: base "
            "and head would run the same code. An editable install is in the way: set "
            "`pythonpath` in [[benchmark]], or build an environment for each side in "
            "[build] and name it in `interpreter`",
        )


def _remedy(folder: str) -> str:
    path = f"`pythonpath = [{json.dumps(folder)}]`" if folder else "`pythonpath`"
    which = "" if folder else ", the folder of the tree that holds your code,"
    return f"Set {path}{which} in [[benchmark]]"
