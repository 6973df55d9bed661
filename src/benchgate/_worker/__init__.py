"""The program that calls the user's functions; see `__main__`."""

from pathlib import Path
from typing import Final

PROGRAM: Final = Path(__file__).with_name("__main__.py")
