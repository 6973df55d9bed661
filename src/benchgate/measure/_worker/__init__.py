"""The program of a worker's process; see `__main__`."""
