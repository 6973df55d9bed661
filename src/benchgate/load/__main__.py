"""Runs the load generator: python -I -m benchgate.load ORDER REPLY."""

import os
import sys

from benchgate.load.generator import main

if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    # A thread that hangs in a driver must not keep the program alive.
    os._exit(code)
