"""Runs the load generator: python -I -m benchgate.load ORDER REPLY."""

import gc
import os
import sys

if __name__ == "__main__":
    # Every launch waits for this. What is imported stays: there is no garbage to look for.
    gc.disable()
    try:
        from benchgate.load.generator import main

        gc.freeze()
        gc.enable()
        code = main(sys.argv[1:])
    except KeyboardInterrupt:  # before it listens to signals
        code = 130
    sys.stdout.flush()
    sys.stderr.flush()
    # A thread that hangs in a driver must not keep the program alive.
    os._exit(code)
