"""The load generator: scenario files, drivers, workers, and what they record.

benchgate starts it as a program, `python -m benchgate.load`, once for each launch.
"""
