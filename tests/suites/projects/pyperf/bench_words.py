import pyperf
from words import count

TEXT = "to be or not to be " * 100

runner = pyperf.Runner(min_time=0.01)
runner.bench_func("count", count, TEXT)
