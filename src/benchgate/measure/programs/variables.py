"""The variables of a command in one arm."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from benchgate.measure.processes import USERS_ENVIRONMENT
from benchgate.measure.sources import holds_python, import_path, is_installed, moved

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchgate.measure.arm import Arm
    from benchgate.measure.contract import StartingEnvironment


def environ_of(
    arm: Arm,
    outside: StartingEnvironment,
    pythonpath: Sequence[str] | None,
    command: Sequence[str] = (),
) -> dict[str, str]:
    """Return the variables of a command in one arm, without the configured ones.

    Args:
        pythonpath: as configured; None for the arm's own folders, if they hold Python code.
        command: what is run.
    """
    environ = dict(outside.environ)

    def entries(name: str) -> tuple[str, ...]:
        return moved(environ.get(name, ""), arm, outside.checkout, outside.cwd)

    programs, folders = entries("PATH"), entries("PYTHONPATH")
    if pythonpath is not None or (holds_python(arm.folder) or holds_python(arm.root)):
        folders = import_path(arm, pythonpath, folders).before
    if (arm.env / "bin").is_dir():
        programs = (str(arm.env / "bin"), *(programs or os.defpath.split(os.pathsep)))
    if (arm.env / "pyvenv.cfg").is_file():
        for name in USERS_ENVIRONMENT:
            environ.pop(name, None)
        environ["VIRTUAL_ENV"] = str(arm.env)
    if programs:
        environ["PATH"] = os.pathsep.join(programs)
    if pythonpath is None and "-m" in command and is_installed(arm):
        # From Python 3.11 on, this makes `python -m` leave out its working folder.
        environ.setdefault("PYTHONSAFEPATH", "1")
    if folders or "PYTHONPATH" in environ:
        environ["PYTHONPATH"] = os.pathsep.join(folders)
    return environ


def with_equal_names(environs: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """Give all environments the same names; here an empty variable means the same as none."""
    names = [name for environ in environs for name in environ]
    return [dict.fromkeys(names, "") | dict(environ) for environ in environs]
