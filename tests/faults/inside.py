"""Runs a module of benchgate, and traces a thread of it, or a process that it starts.

    python inside.py PYTHON THREAD STRACE... -- -m MODULE ARGUMENTS

It starts its own processes with PYTHON. The first thread whose name begins with THREAD is traced,
if that is not empty.
"""

from __future__ import annotations

import ctypes
import runpy
import subprocess
import sys
import threading

_PR_SET_PTRACER = 0x59616D61
_ANY = -1


def trace_thread(name: str, strace: list[str]) -> None:
    """Have strace attach to a thread before it does its work."""
    work = threading.Thread.run
    left = [strace]

    def run(self: threading.Thread) -> None:
        if self.name.startswith(name) and left:
            ctypes.CDLL(None).prctl(_PR_SET_PTRACER, _ANY, 0, 0, 0)  # some systems ask for it
            command = [*left.pop(), "-p", str(threading.get_native_id())]
            tracer = subprocess.Popen(command, stderr=subprocess.PIPE)
            if tracer.stderr:
                tracer.stderr.readline()  # it says that it is there
        work(self)

    threading.Thread.run = run  # type: ignore[method-assign]


if __name__ == "__main__":
    end = sys.argv.index("--")
    sys.executable, thread, *strace = sys.argv[1:end]
    if thread:
        trace_thread(thread, strace)
    at = sys.argv.index("-m", end) + 1
    module, sys.argv[1:] = sys.argv[at], sys.argv[at + 1 :]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
