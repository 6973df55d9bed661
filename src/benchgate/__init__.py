"""benchgate tells you whether a change made your software slower."""

__version__ = "0.1.0.dev0"

RELEASED = False
"""Whether a version is on PyPI; `scripts/release.py` sets it, and changes what pages say."""
