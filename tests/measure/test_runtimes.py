from __future__ import annotations

from pathlib import Path

from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.workers.runtimes import describe_runtime, describe_runtimes


def described(name: ArmName, executable: str, own: list[tuple[str, str]]) -> str:
    """Describe an arm; paths are relative to a folder with its tree and its environment."""
    top = Path("/tmp") / name  # noqa: S108 - only a name
    hello = {
        "versions": {"cpython": "3.12.1"},
        "executable": executable.format(top=top),
        "own": [(module, f"{top}/{file}") for module, file in own],
    }
    return describe_runtime(Arm(name, top / "tree", top / "tree-env"), hello)


def test_the_python_and_the_place_of_the_code() -> None:
    own = [("a", "tree/src/a/__init__.py"), ("b", "tree/b.py"), ("c", "tree/src/c.py")]
    assert described(ArmName.HEAD, "/usr/bin/python3", own) == (
        "CPython 3.12.1 (/usr/bin/python3); a, c from src of its tree; b from the root of its tree"
    )
    own = [("a", "tree-env/lib/python3.12/site-packages/a/__init__.py")]
    assert described(ArmName.HEAD, "{top}/tree-env/bin/python", own) == (
        "CPython 3.12.1 ({env}/bin/python); a as installed in {env}"
    )


def test_it_is_said_once_if_both_sides_are_alike() -> None:
    own = [("a", "tree/src/a/__init__.py")]
    base, head = (described(name, "{top}/tree-env/bin/python", own) for name in ArmName)
    assert describe_runtimes({ArmName.BASE: base, ArmName.HEAD: head}) == (
        "functions run in CPython 3.12.1 ({env}/bin/python); a from src of its tree",
    )
    other = described(ArmName.HEAD, "/usr/bin/python3", own)
    assert describe_runtimes({ArmName.BASE: base, ArmName.HEAD: other}) == (
        "functions of the base run in CPython 3.12.1 ({env}/bin/python); a from src of its tree",
        "functions of the head run in CPython 3.12.1 (/usr/bin/python3); a from src of its tree",
    )
    assert describe_runtimes({ArmName.HEAD: head}) == ()
    assert describe_runtimes({}) == ()
