"""The ten workloads, for pyperf."""

import pyperf
import workloads

runner = pyperf.Runner()
for name in workloads.NAMES:
    runner.bench_func(name, getattr(workloads, name))
