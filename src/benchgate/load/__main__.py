"""Runs the load generator: python -I -m benchgate.load ORDER REPLY."""

import os
import sys

if __name__ == "__main__":
    try:
        from benchgate.load.generator import main

        code = main(sys.argv[1:])
    except KeyboardInterrupt:  # before it listens to signals
        code = 130
    sys.stdout.flush()
    sys.stderr.flush()
    # A thread that hangs in a driver must not keep the program alive.
    os._exit(code)
