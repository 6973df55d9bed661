"""A worker without a library, as docs/worker-protocol.md describes it."""

import json
import os
import sys
import time


def quick():
    sum(range(100))


def fails():
    raise ValueError("it is broken")


def prints():
    print("12 34", flush=True)
    os.write(2, b"{}\n")


def forks():
    if os.fork() == 0:
        os._exit(0)


def exits():
    os._exit(3)


def hangs():
    time.sleep(600)


ALL = {one.__name__: one for one in (quick, fails, prints, forks, exits, hangs)}
FAULT = os.environ.get("FAULT", "")

channel = open(int(os.environ.pop("BENCHGATE_FD")), "r+b", buffering=0)


def reply(message):
    channel.write(json.dumps(message).encode() + b"\n")


def clock_steps_ns():
    return [-time.perf_counter_ns() + time.perf_counter_ns() for _ in range(1000)]


def sample(function, loops):
    cpu_ns, wall_ns = time.process_time_ns(), time.perf_counter_ns()
    for _ in range(1 if FAULT == "ignores loops" else loops):
        function()
    wall_ns, cpu_ns = time.perf_counter_ns() - wall_ns, time.process_time_ns() - cpu_ns
    if FAULT == "lies":
        wall_ns += 3_600 * 10**9
    channel.write(b"%d %d\n" % (wall_ns, cpu_ns))


reply({"protocol": 2 if FAULT == "is newer" else 1, "pid": os.getpid()})
opened, loops = None, 1
for line in channel:
    step, _, argument = line.decode().rstrip("\n").partition(" ")
    try:
        if step == "hello":
            about = {"language": "Test", "versions": {"test": "1"}, "clock": "perf_counter"}
            reply({**about, "clock_steps_ns": clock_steps_ns()})
        elif step == "list":
            names = [] if FAULT == "has none" else [*ALL, *(["quick"] if FAULT == "twice" else [])]
            reply({"benchmarks": [{"id": f"all/{name}"} for name in names], "faults": {}})
        elif step == "open":
            opened = ALL[argument.replace("all/", "", 1)]
            reply({})
        elif step == "loops" and (opened or FAULT == "accepts all"):
            loops = int(argument)
            reply({})
        elif step == "s" and opened:
            sample(opened, loops)
        elif step == "s" and FAULT == "accepts all":
            channel.write(b"0 0\n")
        elif step == "close" and (opened or FAULT == "accepts all"):
            opened = None
            reply({})
        else:
            reply({"error": f"no step {step} now"})
    except Exception as error:
        reply({"error": f"{type(error).__name__}: {error}", "trace": ""})
if FAULT != "leaves":
    channel.write(b"bye\n")
sys.exit()
