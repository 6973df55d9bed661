"""benchgate tells you whether a change made your software slower."""

__version__ = "0.1.0.dev0"
