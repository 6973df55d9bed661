"""Records builds whose truth is known, and judges the gate by them.

python -m benchmarks.gate record --budget 30m    measure what is missing
python -m benchmarks.gate peers --budget 30m     give other tools the same work
python -m benchmarks.gate lanes                  measure checks in one lane and in two
python -m benchmarks.gate judge                  write docs/believability*.md and README's figures
python -m benchmarks.gate count                  update in them what is counted in recorded builds
python -m benchmarks.gate launches               judge builds of launches recorded apart
python -m benchmarks.gate simulate               judge builds of simulated machines
python -m benchmarks.gate cut                    end the budget of builds after every round
python -m benchmarks.gate spared                 check edits that nothing runs
python -m benchmarks.gate stored                 judge builds by simulated stored baselines
"""

from __future__ import annotations

import argparse
from functools import partial

from benchmarks.gate.answers_page import ask_all, sections
from benchmarks.gate.cuts import cut_all
from benchmarks.gate.lanes_page import record_lanes
from benchmarks.gate.page import Sizes, count_again, write_page
from benchmarks.gate.peers.record import record_peers
from benchmarks.gate.record import record
from benchmarks.gate.simulate import simulate_all
from benchmarks.gate.spared import check_spared
from benchmarks.gate.stored_page import stored_blocks

from benchgate.units import parse_duration_s

# Worker processes get this object as well. They could not get a function of this module.
_SAY = partial(print, flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.gate",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="measure what is missing")
    peers = commands.add_parser("peers", help="give other tools the same work")
    for command in (recording, peers):
        command.add_argument("--budget", default="30m", help="such as 30m or 2h")
    recording.add_argument("--only", nargs="+", default=["*"], help="scenarios whose name matches")
    since = "measure again what was recorded by code without this commit"
    recording.add_argument("--since", default="", help=since)
    lanes = commands.add_parser("lanes", help="measure checks in one lane and in two")
    lanes.add_argument("--checks", type=int, default=10, help="how many of each")
    judging = commands.add_parser("judge", help="write the pages from the recordings")
    commands.add_parser("count", help="update in them what is counted in recorded builds")
    launches = commands.add_parser("launches", help="judge builds of launches recorded apart")
    launches.add_argument("--builds", type=int, default=1000, help="clean builds of each way")
    simulating = commands.add_parser("simulate", help="judge builds of simulated machines")
    simulating.add_argument("--builds", type=int, default=1000, help="clean builds per machine")
    cutting = commands.add_parser("cut", help="end the budget of builds after every round")
    cutting.add_argument("--builds", type=int, default=1000, help="clean builds of each kind")
    stored = commands.add_parser("stored", help="judge builds by simulated stored baselines")
    stored.add_argument("--builds", type=int, default=400, help="clean builds of each kind")
    spared = commands.add_parser("spared", help="check edits that nothing runs")
    spared.add_argument("--builds", type=int, default=100, help="how many")
    for command in (launches, simulating, cutting, stored, spared):
        command.add_argument("--seed", type=int, default=1)
    for command in (simulating, cutting):
        command.add_argument("--config", default="", help="TOML laid over the defaults")
    for command in (judging, launches, simulating, cutting, stored):
        command.add_argument("--processes", type=int, default=1)
    return parser.parse_args()


def main() -> None:
    """Run what was asked for."""
    options = _options()
    if options.command == "record":
        record(parse_duration_s(options.budget), _SAY, only=options.only, since=options.since)
    elif options.command == "peers":
        record_peers(parse_duration_s(options.budget), _SAY)
    elif options.command == "lanes":
        record_lanes(options.checks, _SAY)
    elif options.command == "spared":
        check_spared(options.builds, seed=options.seed, say=_SAY)
    elif options.command == "count":
        count_again()
    elif options.command == "judge":
        write_page(Sizes(), processes=options.processes, say=_SAY)
    elif options.command == "launches":
        how = {"seed": options.seed, "processes": options.processes}
        found = ask_all(options.builds, **how, say=_SAY)
        _SAY("\n\n".join(sections(found)))
    elif options.command == "stored":
        how = {"seed": options.seed, "processes": options.processes}
        stored_blocks(options.builds, **how, say=_SAY)
    else:
        ask_machines = cut_all if options.command == "cut" else simulate_all
        ask_machines(
            options.builds,
            config=options.config,
            seed=options.seed,
            processes=options.processes,
            say=_SAY,
        )


if __name__ == "__main__":
    main()
