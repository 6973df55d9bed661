"""Describes which Python runs the benchmarks of each arm."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.measure.arm import Arm, ArmName


def describe_runtime(arm: Arm, hello: Mapping[str, Any]) -> str:
    """Describe one arm, in the same words for both arms if they differ only by their folders.

    Args:
        hello: the first reply of the arm's worker.
    """
    ((name, version),) = hello["versions"].items()
    implementation = "CPython" if name == "cpython" else name
    places: dict[str, list[str]] = {}
    for module, file in hello["own"]:
        places.setdefault(_place(arm, Path(file)), []).append(module)
    code = "".join(f"; {', '.join(modules)} {place}" for place, modules in places.items())
    python = arm.generalize(hello["executable"] or "an unknown place")
    return f"{implementation} {version} ({python}){code}"


def describe_runtimes(runtimes: Mapping[ArmName, str]) -> tuple[str, ...]:
    """Say it once if both arms are alike, and otherwise for each; nothing for a single arm."""
    if len(runtimes) <= 1:
        return ()
    if len(set(runtimes.values())) == 1:
        return (f"functions run in {next(iter(runtimes.values()))}",)
    return tuple(f"functions of the {arm} run in {text}" for arm, text in sorted(runtimes.items()))


def _place(arm: Arm, file: Path) -> str:
    """Where a module was imported from."""
    env = arm.env.resolve()
    if file.is_relative_to(env):
        return "as installed in {env}"
    folder = file.parent.parent if file.name.startswith("__init__.") else file.parent
    root = arm.root.resolve()
    if not folder.is_relative_to(root):
        return f"from {folder}"
    inner = folder.relative_to(root).as_posix()
    return "from the root of its tree" if inner == "." else f"from {inner} of its tree"
