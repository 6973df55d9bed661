"""The clocks, from a copy of their own of Python's built-in module.

Before this program runs, Python runs `.pth` files and `usercustomize`, which may belong to the
project. What these do to the module `time` has no effect here.
"""

from __future__ import annotations

from importlib.machinery import BuiltinImporter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def own_module() -> Any:
    spec: Any = BuiltinImporter.find_spec("time")
    module: Any = BuiltinImporter.create_module(spec)
    BuiltinImporter.exec_module(module)
    return module


module = own_module()
perf_counter_ns = module.perf_counter_ns
process_time_ns = module.process_time_ns
thread_time_ns = module.thread_time_ns
are_genuine = all(
    type(clock) is type(len) and getattr(clock, "__self__", None) is module
    for clock in (perf_counter_ns, process_time_ns, thread_time_ns)
)
