"""What a file says about its origin: the machine, the runtime, the build and the commit.

None of it is a result: what is damaged here is left out, and the benchmarks are read all the same.
What differs between two runs of one machine, such as its load, its clock rate or the name of a
container, is not read.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from benchgate.model.environment import Environment
from benchgate.units import format_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.formats.contents import ForeignFile, Node

RUNTIME: Final = "runtime"
BUILD: Final = "build type"
"""The names, among the toolchains, of what runs the code, and of how it was built."""

MOST_TOLD: Final = 200
"""Most characters of what a file says about its origin."""

_MOST_CORES = 1 << 20
# So Docker names a container, on the same machine each time differently.
_CONTAINER = re.compile(r"[0-9a-f]{12}")
_CARGO = re.compile(r"^ *Finished \S+ (?:profile )?\[(un)?optimized\b", re.MULTILINE)


def told(node: Node | None, *keys: str) -> str:
    """The text or the whole number below these keys; "" if there is none."""
    value = node.value if node else None
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    is_told = isinstance(value, str | int) and not isinstance(value, bool)
    return str(value).strip()[:MOST_TOLD] if is_told else ""


def environment(
    *,
    cpu: str = "",
    machine: str = "",
    cores: str = "",
    os: str = "",
    kernel: str = "",
    tools: Mapping[str, str] | None = None,
) -> Environment:
    """The machine that a file tells; "" for what it does not tell.

    Args:
        tools: versions and settings of the runtime and the build, by name.
    """
    count = int(cores) if cores.isascii() and cores.isdecimal() and len(cores) < 9 else 0
    return Environment(
        os=os.partition(" (")[0],
        kernel=kernel,
        machine=machine,
        cpu_model=cpu,
        cpu_count=count if count <= _MOST_CORES else 0,
        toolchains={name: version for name, version in (tools or {}).items() if version},
    )


def cpu_of(host: str, caches: str = "") -> str:
    """Name a CPU whose model is not told by what is; "" if nothing is."""
    owner = "" if _CONTAINER.fullmatch(host) else host
    if not owner and not caches:
        return ""
    return (f"the CPU of {owner}" if owner else "a CPU") + (f" with {caches}" if caches else "")


def caches_in(context: Node) -> str:
    """The sizes of the caches that Google Benchmark lists, from the nearest to the largest."""
    listed = context.value.get("caches") if isinstance(context.value, dict) else None
    each = listed if isinstance(listed, list) else []
    sizes = [one.get("size") for one in each if isinstance(one, dict)]
    known = sorted(size for size in sizes if isinstance(size, int) and 0 < size < 1 << 50)
    return f"caches of {', '.join(format_value(size, 'B') for size in known[:8])}" if known else ""


def built_by_cargo(source: ForeignFile) -> Environment:
    """The profile of the build, if cargo's own lines were kept."""
    found = _CARGO.search(source.text("backslashreplace"))
    return environment(tools={BUILD: f"{found[1] or ''}optimized" if found else ""})
