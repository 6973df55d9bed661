"""benchgate: tells whether a change made your software slower, and is believed."""

__version__ = "0.1.0.dev0"
