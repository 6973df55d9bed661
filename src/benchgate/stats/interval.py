"""The interval that the functions of this package give."""

from benchgate.interval import Interval

__all__ = ["Interval"]
