"""`python -m benchgate`."""

from benchgate.cli import main

main()
