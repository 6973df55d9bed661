"""The machine: its CPUs, memory and limits, what counts on it, and where memory lies."""

from benchgate.measure.machine.address_space import require_address_space
from benchgate.measure.machine.cpu_use import CpuTicks, CpuUse
from benchgate.measure.machine.cpus import (
    available_cpus,
    bound_to,
    can_bind_to,
    kept_off,
    moved_to,
    run_time_ns,
    why_unpinned,
)
from benchgate.measure.machine.description import read_environment
from benchgate.measure.machine.limits import free_memory_bytes, peak_memory_bytes
from benchgate.measure.machine.memory_layout import (
    Layout,
    draw_layouts,
    fixed_addresses,
    why_not_fixed,
)
from benchgate.measure.machine.perf import (
    USER_INSTRUCTIONS,
    Counter,
    CounterError,
    Event,
    why_not_counted,
)
from benchgate.measure.machine.place import Place, choose_place
from benchgate.measure.machine.valgrind import (
    LEAST_SLOWDOWN,
    LIMIT_S,
    SLOWDOWN,
    Valgrind,
    count_between_marks,
    count_of_program,
    find_valgrind,
    layout_of_round,
    version_of,
)

__all__ = [
    "LEAST_SLOWDOWN",
    "LIMIT_S",
    "SLOWDOWN",
    "USER_INSTRUCTIONS",
    "Counter",
    "CounterError",
    "CpuTicks",
    "CpuUse",
    "Event",
    "Layout",
    "Place",
    "Valgrind",
    "available_cpus",
    "bound_to",
    "can_bind_to",
    "choose_place",
    "count_between_marks",
    "count_of_program",
    "draw_layouts",
    "find_valgrind",
    "fixed_addresses",
    "free_memory_bytes",
    "kept_off",
    "layout_of_round",
    "moved_to",
    "peak_memory_bytes",
    "read_environment",
    "require_address_space",
    "run_time_ns",
    "version_of",
    "why_not_counted",
    "why_not_fixed",
    "why_unpinned",
]
